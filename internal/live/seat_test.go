package live

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"redrain/internal/game"
)

// tapper taps one drop of one round as one tab, and says what came of it at once.
type tapper struct {
	t     *testing.T
	rig   *rig
	seat  *Seat
	tab   *member
	hears *answers
	round game.Round
}

// verdict is what a tap came to at once: an outcome, or that the pool is asked.
const askedThePool game.Outcome = "asked"

func (p *tapper) tap(drop game.DropID) (game.Answer, Verdict) {
	return p.seat.Tap(p.round.ID, drop, p.tab, p.hears)
}

func (p *tapper) want(drop game.DropID, want game.Outcome) {
	p.t.Helper()
	answer, verdict := p.tap(drop)
	got := answer.Outcome
	if verdict == Asked {
		got = askedThePool
	}
	if verdict == Elsewhere {
		got = "elsewhere"
	}
	if got != want {
		p.t.Errorf("%v after the start, drop %d: %s, want %s", time.Duration(now()-p.round.StartsAt)*time.Millisecond, drop, got, want)
	}
}

// answer answers the tap that the pool was asked for last.
func (p *tapper) answer(outcome game.Outcome) {
	p.t.Helper()
	p.rig.committer.answer(p.t, game.Answer{Outcome: outcome})
}

// seated is a player in a room whose round was begun, ten seconds before its start.
func seated(t *testing.T, change ...func(*game.Settings)) *tapper {
	t.Helper()
	r := newRig(t)
	r.clock.spread = 30 // the first drops fall by that, whatever their schedule says
	round := r.begin(plan(change...))
	seat, tab := r.sit(r.room, r.books.Join(code, "ann"))
	seat.bucket.SetBurst(1000)
	seat.bucket.SetLimit(1000)
	synctest.Wait()
	return &tapper{t, r, seat, tab, &answers{}, round}
}

// at is a moment that many milliseconds after the start.
func (p *tapper) at(ms int64) { until(p.round.StartsAt + game.Moment(ms)) }

// claimed has another instance grant n packets, none of them to this player.
func (p *tapper) claimed(n int) {
	var others []string
	for range n {
		others = append(others, "somebody")
	}
	p.rig.world.claim(p.round.ID, 1, others...)
	synctest.Wait()
}

func TestATapFarFromTheWindowIsToldAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := seated(t)
		for _, step := range []struct {
			ms   int64
			want game.Outcome
		}{
			{-9000, game.Early}, {-1001, game.Early},
			// Within a second of an edge only the script decides: this instance's clock may be off.
			{-1000, askedThePool}, {-1, askedThePool}, {0, askedThePool}, {999, askedThePool}, {1000, askedThePool},
			{28_999, askedThePool}, {29_001, askedThePool}, {29_999, askedThePool}, {30_000, askedThePool}, {31_000, askedThePool},
			// Over for sure, but own claims must be read again first.
			{31_001, askedThePool}, {33_000, game.Late}, {90_000, game.Late},
		} {
			p.at(step.ms)
			p.want(1, step.want)
		}
	})
}

func TestDropsThatCannotBeTapped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := seated(t, func(s *game.Settings) { s.BombPercent = 50 })
		schedule := game.NewSchedule(p.round.Settings, p.round.Secret)
		var bomb, packet game.Drop
		for id := game.DropID(400); bomb.ID == 0 || packet.ID == 0; id++ {
			if drop, _ := schedule.Find(id); drop.Kind == game.KindBomb {
				bomb = drop
			} else {
				packet = drop
			}
		}
		p.at(5000)
		for _, id := range []game.DropID{-1, 0, game.DropID(schedule.Len() + 1), 1 << 30} { //nolint:gosec // a test's schedule
			p.want(id, game.UnknownDrop)
		}
		both := []game.Drop{bomb, packet}
		slices.SortFunc(both, func(a, b game.Drop) int { return int(a.AtMS - b.AtMS) })
		for _, drop := range both {
			p.at(drop.AtMS - 31) // the clock may be off by 30 ms
			p.want(drop.ID, game.UnknownDrop)
			p.at(drop.AtMS - 30)
			want := askedThePool
			if drop.Kind == game.KindBomb {
				want = game.Bomb
			}
			p.want(drop.ID, want)
			p.want(drop.ID, want)
		}
		if n := len(p.rig.committer.asked); n != 2 {
			t.Errorf("the pool was asked %d times, want for the packet alone", n)
		}
	})
}

// A second tab is the same player: the bucket is one.
func TestTapsAreThrottledOverAllTabs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		round := r.begin(plan())
		ann, bob := r.books.Join(code, "ann"), r.books.Join(code, "bob")
		one, tab := r.sit(r.room, ann)
		two, other := r.sit(r.room, ann)
		three, stranger := r.sit(r.room, bob)
		until(round.StartsAt + 5000)
		tap := func(seat *Seat, m *member) game.Outcome {
			answer, _ := seat.Tap(round.ID, 1, m, &answers{})
			return answer.Outcome
		}
		for n := range 10 {
			if tap(one, tab) != "" || tap(two, other) != "" {
				t.Fatalf("throttled in pair %d of a burst of 20", n+1)
			}
		}
		if got := tap(one, tab); got != game.Throttled {
			t.Errorf("tap 21 of one tab: %s", got)
		}
		if got := tap(two, other); got != game.Throttled {
			t.Errorf("tap 22, of the other tab: %s", got)
		}
		if answer, verdict := one.Tap("another-round", 1, tab, &answers{}); answer.Outcome != game.Throttled || verdict != Told {
			t.Errorf("on another round: %v %v", answer, verdict)
		}
		if got := tap(three, stranger); got != "" {
			t.Errorf("another player's first tap: %s", got)
		}
		time.Sleep(100 * time.Millisecond) // ten a second
		if got := tap(one, tab); got != "" {
			t.Errorf("a tenth of a second later: %s", got)
		}
		if got := tap(two, other); got != game.Throttled {
			t.Errorf("and at once again: %s", got)
		}
		if counted := r.room.rain.taps; counted != 25 {
			t.Errorf("%d taps counted, want all 25 on this round", counted)
		}
	})
}

func TestAReloadDoesNotFillTheBucket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		round := r.begin(plan())
		ann := r.books.Join(code, "ann")
		seat, tab := r.sit(r.room, ann)
		until(round.StartsAt + 5000)
		for range 20 {
			seat.Tap(round.ID, 1, tab, &answers{})
		}
		r.room.Rise(seat, tab)
		again, tab := r.sit(r.room, ann)
		if answer, _ := again.Tap(round.ID, 1, tab, &answers{}); answer.Outcome != game.Throttled {
			t.Errorf("after a reload: %v", answer)
		}
	})
}

func TestAMissedDropIsSpent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := seated(t)
		p.at(5000)
		p.want(3, askedThePool)
		p.answer(game.Missed)
		if len(p.hears.all) != 1 || p.hears.all[0].Outcome != game.Missed {
			t.Fatalf("heard %v", p.hears.all)
		}
		p.want(3, game.Missed)
		p.want(4, askedThePool) // another drop is another chance
		p.rig.world.freeze(p.round.ID, true)
		synctest.Wait()
		time.Sleep(time.Second)
		p.want(3, askedThePool) // frozen is for the script to say
		p.rig.world.freeze(p.round.ID, false)
		time.Sleep(time.Second)
		p.want(3, game.Missed)
		p.at(29_000)
		p.want(3, askedThePool) // near the edge it may be late
	})
}

func TestOtherAnswersDoNotSpendADrop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := seated(t)
		p.at(5000)
		for _, outcome := range []game.Outcome{game.Busy, game.Frozen, game.Early, game.Capped, game.SoldOut, game.Late} {
			p.want(3, askedThePool)
			p.answer(outcome)
		}
		p.want(3, askedThePool)
	})
}

func TestAFullQueueIsBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := seated(t)
		p.at(5000)
		p.rig.committer.full = true
		p.want(3, game.Busy)
		p.rig.world.claim(p.round.ID, 3, p.seat.player) // from a tap before, on another instance
		synctest.Wait()
		if said := claimsOf(t, p.tab); len(said) != 1 {
			t.Errorf("a tap that was never sent keeps its tab from hearing of a claim: %v", said)
		}
		p.rig.committer.full = false
		p.want(4, askedThePool)
	})
}

// The script's order: an own claim for the drop comes before everything else.
func TestAnOwnClaimIsToldFromMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := seated(t)
		p.at(5000)
		won := p.rig.world.claim(p.round.ID, 3, p.seat.player)[0] // on another instance
		synctest.Wait()
		for _, change := range []func(){
			func() {},
			func() { p.rig.world.freeze(p.round.ID, true) },
			func() { p.rig.world.freeze(p.round.ID, false); p.claimed(9) }, // sold out
			func() { p.rig.world.close(p.round.ID, game.Stopped) },
		} {
			change()
			time.Sleep(time.Second)
			answer, verdict := p.tap(3)
			if want := (game.Answer{Outcome: game.Duplicate, Cents: won.Cents, Number: won.Number}); answer != want || verdict != Told {
				t.Errorf("%v %v, want %v from memory", answer, verdict, want)
			}
		}
	})
}

// An even pace releases a packet every 2.7 s. While all released ones are known to be claimed, nothing is asked.
func TestMissedIsToldWhileEveryReleasedPacketIsClaimed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := seated(t, func(s *game.Settings) { s.Pace = game.PaceEven })
		p.at(2000)
		p.want(1, askedThePool) // packet 1 is out
		p.claimed(1)
		p.want(2, game.Missed)
		p.want(2, game.Missed)
		p.at(2669) // the clock may be off by 30 ms
		p.want(3, game.Missed)
		p.at(2670)
		p.want(4, askedThePool) // packet 2 may be out
		p.want(3, game.Missed)  // spent
		p.claimed(1)
		p.want(4, game.Missed)
		if n := len(p.rig.committer.asked); n != 2 {
			t.Errorf("the pool was asked %d times", n)
		}
	})
}

// In the first second the tap may be early.
func TestNothingIsMissedFromMemoryInTheFirstSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := seated(t, func(s *game.Settings) { s.Pace = game.PaceEven })
		p.at(500)
		p.claimed(1)
		p.want(2, askedThePool)
		p.at(999)
		p.want(2, askedThePool)
		p.at(1000)
		p.want(2, game.Missed)
	})
}

// Claims were heard without a gap, but this player's own could not be read: they may have won before anybody listened here.
func TestNothingIsMissedFromMemoryBeforeOwnClaimsWereRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := seated(t)
		p.at(5000)
		p.rig.world.set(func(w *world) {
			w.fails = func(what string) error {
				if what == "claims" {
					return game.ErrUnknown
				}
				return nil
			}
		})
		p.rig.world.close(p.round.ID, game.Stopped)
		p.round = p.rig.begin(plan(func(s *game.Settings) { s.Pace = game.PaceEven }))
		p.at(2000)
		p.claimed(1)
		p.want(2, askedThePool)
		p.rig.world.set(func(w *world) { w.fails = nil })
		time.Sleep(500 * time.Millisecond)
		p.want(2, game.Missed)
	})
}

// A player's claims only become more: once there are as many as the round allows, nobody needs to be asked.
func TestCappedIsToldOnceEveryClaimOfThePlayerIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := seated(t, func(s *game.Settings) { s.Pace, s.Cap = game.PaceEven, 1 })
		p.at(2000)
		p.rig.world.claim(p.round.ID, 1, p.seat.player)
		synctest.Wait()
		p.want(2, game.Capped)
		p.want(1, game.Duplicate)
		p.at(5000) // more is released
		p.want(3, game.Capped)
		p.at(29_500)
		p.want(3, askedThePool) // near the edge it may be late
	})
}

// A gap in the claims' numbers: one of the missing could be this player's own, so the pool is asked until they are read.
func TestAGapInTheClaimsMakesItAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := seated(t, func(s *game.Settings) { s.Pace = game.PaceEven })
		p.at(9000) // packets 1 to 4 are out
		lost := true
		p.rig.world.set(func(*world) { p.rig.side.ear.deaf = func(game.Event) bool { return lost } })
		p.claimed(1)
		lost = false
		p.rig.world.set(func(w *world) { w.fails = func(string) error { return game.ErrUnknown } }) // nothing can be read again
		p.claimed(3)
		p.want(5, askedThePool)
		time.Sleep(500 * time.Millisecond)
		p.want(5, askedThePool)
		p.rig.world.set(func(w *world) { w.fails = nil })
		time.Sleep(500 * time.Millisecond)
		p.want(5, game.Missed)
	})
}

// A winner who taps after the pool is empty hears their own result, not "gone". So sold_out comes from
// memory only after the player's claims were read again.
func TestSoldOutIsToldOnceOwnClaimsWereRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := seated(t, func(s *game.Settings) { s.CloseWhenSoldOut = false })
		p.at(5000)
		reading := make(chan struct{})
		p.rig.world.set(func(w *world) {
			w.before = func(what string) {
				if what == "claims" {
					<-reading
				}
			}
		})
		p.rig.world.set(func(*world) { p.rig.side.ear.deaf = func(h game.Event) bool { return h.Claims != nil } })
		p.rig.world.claim(p.round.ID, 7, p.seat.player) // not heard
		p.rig.world.set(func(*world) { p.rig.side.ear.deaf = nil })
		p.claimed(9)
		p.want(8, askedThePool)
		p.want(7, askedThePool)
		close(reading)
		synctest.Wait()
		time.Sleep(time.Second)
		p.want(8, game.SoldOut)
		p.want(7, game.Duplicate)
		p.rig.world.claim(p.round.ID, 9, p.seat.player) // cannot be, but caps this player
		synctest.Wait()
		p.want(8, game.Capped)
		p.at(29_000)
		p.want(8, askedThePool) // near the edge it may be late
		p.at(33_000)
		p.want(8, game.Late)
	})
}

// Sold out never reverts, whatever arrives late.
func TestAnOldMessageDoesNotFillThePoolAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := seated(t, func(s *game.Settings) { s.CloseWhenSoldOut = false })
		p.at(5000)
		p.claimed(10)
		time.Sleep(100 * time.Millisecond)
		p.want(8, game.SoldOut) // as soon as own claims were read
		p.rig.rooms.Hear(game.Event{Room: code, Claims: &game.Claimed{
			Round: p.round.ID, Left: game.Total{Packets: 6, Cents: 600},
			Claims: []game.Claim{{Player: "somebody", Drop: 1, Cents: 100, Number: 4}},
		}})
		synctest.Wait()
		p.want(8, game.SoldOut)
	})
}

func TestNothingIsToldFromMemoryWhileFrozen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := seated(t, func(s *game.Settings) { s.CloseWhenSoldOut = false })
		p.at(5000)
		p.claimed(10)
		time.Sleep(time.Second)
		p.want(8, game.SoldOut)
		p.rig.world.freeze(p.round.ID, true)
		time.Sleep(time.Second)
		p.want(8, askedThePool)
		p.at(35_000)
		p.want(8, askedThePool)
		p.rig.world.freeze(p.round.ID, false)
		time.Sleep(time.Second)
		p.want(8, game.Late)
	})
}

func TestAClosedRoundTellsWhy(t *testing.T) {
	for reason, want := range map[game.CloseReason]game.Outcome{
		game.BySoldOut: game.SoldOut, game.ByTime: game.Late, game.Stopped: game.Late, game.Interrupted: game.Late,
	} {
		t.Run(string(reason), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := seated(t)
				p.at(5000)
				if reason == game.BySoldOut {
					p.claimed(10) // which closes the round
				} else {
					p.rig.world.close(p.round.ID, reason)
				}
				time.Sleep(time.Second)
				p.want(8, want)
			})
		})
	}
}

// Two tabs tap the same drop; the answer to one was lost, but its claim was heard of.
func TestALostAnswerIsWonIfItsClaimWasHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := seated(t)
		_, other := p.rig.sit(p.rig.room, game.Player{ID: p.seat.player, Nickname: "ann"})
		p.at(5000)
		p.want(3, askedThePool)
		claim := p.rig.world.claim(p.round.ID, 3, p.seat.player)[0]
		synctest.Wait()
		p.answer(game.Busy)
		want := game.Answer{Outcome: game.Won, Cents: claim.Cents, Number: claim.Number}
		if len(p.hears.all) != 1 || p.hears.all[0] != want {
			t.Errorf("heard %v, want %v", p.hears.all, want)
		}
		if said := claimsOf(t, p.tab); len(said) != 0 {
			t.Errorf("the tapping tab hears %v besides its result", said)
		}
		if said := claimsOf(t, other); len(said) != 1 || said[0].Claim.Drop != 3 {
			t.Errorf("the other tab hears %v", said)
		}
	})
}

// Busy means unknown: a claim that is heard of later overrides it.
func TestAClaimOverridesBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := seated(t)
		p.at(5000)
		p.want(3, askedThePool)
		p.answer(game.Busy)
		p.rig.world.claim(p.round.ID, 3, p.seat.player)
		synctest.Wait()
		if said := claimsOf(t, p.tab); len(said) != 1 || said[0].Claim.Drop != 3 {
			t.Errorf("the tab hears %v", said)
		}
		p.want(3, game.Duplicate)
	})
}
