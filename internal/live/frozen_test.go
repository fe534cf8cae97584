package live

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"redrain/internal/game"
	"redrain/internal/wire"
)

// joinEveryRole connects a player, a screen and a host.
func (r *fixture) joinEveryRole() map[string]*recordingClient {
	r.t.Helper()
	all := map[string]*recordingClient{"screen": {}, "host": {}}
	_, all["player"] = r.join(r.room, r.books.Join(code, "ann"))
	r.room.Subscribe(wire.RoleScreen, all["screen"])
	r.room.Subscribe(wire.RoleHost, all["host"])
	return all
}

// wantFrozen checks that these clients were sent whether the round is frozen and why, and that new clients are.
func (r *fixture) wantFrozen(when string, all map[string]*recordingClient, frozen bool, hold game.FreezeReason) {
	r.t.Helper()
	synctest.Wait()
	for kind, m := range all {
		seen := roundChanges(r.t, m)
		if last := seen[len(seen)-1].Round; last.Frozen != frozen || last.Hold != hold {
			r.t.Errorf("%s, %s: frozen %v, hold %q, want %v, %q", when, kind, last.Frozen, last.Hold, frozen, hold)
		}
	}
	for kind, m := range r.joinEveryRole() {
		if welcome := welcomes(r.t, m)[0].Round; welcome.Frozen != frozen || welcome.Hold != hold {
			r.t.Errorf("%s, a new %s: frozen %v, hold %q, want %v, %q", when, kind, welcome.Frozen, welcome.Hold, frozen, hold)
		}
	}
}

// Redis lost the keys of a running round, and pages went on raining. Now everybody is sent within two seconds that it is frozen, and why,
// even while SQL hangs; and when the keys are back, that it goes on.
func TestLostKeysFreezeTheRound(t *testing.T) {
	for name, hung := range map[string]bool{"": false, "while the database hangs": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newFixture(t)
				all := r.joinEveryRole()
				round := r.startRound(newRound())
				sleepUntil(round.StartsAt + 3000)
				bob := r.books.Join(code, "bob")
				r.redis.claim(round.ID, 1, bob.ID)
				time.Sleep(time.Second)
				r.wantFrozen("before", all, false, "")
				heal := func() {}
				if hung {
					heal = r.books.Hang()
				}
				restore := r.redis.loseKeys(round.ID)
				time.Sleep(2 * time.Second)
				r.wantFrozen("without keys", all, true, game.FrozenKeysLost)
				received := tallies(t, all["screen"])
				if last := received[len(received)-1]; last.ClaimedPackets != 1 || len(last.Winners) != 1 || time.Since(time.UnixMilli(int64(last.At))) > 2*time.Second {
					t.Errorf("the tally of a round without keys is %+v", last)
				}
				restore()
				time.Sleep(2 * time.Second)
				r.wantFrozen("with its keys again", all, false, "")
				heal()
				time.Sleep(3 * sqlTimeout)
			})
		})
	}
}

// A round that has no keys yet, or does not need them any more, is not frozen.
func TestRoundsThatNeedNoKeysAreNotFrozen(t *testing.T) {
	for _, phase := range []game.Phase{game.Countdown, game.Closed, game.Settled} {
		t.Run(string(phase), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newFixture(t)
				round := newRound()
				if round.Phase = phase; phase != game.Countdown {
					round.Reason, round.StartsAt, round.EndsAt = game.ByTime, 1, 30_001
				}
				r.books.Keep(round)
				r.room.requestSync()
				all := r.joinEveryRole()
				time.Sleep(5 * time.Second)
				r.wantFrozen(string(phase), all, false, "")
			})
		})
	}
}

// The host interrupts a round whose keys are lost. SQL says that it is over, and it is not frozen any more.
func TestAnInterruptedRoundIsNotFrozen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFixture(t)
		all := r.joinEveryRole()
		round := r.startRound(newRound())
		sleepUntil(round.StartsAt + 3000)
		r.redis.loseKeys(round.ID)
		round.Phase, round.Frozen, round.FreezeReason = game.Raining, true, game.FrozenKeysLost
		r.books.Keep(round)
		time.Sleep(2 * time.Second)
		r.wantFrozen("without keys", all, true, game.FrozenKeysLost)
		round.Phase, round.Reason, round.Frozen, round.FreezeReason = game.Closed, game.Interrupted, false, ""
		r.books.Keep(round)
		r.room.requestSync()
		time.Sleep(100 * time.Millisecond)
		r.wantFrozen("interrupted", all, false, "")
		if seen := roundChanges(t, all["host"]); seen[len(seen)-1].Round.Reason != game.Interrupted {
			t.Errorf("the round is %+v", seen[len(seen)-1])
		}
	})
}

// Only SQL has the reason of a freeze. It may be read before or after the flag in Redis.
func TestTheReasonOfAFreezeComesFromSQL(t *testing.T) {
	for _, reason := range []game.FreezeReason{game.FrozenByHost, game.FrozenClaimsLost, game.FrozenBooksDiffer} {
		t.Run(string(reason), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newFixture(t)
				all := r.joinEveryRole()
				round := r.startRound(newRound())
				sleepUntil(round.StartsAt + 3000)
				heal := r.books.Hang()
				r.redis.setFrozen(round.ID, true)
				time.Sleep(time.Second)
				r.wantFrozen("frozen in redis", all, true, "")
				round.Phase, round.Frozen, round.FreezeReason = game.Raining, true, reason
				r.books.Keep(round)
				heal()
				time.Sleep(time.Second)
				r.wantFrozen("read from SQL", all, true, reason)
				r.redis.withLock(func(redis *fakeRedis) { redis.rounds[round.ID].frozen = false }) // restored from before the freeze
				r.room.requestSync()
				time.Sleep(time.Second)
				r.wantFrozen("frozen in SQL alone", all, true, reason)
				round.Frozen, round.FreezeReason = false, ""
				r.books.Keep(round)
				time.Sleep(2 * time.Second)
				r.wantFrozen("released", all, false, "")
			})
		})
	}
}

// The answer to a tap says that the round is frozen, before the room knows. The room reads again at once.
func TestAFrozenAnswerMakesTheRoomReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFixture(t)
		session, tab := r.join(r.room, r.books.Join(code, "ann"))
		round := r.startRound(newRound())
		sleepUntil(round.StartsAt + 3000)
		r.redis.loseKeys(round.ID)
		answers := &answerRecorder{}
		if _, status := session.Tap(round.ID, 1, tab, answers); status != Submitted {
			t.Fatalf("status %v", status)
		}
		r.committer.answerNext(t, game.Answer{Outcome: game.Frozen})
		time.Sleep(3 * minPause)
		r.wantFrozen("after the answer", map[string]*recordingClient{"player": tab}, true, game.FrozenKeysLost)
		if len(answers.all) != 1 || answers.all[0].Outcome != game.Frozen {
			t.Errorf("the answer is %v", answers.all)
		}
	})
}

// The keys of a round that has been over for long have expired. The pool cannot distinguish that from lost keys.
func TestTapsOnARoundThatIsOverWithoutKeysAreLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFixture(t)
		over := newRound(func(s *game.Settings) { s.Title = "current" })
		over.Phase, over.Reason, over.StartsAt, over.EndsAt = game.Settled, game.ByTime, 1, 30_001
		earlier := over
		earlier.ID = uuid.NewString()
		r.books.Keep(earlier)
		r.books.Keep(over)
		r.room.requestSync()
		time.Sleep(time.Second)
		session, tab := r.join(r.room, r.books.Join(code, "ann"))
		answers := &answerRecorder{}
		if _, status := session.Tap(over.ID, 1, tab, answers); status != Submitted {
			t.Fatalf("status %v", status)
		}
		if _, err := r.room.TapOtherRound(t.Context(), session, earlier.ID, 1, answers); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			r.committer.answerNext(t, game.Answer{Outcome: game.Frozen})
		}
		for _, answer := range answers.all {
			if answer.Outcome != game.Late {
				t.Errorf("a tap on a round that is over was answered %v", answer)
			}
		}
	})
}
