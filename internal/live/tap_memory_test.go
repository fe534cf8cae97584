package live

import (
	"testing"
	"testing/synctest"
	"time"

	"redrain/internal/game"
)

func TestAMissedDropIsMissedFromMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newTestPlayer(t)
		p.sleepUntil(5000)
		p.wantTap(3, submitted)
		p.answer(game.Missed)
		if len(p.answers.all) != 1 || p.answers.all[0].Outcome != game.Missed {
			t.Fatalf("got %v", p.answers.all)
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

func TestOtherAnswersDoNotMakeADropMissed(t *testing.T) {
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

// Like in the script, an own claim of the drop is checked before everything else.
func TestAnOwnClaimIsAnsweredFromMemory(t *testing.T) {
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

// At an even pace a packet is released every 2.7 s. While all released packets are known to be claimed, no tap is submitted.
func TestMissedIsAnsweredWhileEveryReleasedPacketIsClaimed(t *testing.T) {
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
		p.wantTap(3, game.Missed) // answered so before
		p.claimByOthers(1)
		p.wantTap(4, game.Missed)
		if n := len(p.fixture.committer.submitted); n != 2 {
			t.Errorf("%d taps were submitted", n)
		}
	})
}

// In the first second after the start, Redis may still call a tap early.
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

// All events with claims arrived, but the player's own claims could not be read. They may have won before this instance subscribed.
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

// A player's claims only become more. Once there are as many as the round allows, no tap needs to be submitted.
func TestCappedIsAnsweredOnceEveryClaimOfThePlayerIsKnown(t *testing.T) {
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

// There is a gap in the numbers of the claims. One of the missing may be this player's own, so taps are submitted until they are read.
func TestAGapInTheClaimsHasTapsSubmitted(t *testing.T) {
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

// A winner who taps their drop again after the pool is empty must get their own result, not sold_out. So sold_out is answered from
// memory only after the player's claims were read again.
func TestSoldOutIsAnsweredOnceOwnClaimsWereRead(t *testing.T) {
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
		p.fixture.redis.claim(p.round.ID, 7, p.session.player) // its event is lost
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

// A round that is sold out stays sold out, whatever event arrives late.
func TestAnOldEventDoesNotFillThePoolAgain(t *testing.T) {
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

func TestNothingIsAnsweredFromMemoryWhileFrozen(t *testing.T) {
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

func TestTapsOnAClosedRoundGetItsReason(t *testing.T) {
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
