package ledger_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"redrain/internal/game"
	"redrain/internal/ledger"
)

func TestBookedClaimsSayWhoAndWhen(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l := open()
		round := begunRound(t, l, 10, 1000)
		own := must[game.Player](t)(l.AddSubject(t.Context(), round.Room, "staff-7", "王小明"))
		book(t, l, round, batch("1-0", claim(1, own.ID, 100), claim(2, "stranger", 50)), batch("2-0", claim(3, own.ID, 30)))
		at := game.Moment(1_800_000_000_000)
		want := []game.BookedClaim{
			{Claim: claim(1, own.ID, 100), At: at, Nickname: "王小明", Subject: "staff-7"}, {Claim: claim(2, "stranger", 50), At: at},
		}
		if got := must[[]game.BookedClaim](t)(l.BookedClaims(t.Context(), round.ID, 0, 2)); !slices.Equal(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
		if got := must[[]game.BookedClaim](t)(l.BookedClaims(t.Context(), round.ID, 2, 2)); len(got) != 1 || got[0].Number != 3 {
			t.Errorf("got %+v", got)
		}
	})
}

func TestRoomBooksAndStatementAddUp(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l := open(ledger.WithPayouts(1), ledger.WithClock(newTickingClock()))
		first := begunRound(t, l, 10, 1000)
		settleClaims(t, l, first, claim(1, "ann", 100), claim(2, "bob", 50))
		makeAll(t, l)
		if err := l.NotePaid(t.Context(), lease(t, l, 1, time.Minute)[0]); err != nil {
			t.Fatal(err)
		}
		settings := someSettings()
		settings.Title = "第二场"
		second := must[game.Round](t)(l.CreateRound(t.Context(), first.Room, settings, false))
		second = must[game.Round](t)(l.Begin(t.Context(), second.ID, game.NewSecret()))
		book(t, l, second, batch("1-0", claim(1, "ann", 700)))
		newRound(t, l, first.Room) // a draft has no books
		settleClaims(t, l, begunRound(t, l, 10, 5000), claim(1, "ann", 1))

		rows := must[[]game.RoundBooks](t)(l.RoomBooks(t.Context(), first.Room, "", 10))
		if len(rows) != 2 || rows[0].Round.ID != second.ID || rows[1].Round.ID != first.ID {
			t.Fatalf("got %+v", rows)
		}
		if b := rows[0]; b.Booked != (game.Total{Packets: 1, Cents: 700}) || b.Held != 88_100 || b.Refunded != 0 || b.PaidOut != 0 {
			t.Errorf("the open round is %+v", b)
		}
		if b := rows[1]; b.Booked != (game.Total{Packets: 2, Cents: 150}) || b.Held != 0 || b.Refunded != 850 || b.PaidOut != 100 {
			t.Errorf("the settled round is %+v", b)
		}
		sum := must[game.RoomSum](t)(l.RoomSum(t.Context(), first.Room))
		want := game.RoomSum{Budget: 89_800, Booked: game.Total{Packets: 3, Cents: 850}, Refunded: 850, Held: 88_100, PaidOut: 100}
		if sum != want {
			t.Errorf("the sum is %+v, want %+v", sum, want)
		}
		lines := statementOf(t, l, first.Room)
		var got []game.Cents
		for _, line := range lines {
			got = append(got, line.Cents, line.Balance)
		}
		if want := []game.Cents{-1000, -1000, 850, -150, -88_800, -88_950}; !slices.Equal(got, want) {
			t.Errorf("the statement is %v, want %v", got, want)
		}
		if last := lines[2]; last.Title != "第二场" || last.Round != second.ID || last.Purpose != "escrow" || last.At == 0 {
			t.Errorf("the last line is %+v", last)
		}
		if balance := must[game.Cents](t)(l.HostBalance(t.Context(), first.Room)); balance != lines[2].Balance {
			t.Errorf("the account holds %d cents, the statement ends with %d", balance, lines[2].Balance)
		}
	})
}

// A refund that comes after the next round has begun stands where it came, and the balances are those of the moments.
func TestAStatementIsInTheOrderOfTheMoments(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l := open(ledger.WithClock(newTickingClock()))
		first := begunRound(t, l, 10, 1000)
		closeRound(t, l, first.ID, game.ByTime)
		second := begin(t, l, newRound(t, l, first.Room).ID)
		settleClaims(t, l, first, claim(1, "ann", 100))
		var got []string
		for _, line := range statementOf(t, l, first.Room) {
			got = append(got, fmt.Sprint(line.Round == second.ID, " ", line.Purpose, " ", int64(line.Balance)))
		}
		if want := []string{"false escrow -1000", "true escrow -89800", "false refund -88900"}; !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		failed := errors.New("the client is gone")
		if err := l.Statement(t.Context(), first.Room, func([]game.StatementLine) error { return failed }); !errors.Is(err, failed) {
			t.Errorf("told %v", err)
		}
	})
}

func statementOf(t *testing.T, l *ledger.Ledger, room string) (lines []game.StatementLine) {
	t.Helper()
	err := l.Statement(t.Context(), room, func(some []game.StatementLine) error {
		lines = append(lines, some...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

// The final ranks keep the order of the live leaderboard: the sum, then who reached it first.
func TestFinalRanksAreByTheSumThenByWhoReachedItFirst(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l := open()
		room := newRoom(t, l)
		round := begin(t, l, newRound(t, l, room).ID)
		must[game.Round](t)(l.NoteOpened(t.Context(), round.ID, 1000, 2000))
		claims := []game.Claim{
			{Number: 1, Player: "early", Drop: 1, Cents: 50}, {Number: 2, Player: "late", Drop: 1, Cents: 100},
			{Number: 3, Player: "early", Drop: 2, Cents: 50}, {Number: 4, Player: "rich", Drop: 3, Cents: 900},
			{Number: 5, Player: "poor", Drop: 3, Cents: 1},
		}
		must[game.Booked](t)(l.Book(t.Context(), round.ID, []game.Entry{{ID: "1-0", At: 1500, Claims: claims}}))
		want := []string{"rich", "late", "early", "poor"} // late had its 100 with claim 2, early only with claim 3
		if got := must[[]string](t)(open().FinalRanks(t.Context(), round.ID)); !slices.Equal(got, want) {
			t.Errorf("ranks are %v, want %v", got, want)
		}
		if got := must[[]string](t)(l.FinalRanks(t.Context(), "no round")); len(got) != 0 {
			t.Errorf("a round without claims ranks %v", got)
		}
	})
}
