package ledger_test

import (
	"fmt"
	"slices"
	"testing"

	"redrain/internal/game"
	"redrain/internal/ledger"
)

func TestMovedReturnsTheMovementsOfARoundsEscrow(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l := open(ledger.WithPayouts(1))
		round := begunRound(t, l, 10, 1000)
		wantMoved := func(want game.Moved) {
			t.Helper()
			if got := must[game.Moved](t)(l.Moved(t.Context(), round.ID)); got != want {
				t.Errorf("moved are %+v, want %+v", got, want)
			}
		}
		wantMoved(game.Moved{In: 1000})
		settleClaims(t, l, round, claim(1, "ann", 100), claim(2, "bob", 50))
		wantMoved(game.Moved{In: 1000, Back: 850})
		payAll(t, l)
		wantMoved(game.Moved{In: 1000, Back: 850})
	})
}

func payAll(t *testing.T, l *ledger.Ledger) {
	t.Helper()
	makeAll(t, l)
	for _, payout := range lease(t, l, 100, 1) {
		if err := l.NotePaid(t.Context(), payout); err != nil {
			t.Fatal(err)
		}
	}
}

// The accounts of one room are compared with what the room's rounds moved, and nothing of other rooms is.
func TestAccountsOfARoomAreTheSumsOfTheirEntries(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l := open(ledger.WithPayouts(1))
		round, other := begunRound(t, l, 10, 1000), begunRound(t, l, 10, 1000)
		settleClaims(t, l, round, claim(1, "ann", 100), claim(2, "bob", 50))
		payAll(t, l)
		rehearsal := must[game.Round](t)(l.CreateRound(t.Context(), round.Room, someSettings(), true))
		book(t, l, begin(t, l, rehearsal.ID), batch("1-0", claim(1, "ann", 70)))
		book(t, l, other, batch("1-0", claim(1, "cat", 30)))
		wantUnbalanced := func(room string, want ...game.Difference) {
			t.Helper()
			if got := must[[]game.Difference](t)(l.UnbalancedAccountsOf(t.Context(), room)); !slices.Equal(got, want) {
				t.Errorf("got %+v, want %+v", got, want)
			}
		}
		wantUnbalanced(round.Room)
		wantUnbalanced(other.Room)
		accounts := []string{"escrow:" + round.ID, "host:" + round.Room, "paid_out:" + round.Room, "play_escrow:" + rehearsal.ID, "play_player:ann", "player:ann"}
		var want []game.Difference
		for _, account := range accounts {
			was := must[int64](t)(balanceOf(t, l, account))
			want = append(want, game.Difference{What: "balance_cents of " + account, Expected: was, Found: was + 7})
			if _, err := ledger.Pools(l)["write"].ExecContext(t.Context(), "UPDATE accounts SET balance = balance + 7 WHERE id = '"+account+"'"); err != nil {
				t.Fatal(err)
			}
		}
		wantUnbalanced(round.Room, want...)
		wantUnbalanced(other.Room)
		if sum := must[game.Cents](t)(l.SumBalances(t.Context())); sum != game.Cents(7*len(accounts)) {
			t.Errorf("all accounts sum to %d", sum)
		}
	})
}

func balanceOf(t *testing.T, l *ledger.Ledger, account string) (balance int64, err error) {
	t.Helper()
	row := ledger.Pools(l)["read"].QueryRowContext(t.Context(), "SELECT balance FROM accounts WHERE id = '"+account+"'")
	if err = row.Scan(&balance); err != nil {
		err = fmt.Errorf("balance of %s: %w", account, err)
	}
	return balance, err
}
