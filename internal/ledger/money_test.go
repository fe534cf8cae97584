package ledger_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"redrain/internal/game"
	"redrain/internal/ledger"
)

// claim is claim number n of cents by a player, for a drop with the same number.
func claim(n int, player string, cents game.Cents) game.Claim {
	return game.Claim{Player: player, Drop: game.DropID(n), Cents: cents, Number: n}
}

// batch is an outbox entry of these claims.
func batch(id string, claims ...game.Claim) game.Entry {
	return game.Entry{ID: id, At: 1_800_000_000_000, Claims: claims}
}

// closing is the outbox entry that closes a round.
func closing(claims int, claimed, refund game.Cents) game.Entry {
	return game.Entry{ID: "99-0", At: 1_800_000_000_000, Refund: &game.Refund{
		Reason: game.ByTime, At: 1_800_000_000_000, Claimed: game.Total{Packets: claims, Cents: claimed}, Cents: refund,
	}}
}

func book(t testing.TB, l *ledger.Ledger, round game.Round, entries ...game.Entry) game.Booked {
	t.Helper()
	return must[game.Booked](t)(l.Book(t.Context(), round.ID, entries))
}

// balances are those that are not 0, by account without the ids of rooms and rounds.
func balances(t testing.TB, l *ledger.Ledger, round game.Round) map[string]int64 {
	t.Helper()
	rows, err := ledger.Pools(l)["read"].QueryContext(t.Context(), "SELECT id, balance FROM accounts WHERE balance <> 0")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	found := map[string]int64{}
	for rows.Next() {
		var id string
		var cents int64
		if err := rows.Scan(&id, &cents); err != nil {
			t.Fatal(err)
		}
		found[strings.NewReplacer(":"+round.Room, "", ":"+round.ID, "").Replace(id)] = cents
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return found
}

func wantBalances(t testing.TB, l *ledger.Ledger, round game.Round, want map[string]int64) {
	t.Helper()
	if got := balances(t, l, round); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("balances are %v, want %v", got, want)
	}
	wantDoubleEntry(t, l)
}

// wantDoubleEntry checks that all accounts sum to zero, and that each is the sum of its entries.
func wantDoubleEntry(t testing.TB, l *ledger.Ledger) {
	t.Helper()
	if sum := must[game.Cents](t)(l.SumBalances(t.Context())); sum != 0 {
		t.Errorf("the accounts sum to %d cents", sum)
	}
	if found := must[[]game.Difference](t)(l.UnbalancedAccounts(t.Context())); len(found) != 0 {
		t.Errorf("accounts are not the sums of their entries: %v", found)
	}
	var movements, entries, sum int64
	err := ledger.Pools(l)["read"].QueryRowContext(t.Context(),
		"SELECT (SELECT COUNT(*) FROM movements) + (SELECT COUNT(*) FROM claims), COUNT(*), COALESCE(SUM(cents), 0) FROM entries").Scan(&movements, &entries, &sum)
	if err != nil || entries != 2*movements || sum != 0 {
		t.Errorf("%d movements are %d entries of %d cents (%v)", movements, entries, sum, err)
	}
}

func account(t testing.TB, l *ledger.Ledger, round game.Round) game.Account {
	t.Helper()
	return must[game.Account](t)(l.Account(t.Context(), round.ID))
}

func TestBudgetIsHeldInEscrowOnce(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l := open()
		round := begunRound(t, l, 10, 1000)
		for range 3 {
			must[game.Round](t)(l.Begin(t.Context(), round.ID, game.NewSecret()))
		}
		wantBalances(t, l, round, map[string]int64{"host": -1000, "escrow": 1000})
		if _, err := l.Account(t.Context(), newRound(t, l, newRoom(t, l)).ID); !errors.Is(err, game.ErrWrongPhase) {
			t.Errorf("a draft has an account: %v", err)
		}
		if _, err := l.Account(t.Context(), "no round"); !errors.Is(err, game.ErrNotFound) {
			t.Errorf("no round has an account: %v", err)
		}
	})
}

// Entries that were committed and not acknowledged come again. Each claim still is one row and credited once.
func TestRedeliveredClaimsAreCreditedOnce(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l, other := open(), open()
		round := begunRound(t, l, 10, 1000)
		first, second := batch("1-0", claim(1, "ann", 100), claim(2, "bob", 50)), batch("2-0", claim(3, "ann", 30))
		book(t, l, round, first)
		if got := book(t, other, round, first, second, first); got.Claims != 1 || got.Redelivered != 4 || got.Alarm != "" {
			t.Errorf("booked %+v", got)
		}
		book(t, l, round, second)
		wantBalances(t, l, round, map[string]int64{"host": -1000, "escrow": 820, "player:ann": 130, "player:bob": 50})
		if got := account(t, l, round); got.Booked != (game.Total{Packets: 3, Cents: 180}) || got.Highest != 3 || got.Frozen {
			t.Errorf("the account is %+v", got)
		}
		if claims := must[[]game.Claim](t)(l.Claims(t.Context(), round.ID, 1, 10)); len(claims) != 2 || claims[1] != claim(3, "ann", 30) {
			t.Errorf("claims are %v", claims)
		}
		if of := must[map[string][]game.Claim](t)(l.ClaimsOf(t.Context(), round.ID, "ann", "eve")); len(of) != 1 || len(of["ann"]) != 2 {
			t.Errorf("claims of ann and eve are %v", of)
		}
	})
}

// A redelivered claim that is equal is ignored. One with another amount raises the alarm and changes nothing in the ledger.
func TestARedeliveryCannotRewriteTheLedger(t *testing.T) {
	for name, forged := range map[string]game.Claim{
		"amount": claim(2, "bob", 51), "player": claim(2, "eve", 50),
		"number": {Player: "bob", Drop: 2, Cents: 50, Number: 7},
	} {
		t.Run(name, func(t *testing.T) {
			onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
				l := open()
				round := begunRound(t, l, 10, 1000)
				book(t, l, round, batch("1-0", claim(1, "ann", 100), claim(2, "bob", 50)))
				got := book(t, l, round, batch("2-0", forged, claim(3, "cat", 30)))
				if got.Alarm == "" || got.Quarantined != 1 || got.Claims != 1 {
					t.Errorf("booked %+v", got)
				}
				if got := account(t, l, round); !got.Frozen || got.Quarantined != 1 {
					t.Errorf("the account is %+v", got)
				}
				if again := book(t, l, round, batch("2-0", forged)); again.Redelivered != 1 || again.Alarm != "" {
					t.Errorf("the same again is %+v", again)
				}
				wantBalances(t, l, round, map[string]int64{
					"host": -1000, "escrow": 820, "player:ann": 100, "player:bob": 50, "player:cat": 30,
				})
			})
		})
	}
}

func TestOnlyTheClaimThatWouldOverdrawIsQuarantined(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l := open()
		round := begunRound(t, l, 10, 100)
		entry := batch("1-0", claim(1, "ann", 60), claim(2, "bob", 50), claim(3, "cat", 30), claim(4, "dan", 11), claim(5, "eve", 10))
		if got := book(t, l, round, entry); got.Claims != 3 || got.Quarantined != 2 {
			t.Errorf("booked %+v", got)
		}
		if got := book(t, l, round, entry); got.Claims != 0 || got.Redelivered != 5 {
			t.Errorf("booked again %+v", got)
		}
		wantBalances(t, l, round, map[string]int64{"host": -100, "player:ann": 60, "player:cat": 30, "player:eve": 10})
		quarantined := must[[]game.Quarantined](t)(l.Quarantined(t.Context(), round.ID))
		if len(quarantined) != 2 || quarantined[0].Claim != claim(2, "bob", 50) || quarantined[0].Reason != "overdraw" || quarantined[1].Number != 4 {
			t.Errorf("quarantined are %+v", quarantined)
		}
		if replayed := must[int](t)(l.ReplayQuarantine(t.Context(), round.ID)); replayed != 0 {
			t.Errorf("%d claims were booked without cover", replayed)
		}
	})
}

func TestClaimsBeyondThePacketsAreNotBooked(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l := open()
		round := begunRound(t, l, 2, 1000)
		got := book(t, l, round, batch("1-0", claim(1, "ann", 1), claim(2, "bob", 1), claim(3, "cat", 1)))
		if got.Claims != 2 || got.Quarantined != 1 {
			t.Errorf("booked %+v", got)
		}
	})
}

func TestRefundWaitsForExactlyItsClaims(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l, other := open(), open()
		round := begunRound(t, l, 10, 1000)
		refund := func(want game.RefundStep) {
			t.Helper()
			if got := must[game.RefundStep](t)(l.ApplyRefund(t.Context(), round.ID)); got != want {
				t.Errorf("the refund is %s, want %s", got, want)
			}
		}
		refund(game.RefundUnknown)
		book(t, l, round, batch("1-0", claim(1, "ann", 100)), closing(2, 150, 850))
		refund(game.RefundWaiting)
		book(t, l, round, batch("2-0", claim(2, "bob", 50)))
		must[game.Round](t)(l.NoteFrozen(t.Context(), round.ID, game.FrozenByHost))
		refund(game.RefundWaiting)
		wantBalances(t, l, round, map[string]int64{"host": -1000, "escrow": 850, "player:ann": 100, "player:bob": 50})
		must[game.Round](t)(l.NoteReleased(t.Context(), round.ID, nil))
		runConcurrently(8, func(i int) {
			if got, err := []*ledger.Ledger{l, other}[i%2].ApplyRefund(t.Context(), round.ID); err != nil || got != game.RefundApplied {
				t.Errorf("the refund is %s, %v", got, err)
			}
		})
		book(t, l, round, closing(2, 150, 850))
		wantBalances(t, l, round, map[string]int64{"host": -150, "player:ann": 100, "player:bob": 50})
	})
}

func TestRefundThatCanNeverAgreeIsAMismatch(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l := open()
		for name, entry := range map[string]game.Entry{
			"more claims": closing(0, 0, 1000), "another sum": closing(1, 99, 901), "not the budget": closing(1, 100, 901),
		} {
			round := begunRound(t, l, 10, 1000)
			book(t, l, round, batch("1-0", claim(1, "ann", 100)), entry)
			if got := must[game.RefundStep](t)(l.ApplyRefund(t.Context(), round.ID)); got != game.RefundMismatch {
				t.Errorf("%s: the refund is %s", name, got)
			}
		}
		wantDoubleEntry(t, l)
	})
}

func TestASecondRefundIsAnAlarm(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l := open()
		round := begunRound(t, l, 10, 1000)
		book(t, l, round, closing(0, 0, 1000))
		if got := book(t, l, round, closing(1, 1, 999)); got.Alarm == "" {
			t.Error("no alarm")
		}
		if got := account(t, l, round); got.Refund.Cents != 1000 || !got.Frozen {
			t.Errorf("the account is %+v", got)
		}
	})
}

func TestSettledNeedsTheRefundAndIsForGood(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l := open()
		round := begunRound(t, l, 10, 1000)
		settle := func(want game.Phase) game.Round {
			t.Helper()
			got := must[game.Round](t)(l.NoteSettled(t.Context(), round.ID))
			if got.Phase != want {
				t.Errorf("the round is %s, want %s", got.Phase, want)
			}
			return got
		}
		book(t, l, round, batch("1-0", claim(1, "ann", 100)), closing(1, 100, 900))
		must[game.Round](t)(l.NoteClosed(t.Context(), round.ID, game.ByTime, game.Total{}))
		settle(game.Closed)
		must[game.RefundStep](t)(l.ApplyRefund(t.Context(), round.ID))
		if got := settle(game.Settled); got.Claimed != (game.Total{Packets: 1, Cents: 100}) {
			t.Errorf("it gave away %+v", got.Claimed)
		}
		settle(game.Settled)
		if _, err := l.NoteFrozen(t.Context(), round.ID, game.FrozenByHost); !errors.Is(err, game.ErrWrongPhase) {
			t.Errorf("a settled round was frozen: %v", err)
		}
		if open := must[[]game.Round](t)(l.UnsettledRounds(t.Context())); len(open) != 1 {
			t.Errorf("to be looked after are %v", open)
		}
		if err := l.NoteKeysExpiring(t.Context(), round.ID); err != nil {
			t.Fatal(err)
		}
		if open := must[[]game.Round](t)(l.UnsettledRounds(t.Context())); len(open) != 0 {
			t.Errorf("to be looked after are %v", open)
		}
	})
}

func TestInterruptedRoundsKeepTheirClaimsAndGiveTheRestBack(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l := open()
		for name, before := range map[string][]game.Entry{
			"no refund came": {batch("1-0", claim(1, "ann", 100))},
			"a refund waits": {batch("1-0", claim(1, "ann", 100)), closing(3, 300, 700)},
		} {
			round := begunRound(t, l, 10, 1000)
			book(t, l, round, before...)
			if err := l.Interrupt(t.Context(), round.ID); !errors.Is(err, game.ErrWrongPhase) {
				t.Errorf("%s: an open round was interrupted: %v", name, err)
			}
			must[game.Round](t)(l.NoteClosed(t.Context(), round.ID, game.Interrupted, game.Total{}))
			for range 2 {
				if err := l.Interrupt(t.Context(), round.ID); err != nil {
					t.Fatal(err)
				}
				if got := must[game.RefundStep](t)(l.ApplyRefund(t.Context(), round.ID)); got != game.RefundApplied {
					t.Errorf("%s: the refund is %s", name, got)
				}
			}
			if got := must[game.Round](t)(l.NoteSettled(t.Context(), round.ID)); got.Phase != game.Settled || got.Claimed.Cents != 100 {
				t.Errorf("%s: the round is %+v", name, got)
			}
			if escrow := must[game.Cents](t)(l.Escrow(t.Context(), round)); escrow != 0 {
				t.Errorf("%s: %d cents are still held", name, escrow)
			}
		}
		wantDoubleEntry(t, l)
	})
}

func TestRehearsalsMovePlayMoneyOnly(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l := open()
		draft := must[game.Round](t)(l.CreateRound(t.Context(), newRoom(t, l), someSettings(), true))
		round := must[game.Round](t)(l.Begin(t.Context(), draft.ID, game.NewSecret()))
		book(t, l, round, batch("1-0", claim(1, "ann", 100)), closing(1, 100, 88_700))
		must[game.RefundStep](t)(l.ApplyRefund(t.Context(), round.ID))
		wantBalances(t, l, round, map[string]int64{"play_host": -100, "play_player:ann": 100})
	})
}
