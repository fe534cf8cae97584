package live

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"redrain/internal/game"
)

// testPlayer taps one drop of one round as one tab, and says what came of it at once.
type testPlayer struct {
	t       *testing.T
	fixture *fixture
	session *PlayerSession
	tab     *recordingClient
	answers *answerRecorder
	round   game.Round
}

// status is what a tap came to at once: an outcome, or that the pool is asked.
const submitted game.Outcome = "submitted"

func (p *testPlayer) tap(drop game.DropID) (game.Answer, TapStatus) {
	return p.session.Tap(p.round.ID, drop, p.tab, p.answers)
}

func (p *testPlayer) wantTap(drop game.DropID, want game.Outcome) {
	p.t.Helper()
	answer, status := p.tap(drop)
	got := answer.Outcome
	if status == Submitted {
		got = submitted
	}
	if status == OtherRound {
		got = "other round"
	}
	if got != want {
		p.t.Errorf("%v after the start, drop %d: %s, want %s", time.Duration(now()-p.round.StartsAt)*time.Millisecond, drop, got, want)
	}
}

// answer answers the tap that the pool was asked for last.
func (p *testPlayer) answer(outcome game.Outcome) {
	p.t.Helper()
	p.fixture.committer.answerNext(p.t, game.Answer{Outcome: outcome})
}

// seated is a player in a room whose round was begun, ten seconds before its start.
func newTestPlayer(t *testing.T, change ...func(*game.Settings)) *testPlayer {
	t.Helper()
	r := newFixture(t)
	r.clock.spread = 30 // the first drops fall by that, whatever their schedule says
	round := r.startRound(newRound(change...))
	session, tab := r.join(r.room, r.books.Join(code, "ann"))
	session.limiter.SetBurst(1000)
	session.limiter.SetLimit(1000)
	synctest.Wait()
	return &testPlayer{t, r, session, tab, &answerRecorder{}, round}
}

// at is a moment that many milliseconds after the start.
func (p *testPlayer) sleepUntil(ms int64) { sleepUntil(p.round.StartsAt + game.Moment(ms)) }

// claimed has another instance grant n packets, none of them to this player.
func (p *testPlayer) claimByOthers(n int) {
	var others []string
	for range n {
		others = append(others, "somebody")
	}
	p.fixture.redis.claim(p.round.ID, 1, others...)
	synctest.Wait()
}

func TestATapFarFromTheWindowIsToldAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newTestPlayer(t)
		for _, step := range []struct {
			ms   int64
			want game.Outcome
		}{
			{-9000, game.Early}, {-1001, game.Early},
			// Within a second of an edge only the script decides: this instance's clock may be off.
			{-1000, submitted}, {-1, submitted}, {0, submitted}, {999, submitted}, {1000, submitted},
			{28_999, submitted}, {29_001, submitted}, {29_999, submitted}, {30_000, submitted}, {31_000, submitted},
			// Over for sure, but own claims must be read again first.
			{31_001, submitted}, {33_000, game.Late}, {90_000, game.Late},
		} {
			p.sleepUntil(step.ms)
			p.wantTap(1, step.want)
		}
	})
}

func TestDropsThatCannotBeTapped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newTestPlayer(t, func(s *game.Settings) { s.BombPercent = 50 })
		schedule := game.NewSchedule(p.round.Settings, p.round.Secret)
		var bomb, packet game.Drop
		for id := game.DropID(400); bomb.ID == 0 || packet.ID == 0; id++ {
			if drop, _ := schedule.Find(id); drop.Kind == game.KindBomb {
				bomb = drop
			} else {
				packet = drop
			}
		}
		p.sleepUntil(5000)
		for _, id := range []game.DropID{-1, 0, game.DropID(schedule.Len() + 1), 1 << 30} { //nolint:gosec // a test's schedule
			p.wantTap(id, game.UnknownDrop)
		}
		both := []game.Drop{bomb, packet}
		slices.SortFunc(both, func(a, b game.Drop) int { return int(a.AtMS - b.AtMS) })
		for _, drop := range both {
			p.sleepUntil(drop.AtMS - 31) // the clock may be off by 30 ms
			p.wantTap(drop.ID, game.UnknownDrop)
			p.sleepUntil(drop.AtMS - 30)
			want := submitted
			if drop.Kind == game.KindBomb {
				want = game.Bomb
			}
			p.wantTap(drop.ID, want)
			p.wantTap(drop.ID, want)
		}
		if n := len(p.fixture.committer.submitted); n != 2 {
			t.Errorf("the pool was asked %d times, want for the packet alone", n)
		}
	})
}

// A second tab is the same player: the bucket is one.
func TestTapsAreThrottledOverAllTabs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFixture(t)
		round := r.startRound(newRound())
		ann, bob := r.books.Join(code, "ann"), r.books.Join(code, "bob")
		one, tab := r.join(r.room, ann)
		two, other := r.join(r.room, ann)
		three, stranger := r.join(r.room, bob)
		sleepUntil(round.StartsAt + 5000)
		tap := func(session *PlayerSession, m *recordingClient) game.Outcome {
			answer, _ := session.Tap(round.ID, 1, m, &answerRecorder{})
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
		if answer, status := one.Tap("another-round", 1, tab, &answerRecorder{}); answer.Outcome != game.Throttled || status != Answered {
			t.Errorf("on another round: %v %v", answer, status)
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
		if counted := r.room.state.taps; counted != 25 {
			t.Errorf("%d taps counted, want all 25 on this round", counted)
		}
	})
}

func TestAReloadDoesNotFillTheBucket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFixture(t)
		round := r.startRound(newRound())
		ann := r.books.Join(code, "ann")
		session, tab := r.join(r.room, ann)
		sleepUntil(round.StartsAt + 5000)
		for range 20 {
			session.Tap(round.ID, 1, tab, &answerRecorder{})
		}
		r.room.Leave(session, tab)
		again, tab := r.join(r.room, ann)
		if answer, _ := again.Tap(round.ID, 1, tab, &answerRecorder{}); answer.Outcome != game.Throttled {
			t.Errorf("after a reload: %v", answer)
		}
	})
}

func TestAMissedDropIsSpent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newTestPlayer(t)
		p.sleepUntil(5000)
		p.wantTap(3, submitted)
		p.answer(game.Missed)
		if len(p.answers.all) != 1 || p.answers.all[0].Outcome != game.Missed {
			t.Fatalf("heard %v", p.answers.all)
		}
		p.wantTap(3, game.Missed)
		p.wantTap(4, submitted) // another drop is another chance
		p.fixture.redis.setFrozen(p.round.ID, true)
		synctest.Wait()
		time.Sleep(time.Second)
		p.wantTap(3, submitted) // frozen is for the script to say
		p.fixture.redis.setFrozen(p.round.ID, false)
		time.Sleep(time.Second)
		p.wantTap(3, game.Missed)
		p.sleepUntil(29_000)
		p.wantTap(3, submitted) // near the edge it may be late
	})
}

func TestOtherAnswersDoNotSpendADrop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newTestPlayer(t)
		p.sleepUntil(5000)
		for _, outcome := range []game.Outcome{game.Busy, game.Frozen, game.Early, game.Capped, game.SoldOut, game.Late} {
			p.wantTap(3, submitted)
			p.answer(outcome)
		}
		p.wantTap(3, submitted)
	})
}

func TestAFullQueueIsBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newTestPlayer(t)
		p.sleepUntil(5000)
		p.fixture.committer.full = true
		p.wantTap(3, game.Busy)
		p.fixture.redis.claim(p.round.ID, 3, p.session.player) // from a tap before, on another instance
		synctest.Wait()
		if said := claimMessages(t, p.tab); len(said) != 1 {
			t.Errorf("a tap that was never sent keeps its tab from hearing of a claim: %v", said)
		}
		p.fixture.committer.full = false
		p.wantTap(4, submitted)
	})
}

// The script's order: an own claim for the drop comes before everything else.
func TestAnOwnClaimIsToldFromMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newTestPlayer(t)
		p.sleepUntil(5000)
		won := p.fixture.redis.claim(p.round.ID, 3, p.session.player)[0] // on another instance
		synctest.Wait()
		for _, change := range []func(){
			func() {},
			func() { p.fixture.redis.setFrozen(p.round.ID, true) },
			func() { p.fixture.redis.setFrozen(p.round.ID, false); p.claimByOthers(9) }, // sold out
			func() { p.fixture.redis.closeRound(p.round.ID, game.Stopped) },
		} {
			change()
			time.Sleep(time.Second)
			answer, status := p.tap(3)
			if want := (game.Answer{Outcome: game.Duplicate, Cents: won.Cents, Number: won.Number}); answer != want || status != Answered {
				t.Errorf("%v %v, want %v from memory", answer, status, want)
			}
		}
	})
}

// An even pace releases a packet every 2.7 s. While all released ones are known to be claimed, nothing is asked.
func TestMissedIsToldWhileEveryReleasedPacketIsClaimed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newTestPlayer(t, func(s *game.Settings) { s.Pace = game.PaceEven })
		p.sleepUntil(2000)
		p.wantTap(1, submitted) // packet 1 is out
		p.claimByOthers(1)
		p.wantTap(2, game.Missed)
		p.wantTap(2, game.Missed)
		p.sleepUntil(2669) // the clock may be off by 30 ms
		p.wantTap(3, game.Missed)
		p.sleepUntil(2670)
		p.wantTap(4, submitted)   // packet 2 may be out
		p.wantTap(3, game.Missed) // spent
		p.claimByOthers(1)
		p.wantTap(4, game.Missed)
		if n := len(p.fixture.committer.submitted); n != 2 {
			t.Errorf("the pool was asked %d times", n)
		}
	})
}

// In the first second the tap may be early.
func TestNothingIsMissedFromMemoryInTheFirstSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newTestPlayer(t, func(s *game.Settings) { s.Pace = game.PaceEven })
		p.sleepUntil(500)
		p.claimByOthers(1)
		p.wantTap(2, submitted)
		p.sleepUntil(999)
		p.wantTap(2, submitted)
		p.sleepUntil(1000)
		p.wantTap(2, game.Missed)
	})
}

// Claims were heard without a gap, but this player's own could not be read: they may have won before anybody listened here.
func TestNothingIsMissedFromMemoryBeforeOwnClaimsWereRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newTestPlayer(t)
		p.sleepUntil(5000)
		p.fixture.redis.withLock(func(redis *fakeRedis) {
			redis.fails = func(what string) error {
				if what == "claims" {
					return game.ErrUnknown
				}
				return nil
			}
		})
		p.fixture.redis.closeRound(p.round.ID, game.Stopped)
		p.round = p.fixture.startRound(newRound(func(s *game.Settings) { s.Pace = game.PaceEven }))
		p.sleepUntil(2000)
		p.claimByOthers(1)
		p.wantTap(2, submitted)
		p.fixture.redis.withLock(func(redis *fakeRedis) { redis.fails = nil })
		time.Sleep(500 * time.Millisecond)
		p.wantTap(2, game.Missed)
	})
}

// A player's claims only become more: once there are as many as the round allows, nobody needs to be asked.
func TestCappedIsToldOnceEveryClaimOfThePlayerIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newTestPlayer(t, func(s *game.Settings) { s.Pace, s.Cap = game.PaceEven, 1 })
		p.sleepUntil(2000)
		p.fixture.redis.claim(p.round.ID, 1, p.session.player)
		synctest.Wait()
		p.wantTap(2, game.Capped)
		p.wantTap(1, game.Duplicate)
		p.sleepUntil(5000) // more is released
		p.wantTap(3, game.Capped)
		p.sleepUntil(29_500)
		p.wantTap(3, submitted) // near the edge it may be late
	})
}

// A gap in the claims' numbers: one of the missing could be this player's own, so the pool is asked until they are read.
func TestAGapInTheClaimsMakesItAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newTestPlayer(t, func(s *game.Settings) { s.Pace = game.PaceEven })
		p.sleepUntil(9000) // packets 1 to 4 are out
		lost := true
		p.fixture.redis.withLock(func(*fakeRedis) { p.fixture.pool.subscription.drops = func(game.Event) bool { return lost } })
		p.claimByOthers(1)
		lost = false
		p.fixture.redis.withLock(func(redis *fakeRedis) { redis.fails = func(string) error { return game.ErrUnknown } }) // nothing can be read again
		p.claimByOthers(3)
		p.wantTap(5, submitted)
		time.Sleep(500 * time.Millisecond)
		p.wantTap(5, submitted)
		p.fixture.redis.withLock(func(redis *fakeRedis) { redis.fails = nil })
		time.Sleep(500 * time.Millisecond)
		p.wantTap(5, game.Missed)
	})
}

// A winner who taps after the pool is empty hears their own result, not "gone". So sold_out comes from
// memory only after the player's claims were read again.
func TestSoldOutIsToldOnceOwnClaimsWereRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newTestPlayer(t, func(s *game.Settings) { s.CloseWhenSoldOut = false })
		p.sleepUntil(5000)
		reading := make(chan struct{})
		p.fixture.redis.withLock(func(redis *fakeRedis) {
			redis.before = func(what string) {
				if what == "claims" {
					<-reading
				}
			}
		})
		p.fixture.redis.withLock(func(*fakeRedis) {
			p.fixture.pool.subscription.drops = func(h game.Event) bool { return h.Claims != nil }
		})
		p.fixture.redis.claim(p.round.ID, 7, p.session.player) // not heard
		p.fixture.redis.withLock(func(*fakeRedis) { p.fixture.pool.subscription.drops = nil })
		p.claimByOthers(9)
		p.wantTap(8, submitted)
		p.wantTap(7, submitted)
		close(reading)
		synctest.Wait()
		time.Sleep(time.Second)
		p.wantTap(8, game.SoldOut)
		p.wantTap(7, game.Duplicate)
		p.fixture.redis.claim(p.round.ID, 9, p.session.player) // cannot be, but caps this player
		synctest.Wait()
		p.wantTap(8, game.Capped)
		p.sleepUntil(29_000)
		p.wantTap(8, submitted) // near the edge it may be late
		p.sleepUntil(33_000)
		p.wantTap(8, game.Late)
	})
}

// Sold out never reverts, whatever arrives late.
func TestAnOldMessageDoesNotFillThePoolAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newTestPlayer(t, func(s *game.Settings) { s.CloseWhenSoldOut = false })
		p.sleepUntil(5000)
		p.claimByOthers(10)
		time.Sleep(100 * time.Millisecond)
		p.wantTap(8, game.SoldOut) // as soon as own claims were read
		p.fixture.rooms.HandleEvent(game.Event{Room: code, Claims: &game.Claimed{
			Round: p.round.ID, Left: game.Total{Packets: 6, Cents: 600},
			Claims: []game.Claim{{Player: "somebody", Drop: 1, Cents: 100, Number: 4}},
		}})
		synctest.Wait()
		p.wantTap(8, game.SoldOut)
	})
}

func TestNothingIsToldFromMemoryWhileFrozen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newTestPlayer(t, func(s *game.Settings) { s.CloseWhenSoldOut = false })
		p.sleepUntil(5000)
		p.claimByOthers(10)
		time.Sleep(time.Second)
		p.wantTap(8, game.SoldOut)
		p.fixture.redis.setFrozen(p.round.ID, true)
		time.Sleep(time.Second)
		p.wantTap(8, submitted)
		p.sleepUntil(35_000)
		p.wantTap(8, submitted)
		p.fixture.redis.setFrozen(p.round.ID, false)
		time.Sleep(time.Second)
		p.wantTap(8, game.Late)
	})
}

func TestAClosedRoundTellsWhy(t *testing.T) {
	for reason, want := range map[game.CloseReason]game.Outcome{
		game.BySoldOut: game.SoldOut, game.ByTime: game.Late, game.Stopped: game.Late, game.Interrupted: game.Late,
	} {
		t.Run(string(reason), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newTestPlayer(t)
				p.sleepUntil(5000)
				if reason == game.BySoldOut {
					p.claimByOthers(10) // which closes the round
				} else {
					p.fixture.redis.closeRound(p.round.ID, reason)
				}
				time.Sleep(time.Second)
				p.wantTap(8, want)
			})
		})
	}
}

// Two tabs tap the same drop; the answer to one was lost, but its claim was heard of.
func TestALostAnswerIsWonIfItsClaimWasHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newTestPlayer(t)
		_, other := p.fixture.join(p.fixture.room, game.Player{ID: p.session.player, Nickname: "ann"})
		p.sleepUntil(5000)
		p.wantTap(3, submitted)
		claim := p.fixture.redis.claim(p.round.ID, 3, p.session.player)[0]
		synctest.Wait()
		p.answer(game.Busy)
		want := game.Answer{Outcome: game.Won, Cents: claim.Cents, Number: claim.Number}
		if len(p.answers.all) != 1 || p.answers.all[0] != want {
			t.Errorf("heard %v, want %v", p.answers.all, want)
		}
		if said := claimMessages(t, p.tab); len(said) != 0 {
			t.Errorf("the tapping tab hears %v besides its result", said)
		}
		if said := claimMessages(t, other); len(said) != 1 || said[0].Claim.Drop != 3 {
			t.Errorf("the other tab hears %v", said)
		}
	})
}

// Busy means unknown: a claim that is heard of later overrides it.
func TestAClaimOverridesBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newTestPlayer(t)
		p.sleepUntil(5000)
		p.wantTap(3, submitted)
		p.answer(game.Busy)
		p.fixture.redis.claim(p.round.ID, 3, p.session.player)
		synctest.Wait()
		if said := claimMessages(t, p.tab); len(said) != 1 || said[0].Claim.Drop != 3 {
			t.Errorf("the tab hears %v", said)
		}
		p.wantTap(3, game.Duplicate)
	})
}
