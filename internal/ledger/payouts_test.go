package ledger_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"redrain/internal/game"
	"redrain/internal/ledger"
)

// addPlayer adds a player to a round's room and returns the id.
func addPlayer(t testing.TB, l *ledger.Ledger, round game.Round, nickname string) string {
	t.Helper()
	return must[game.Player](t)(l.AddPlayer(t.Context(), round.Room, nickname)).ID
}

// settleClaims books claims for a round, refunds the rest and settles it.
func settleClaims(t testing.TB, l *ledger.Ledger, round game.Round, claims ...game.Claim) game.Round {
	t.Helper()
	var sum game.Cents
	for _, c := range claims {
		sum += c.Cents
	}
	book(t, l, round, batch("1-0", claims...), closing(len(claims), sum, round.Settings.Total-sum))
	must[game.RefundStep](t)(l.ApplyRefund(t.Context(), round.ID))
	must[game.Round](t)(l.NoteClosed(t.Context(), round.ID, game.ByTime, game.Total{Packets: len(claims), Cents: sum}))
	return must[game.Round](t)(l.NoteSettled(t.Context(), round.ID))
}

// makeAll makes all payouts that are planned, and returns how many those are.
func makeAll(t testing.TB, l *ledger.Ledger) (all int) {
	t.Helper()
	for {
		made := must[int](t)(l.MakePayouts(t.Context()))
		if all += made; made == 0 {
			return all
		}
	}
}

func lease(t testing.TB, l *ledger.Ledger, count int, lasting time.Duration) []game.Payout {
	t.Helper()
	return must[[]game.Payout](t)(l.LeasePayouts(t.Context(), count, lasting))
}

func wantSums(t testing.TB, l *ledger.Ledger, round game.Round, want game.PayoutSums) {
	t.Helper()
	if got := must[game.PayoutSums](t)(l.PayoutSums(t.Context(), round.ID)); got != want {
		t.Errorf("payouts are %+v, want %+v", got, want)
	}
}

func TestAPayoutMovesMoneyOnce(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l, other := open(ledger.WithPayouts(2)), open(ledger.WithPayouts(2))
		round := begunRound(t, l, 10, 1000)
		ann, bob := addPlayer(t, l, round, "ann"), addPlayer(t, l, round, "bob")
		settleClaims(t, l, round, claim(1, ann, 100), claim(2, bob, 50), claim(3, ann, 30))
		for range 2 { // a settler that comes late
			must[game.Round](t)(other.NoteSettled(t.Context(), round.ID))
		}
		wantSums(t, l, round, game.PayoutSums{Planned: true, Pending: game.Total{Packets: 3, Cents: 180}})
		if made := makeAll(t, l); made != 2 {
			t.Fatalf("made %d payouts, want 2", made)
		}
		due := lease(t, l, 10, time.Minute)
		if len(due) != 2 || len(lease(t, other, 10, time.Minute)) != 0 {
			t.Fatalf("leased %+v", due)
		}
		first := due[0]
		if first.ID() != "payout_"+round.ID+"_1" || first.Room != round.Room || first.Total != (game.Total{Packets: 2, Cents: 150}) || len(first.Claims) != 2 ||
			first.Claims[1].Nickname != "bob" || first.Claims[0].Claim != claim(1, ann, 100) || due[1].Number != 3 {
			t.Errorf("leased %+v", due)
		}
		runConcurrently(8, func(i int) {
			if err := []*ledger.Ledger{l, other}[i%2].NotePaid(t.Context(), first); err != nil {
				t.Error(err)
			}
		})
		wantBalances(t, l, round, map[string]int64{"host": -180, "player:" + ann: 30, "paid_out": 150})
		wantSums(t, l, round, game.PayoutSums{Planned: true, Pending: game.Total{Packets: 1, Cents: 30}, Paid: game.Total{Packets: 2, Cents: 150}})
		if err := l.FailPayout(t.Context(), first, "too late"); err != nil {
			t.Fatal(err)
		}
		if list := must[[]game.Payout](t)(l.Payouts(t.Context(), round.ID, 0, 10)); len(list) != 2 || list[0].State != game.PayoutPaid || list[0].PaidAt == 0 {
			t.Errorf("payouts are %+v", list)
		}
	})
}

func TestRehearsalsAndUnsettledRoundsAreNeverPaidOut(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l, without := open(ledger.WithPayouts(1)), open()
		rehearsed := must[game.Round](t)(l.CreateRound(t.Context(), newRoom(t, l), someSettings(), true))
		rehearsed = must[game.Round](t)(l.Begin(t.Context(), rehearsed.ID, game.NewSecret()))
		settleClaims(t, l, rehearsed, claim(1, "bot", 100))
		if _, err := l.ResendPayouts(t.Context(), rehearsed.ID); !errors.Is(err, game.ErrWrongPhase) {
			t.Errorf("a rehearsal was sent: %v", err)
		}
		frozen := begunRound(t, l, 10, 1000)
		must[game.Round](t)(l.NoteFrozen(t.Context(), frozen.ID, game.FrozenByHost))
		if got := settleClaims(t, l, frozen, claim(1, "ann", 100)); got.Phase != game.Closed {
			t.Fatalf("a frozen round is %s", got.Phase)
		}
		raining := begunRound(t, l, 10, 1000)
		book(t, l, raining, batch("1-0", claim(1, "ann", 100)))
		for _, round := range []game.Round{frozen, raining} {
			if _, err := l.ResendPayouts(t.Context(), round.ID); !errors.Is(err, game.ErrWrongPhase) {
				t.Errorf("a round that is not settled was sent: %v", err)
			}
		}
		old := begunRound(t, l, 10, 1000)
		settleClaims(t, without, old, claim(1, "ann", 100))
		if made := makeAll(t, l); made != 0 {
			t.Errorf("%d payouts were made", made)
		}
		wantSums(t, l, old, game.PayoutSums{})
		if _, err := without.ResendPayouts(t.Context(), old.ID); !errors.Is(err, game.ErrOff) {
			t.Errorf("sent without payouts: %v", err)
		}
		if _, err := l.ResendPayouts(t.Context(), "nothing"); !errors.Is(err, game.ErrNotFound) {
			t.Errorf("nothing was sent: %v", err)
		}
		must[int](t)(l.ResendPayouts(t.Context(), old.ID)) // the host wants it
		if made := makeAll(t, l); made != 1 {
			t.Errorf("%d payouts were made, want 1", made)
		}
	})
}

// A worker that dies gives what it held to the others once its lease has ended; from then on only they decide.
func TestAPayoutLeaseExpires(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		var now atomic.Int64
		clock := ledger.WithClock(func() time.Time { return time.UnixMilli(1_800_000_000_000 + now.Load()) })
		l, other := open(clock, ledger.WithPayouts(1)), open(clock, ledger.WithPayouts(1))
		round := begunRound(t, l, 10, 1000)
		settleClaims(t, l, round, claim(1, "ann", 100))
		makeAll(t, l)
		dead := lease(t, l, 10, time.Minute)[0]
		now.Add(59_999)
		if early := lease(t, other, 10, time.Minute); len(early) != 0 {
			t.Fatalf("leased twice: %+v", early)
		}
		now.Add(1)
		heir := lease(t, other, 10, time.Minute)[0]
		if heir.ID() != dead.ID() || heir.Attempts != 2 || heir.TriedAt != dead.TriedAt {
			t.Errorf("got %+v after %+v", heir, dead)
		}
		if err := l.FailPayout(t.Context(), dead, "woke up late"); err != nil {
			t.Fatal(err)
		}
		if err := other.PostponePayout(t.Context(), heir, "answered 500", time.Second); err != nil {
			t.Fatal(err)
		}
		list := must[[]game.Payout](t)(l.Payouts(t.Context(), round.ID, 0, 10))
		if got := list[0]; got.State != game.PayoutPending || got.Problem != "answered 500" || got.DueAt != heir.TriedAt+61_000 {
			t.Errorf("got %+v", got)
		}
		if again := must[int](t)(l.ResendPayouts(t.Context(), round.ID)); again != 1 {
			t.Errorf("%d are sent again", again)
		}
		hurried := lease(t, l, 10, time.Minute)
		if len(hurried) != 1 || hurried[0].Attempts != 1 || hurried[0].TriedAt == heir.TriedAt {
			t.Fatalf("got %+v", hurried)
		}
		if err := l.FailPayout(t.Context(), hurried[0], "enough"); err != nil {
			t.Fatal(err)
		}
		wantSums(t, l, round, game.PayoutSums{Planned: true, Failed: game.Total{Packets: 1, Cents: 100}})
		// The first attempt was answered after all, long after everybody gave up.
		if err := l.NotePaid(t.Context(), dead); err != nil {
			t.Fatal(err)
		}
		if again := must[int](t)(l.ResendPayouts(t.Context(), round.ID)); again != 0 {
			t.Errorf("%d are sent again after they were paid", again)
		}
		wantBalances(t, l, round, map[string]int64{"host": -100, "paid_out": 100})
	})
}

// Many workers make and take payouts at once: each is there once, and given to one of them.
func TestWorkersShareThePayouts(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		workers := make([]*ledger.Ledger, 4)
		for i := range workers {
			workers[i] = open(ledger.WithPayouts(3))
		}
		const packets = 200
		round := begunRound(t, workers[0], packets, packets*10)
		claims := make([]game.Claim, packets)
		for i := range claims {
			claims[i] = claim(i+1, fmt.Sprint("player", i%7), 10)
		}
		settleClaims(t, workers[0], round, claims...)
		var paid atomic.Int64
		runConcurrently(len(workers), func(i int) {
			l := workers[i]
			for tries := 0; tries < 2000 && paid.Load() < (packets+2)/3; tries++ {
				// Databases may give one of two racing transactions up; it is tried again then.
				due, err := l.LeasePayouts(t.Context(), 8, time.Minute)
				if err == nil && len(due) == 0 {
					_, _ = l.MakePayouts(t.Context())
				}
				for _, payout := range due {
					for l.NotePaid(t.Context(), payout) != nil {
						if t.Context().Err() != nil {
							return
						}
					}
					paid.Add(1)
				}
			}
		})
		if paid.Load() != (packets+2)/3 {
			t.Errorf("%d payouts were paid, want %d", paid.Load(), (packets+2)/3)
		}
		wantSums(t, workers[0], round, game.PayoutSums{Planned: true, Paid: game.Total{Packets: packets, Cents: packets * 10}})
		wantBalances(t, workers[0], round, map[string]int64{"host": -packets * 10, "paid_out": packets * 10})
	})
}

// Where a thousand numbers in a row have no claims, as after a loss, the payouts behind them are made all the same.
func TestPayoutsAreMadeAcrossNumbersWithoutClaims(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l := open(ledger.WithPayouts(1))
		settleClaims(t, l, begunRound(t, l, 5000, 50_000), claim(1, "ann", 10), claim(4500, "bob", 20))
		settleClaims(t, l, begunRound(t, l, 10, 1000))
		if made := makeAll(t, l); made != 2 {
			t.Errorf("%d payouts are made, want 2", made)
		}
	})
}

// Plans from before payouts noted that they are made: those that were are left alone, the others go on.
func TestPayoutPlansOfAnOlderVersionAreContinued(t *testing.T) {
	for name, newDatabase := range databases {
		t.Run(name, func(t *testing.T) {
			l := openLedger(t, newDatabase(t), ledger.WithPayouts(1))
			done := settleClaims(t, l, begunRound(t, l, 10, 1000), claim(1, "ann", 10))
			makeAll(t, l)
			open := settleClaims(t, l, begunRound(t, l, 10, 1000), claim(1, "ann", 10), claim(2, "bob", 20))
			if err := ledger.MigrateTo(t.Context(), l, 34); err != nil {
				t.Fatal(err)
			}
			if err := l.Migrate(t.Context()); err != nil {
				t.Fatal(err)
			}
			if made := makeAll(t, l); made != 2 {
				t.Errorf("%d payouts are made, want 2", made)
			}
			for _, round := range []game.Round{done, open} {
				if sums := must[game.PayoutSums](t)(l.PayoutSums(t.Context(), round.ID)); !sums.Planned {
					t.Errorf("payouts are %+v", sums)
				}
			}
		})
	}
}
