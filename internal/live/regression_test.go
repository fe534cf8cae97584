package live

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"redrain/internal/game"
)

// A session's claims count as known only once they were read in the current round. They were not read for players who had joined before
// the round started, so all their taps were submitted.
func TestMissedIsAnsweredToPlayersWhoJoinedBeforeTheRound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFixture(t)
		session, tab := r.join(r.room, r.books.Join(code, "ann"))
		first := r.startRound(newRound())
		time.Sleep(time.Minute)
		r.redis.closeRound(first.ID, game.ByTime)
		round := r.startRound(newRound(func(s *game.Settings) { s.Pace = game.PaceEven }))
		p := &testPlayer{t, r, session, tab, &answerRecorder{}, round}
		p.sleepUntil(2000)
		p.claimByOthers(1)
		p.wantTap(2, game.Missed)
	})
}

// A snapshot is a little old when it is applied. One from just before the start put a raining round back into its countdown.
func TestAnOldSnapshotDoesNotTurnBackThePhase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFixture(t)
		_, tab := r.join(r.room, r.books.Join(code, "ann"))
		round := r.startRound(newRound())
		synctest.Wait()
		old, err := r.pool.Snapshot(t.Context(), round.ID, 0, 0)
		if err != nil || old.Phase != game.Countdown {
			t.Fatal(old, err)
		}
		sleepUntil(round.StartsAt + 500)
		synctest.Wait()
		if err := r.room.runInBroadcastLoop(t.Context(), func() { r.room.applySnapshot(round, old) }); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		var phases []game.Phase
		for _, change := range roundChanges(t, tab) {
			phases = append(phases, change.Round.Phase)
		}
		if len(phases) != 2 || phases[0] != game.Countdown || phases[1] != game.Raining {
			t.Errorf("the page saw %v, want the countdown and then the rain", phases)
		}
	})
}

// A tap on a round that this instance does not know yet has the round looked up. Without the checks, bombs and drops that had not fallen yet
// won.
func TestATapOnARoundJustStartedIsChecked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFixture(t)
		session, _ := r.join(r.room, r.books.Join(code, "ann"))
		r.redis.withLock(func(*fakeRedis) { r.pool.subscription.drops = func(game.Event) bool { return true } })
		round := r.startRound(newRound(func(s *game.Settings) { s.BombPercent, s.Countdown = 50, 0 }))
		time.Sleep(300 * time.Millisecond)
		schedule := game.NewSchedule(round.Settings, round.Secret)
		seen := make(map[game.DropKind]bool)
		for id := game.DropID(1); id <= 40; id++ {
			drop, _ := schedule.Find(id)
			before := len(r.committer.submitted)
			answer, err := r.room.TapOtherRound(t.Context(), session, round.ID, id, &answerRecorder{})
			if err != nil {
				t.Fatal(err)
			}
			want := game.Outcome("")
			if drop.AtMS > 300+r.clock.spread {
				want = game.UnknownDrop
			}
			if answer.Outcome != want || (len(r.committer.submitted) > before) != (want == "") {
				t.Errorf("drop %d, a %s at %d ms, tapped at 300: %q", id, drop.Kind, drop.AtMS, answer.Outcome)
			}
			seen[drop.Kind] = true
		}
		if !seen[game.KindBomb] || !seen[game.KindPacket] {
			t.Error("the schedule has only one kind")
		}
	})
}

// Each tap on a round that was over for long made the room read everything again.
func TestTapsOnAnOldRoundDoNotMakeTheRoomReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFixture(t)
		session, _ := r.join(r.room, r.books.Join(code, "ann"))
		old := newRound()
		old.Phase, old.StartsAt, old.EndsAt = game.Closed, 1, 30_001
		r.books.Keep(old)
		r.startRound(newRound())
		time.Sleep(3 * time.Second)
		before := r.redis.callCount("snapshot")
		for range 100 {
			if _, err := r.room.TapOtherRound(t.Context(), session, old.ID, 1, &answerRecorder{}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(20 * time.Millisecond)
		}
		// The tally takes one snapshot every 250 ms or so, and where the round stands is read every 2 s at the latest.
		if more := r.redis.callCount("snapshot") - before; more > 12 {
			t.Errorf("%d snapshots in two seconds of taps on an old round", more)
		}
	})
}

// A catch-up read the claims of the sessions from before its snapshot. If a player joined in between, and the event of their claim was lost,
// they missed the claim for good, because the snapshot counted it as known.
func TestAPlayerWhoJoinsDuringACatchUpMissesNoClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFixture(t)
		ann := r.books.Join(code, "ann")
		round := r.startRound(newRound())
		sleepUntil(round.StartsAt + 5000)
		synctest.Wait()
		reached, joined := make(chan struct{}), make(chan struct{})
		r.redis.withLock(func(redis *fakeRedis) {
			redis.before = func(what string) {
				if what == "snapshot" && !r.room.claimsMissed.Load() {
					redis.withLock(func(redis *fakeRedis) { redis.before = nil })
					close(reached)
					<-joined
				}
			}
			r.pool.subscription.drops = func(h game.Event) bool { return h.Claims != nil }
		})
		r.room.claimsMissed.Store(true)
		<-reached
		_, tab := r.join(r.room, ann)
		r.redis.claim(round.ID, 3, ann.ID) // its event is lost
		r.redis.withLock(func(*fakeRedis) { r.pool.subscription.drops = nil })
		close(joined)
		time.Sleep(3 * time.Second)
		if sent := claimMessages(t, tab); len(sent) != 1 {
			t.Errorf("the page was sent %v", sent)
		}
	})
}

// A session's claims were read in one round while another one started. Claims of the new one that had arrived were lost.
func TestClaimsReadWhileAnotherRoundStartsDoNotEraseItsClaims(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFixture(t)
		ann := r.books.Join(code, "ann")
		first := r.startRound(newRound())
		sleepUntil(first.StartsAt + 5000)
		synctest.Wait()
		reached, release := make(chan struct{}), make(chan struct{})
		r.redis.withLock(func(redis *fakeRedis) {
			redis.before = func(what string) {
				if what == "claims" {
					redis.withLock(func(redis *fakeRedis) { redis.before = nil })
					close(reached)
					<-release
				}
			}
		})
		tab, joined := &recordingClient{}, make(chan struct{})
		go func() {
			defer close(joined)
			if _, err := r.room.Join(context.Background(), ann.ID, ann.Nickname, tab); err != nil {
				t.Error(err)
			}
		}()
		<-reached
		r.redis.closeRound(first.ID, game.Stopped)
		second := r.startRound(newRound(func(s *game.Settings) { s.Countdown = 0 }))
		time.Sleep(time.Second)
		r.redis.claim(second.ID, 3, ann.ID)
		synctest.Wait()
		close(release)
		<-joined
		welcome := welcomes(t, tab)[0]
		if welcome.Round.ID != second.ID || len(welcome.Claims) != 1 || welcome.Claims[0].Drop != 3 {
			t.Errorf("welcome with round %s and claims %v, want %s and one", welcome.Round.ID, welcome.Claims, second.ID)
		}
	})
}

// The session of a player who came back after more than a minute expired while their claims were read, so a claim that arrived in that moment
// was not sent to them.
func TestASessionDoesNotExpireWhileItsPlayerJoins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFixture(t)
		ann := r.books.Join(code, "ann")
		session, tab := r.join(r.room, ann)
		r.room.Leave(session, tab)
		time.Sleep(sessionIdleTimeout)
		r.startRound(newRound(func(s *game.Settings) { s.Countdown = 0 }))
		synctest.Wait()
		reached, release := make(chan struct{}), make(chan struct{})
		r.room.mu.Lock() // as old as it can be without being swept yet
		if r.room.sessions[ann.ID] == nil {
			r.room.sessions[ann.ID] = session
		}
		session.idleSince = time.Now().Add(-sessionIdleTimeout - time.Second)
		r.room.mu.Unlock()
		r.redis.withLock(func(redis *fakeRedis) {
			redis.before = func(what string) {
				if what == "claims" {
					redis.withLock(func(redis *fakeRedis) { redis.before = nil })
					close(reached)
					<-release
				}
			}
		})
		tab = &recordingClient{}
		joined := make(chan struct{})
		go func() {
			defer close(joined)
			if _, err := r.room.Join(context.Background(), ann.ID, ann.Nickname, tab); err != nil {
				t.Error(err)
			}
		}()
		<-reached
		time.Sleep(time.Second) // a report, which removes expired sessions
		r.room.mu.Lock()
		if r.room.sessions[ann.ID] == nil {
			t.Error("the session expired")
		}
		r.room.mu.Unlock()
		close(release)
		<-joined
	})
}

// All events were lost for a while, tallies too. Only a snapshot showed that there were claims, and their players were not looked for.
func TestLostEventsAreNoticedWithinTwoSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFixture(t)
		ann := r.books.Join(code, "ann")
		_, tab := r.join(r.room, ann)
		round := r.startRound(newRound())
		r.redis.withLock(func(*fakeRedis) {
			r.pool.subscription.drops = func(h game.Event) bool { return h.Claims != nil || h.Tally != nil }
		})
		for _, ms := range []int64{3100, 7350, 11_770, 15_930} {
			sleepUntil(round.StartsAt + game.Moment(ms))
			before := len(claimMessages(t, tab))
			r.redis.claim(round.ID, game.DropID(ms/1000), ann.ID)
			time.Sleep(2 * time.Second)
			synctest.Wait()
			if sent := claimMessages(t, tab); len(sent) != before+1 {
				t.Fatalf("two seconds after a claim whose event was lost: %v", sent)
			}
		}
	})
}
