package live

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"redrain/internal/game"
)

// A seat's claims count as known only once they were read in the round at hand. Nobody read them for who was there before the
// round began, so that instance asked Redis for every tap of theirs.
func TestMissedIsToldToThoseWhoWereThereBeforeTheRound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		seat, tab := r.sit(r.room, r.books.Join(code, "ann"))
		first := r.begin(plan())
		time.Sleep(time.Minute)
		r.world.close(first.ID, game.ByTime)
		round := r.begin(plan(func(s *game.Settings) { s.Pace = game.PaceEven }))
		p := &tapper{t, r, seat, tab, &answers{}, round}
		p.at(2000)
		p.claimed(1)
		p.want(2, game.Missed)
	})
}

// A snapshot is a little old when it is spoken of. One from just before the start put a raining round back into its countdown.
func TestAnOldSnapshotDoesNotTurnBackThePhase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		_, tab := r.sit(r.room, r.books.Join(code, "ann"))
		round := r.begin(plan())
		synctest.Wait()
		old, err := r.side.Snapshot(t.Context(), round.ID, 0, 0)
		if err != nil || old.Phase != game.Countdown {
			t.Fatal(old, err)
		}
		until(round.StartsAt + 500)
		synctest.Wait()
		if err := r.room.do(t.Context(), func() { r.room.stands(round, old) }); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		var phases []game.Phase
		for _, change := range changes(t, tab) {
			phases = append(phases, change.Round.Phase)
		}
		if len(phases) != 2 || phases[0] != game.Countdown || phases[1] != game.Raining {
			t.Errorf("the page saw %v, want the countdown and then the rain", phases)
		}
	})
}

// A round that this instance has not heard of yet is looked up; bombs won in it, and drops that were not falling yet.
func TestATapOnARoundJustBegunIsJudgedToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		seat, _ := r.sit(r.room, r.books.Join(code, "ann"))
		r.world.set(func(*world) { r.side.ear.deaf = func(game.Event) bool { return true } })
		round := r.begin(plan(func(s *game.Settings) { s.BombPercent, s.Countdown = 50, 0 }))
		time.Sleep(300 * time.Millisecond)
		schedule := game.NewSchedule(round.Settings, round.Secret)
		seen := make(map[game.DropKind]bool)
		for id := game.DropID(1); id <= 40; id++ {
			drop, _ := schedule.Find(id)
			asked := len(r.committer.asked)
			answer, err := r.room.TapOther(t.Context(), seat, round.ID, id, &answers{})
			if err != nil {
				t.Fatal(err)
			}
			want := game.Outcome("")
			switch {
			case drop.AtMS > 300+r.clock.spread:
				want = game.UnknownDrop
			case drop.Kind == game.KindBomb:
				want = game.Bomb
			}
			if answer.Outcome != want || (len(r.committer.asked) > asked) != (want == "") {
				t.Errorf("drop %d, a %s at %d ms, tapped at 300: %q", id, drop.Kind, drop.AtMS, answer.Outcome)
			}
			seen[drop.Kind] = true
		}
		if !seen[game.KindBomb] || !seen[game.KindPacket] {
			t.Error("the schedule has only one kind")
		}
	})
}

// Taps on a round that is long over made the room read everything again, as often as anybody liked to tap.
func TestTapsOnAnOldRoundDoNotMakeTheRoomReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		seat, _ := r.sit(r.room, r.books.Join(code, "ann"))
		old := plan()
		old.Phase, old.StartsAt, old.EndsAt = game.Closed, 1, 30_001
		r.books.Keep(old)
		r.begin(plan())
		time.Sleep(3 * time.Second)
		before := r.world.asked("snapshot")
		for range 100 {
			if _, err := r.room.TapOther(t.Context(), seat, old.ID, 1, &answers{}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(20 * time.Millisecond)
		}
		// The tally takes one snapshot every 250 ms or so, and where the round stands is read every 2 s at the latest.
		if more := r.world.asked("snapshot") - before; more > 12 {
			t.Errorf("%d snapshots in two seconds of taps on an old round", more)
		}
	})
}

// The room's claims were read for the seats that were there before the snapshot. Who sat down in between, and whose claim was
// not heard of, missed it for good: the snapshot counted it as known.
func TestWhoSitsDownWhileClaimsAreReadMissesNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		ann := r.books.Join(code, "ann")
		round := r.begin(plan())
		until(round.StartsAt + 5000)
		synctest.Wait()
		held, sat := make(chan struct{}), make(chan struct{})
		r.world.set(func(w *world) {
			w.before = func(what string) {
				if what == "snapshot" && !r.room.lost.Load() {
					w.set(func(w *world) { w.before = nil })
					close(held)
					<-sat
				}
			}
			r.side.ear.deaf = func(h game.Event) bool { return h.Claims != nil }
		})
		r.room.lost.Store(true)
		<-held
		_, tab := r.sit(r.room, ann)
		r.world.claim(round.ID, 3, ann.ID) // not heard
		r.world.set(func(*world) { r.side.ear.deaf = nil })
		close(sat)
		time.Sleep(3 * time.Second)
		if said := claimsOf(t, tab); len(said) != 1 {
			t.Errorf("the page was told of %v", said)
		}
	})
}

// Claims were read in one round while another began: what was heard of the new one was forgotten.
func TestClaimsReadWhileAnotherRoundBeginsDoNotEraseIts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		ann := r.books.Join(code, "ann")
		first := r.begin(plan())
		until(first.StartsAt + 5000)
		synctest.Wait()
		held, let := make(chan struct{}), make(chan struct{})
		r.world.set(func(w *world) {
			w.before = func(what string) {
				if what == "claims" {
					w.set(func(w *world) { w.before = nil })
					close(held)
					<-let
				}
			}
		})
		tab, sat := &member{}, make(chan struct{})
		go func() {
			defer close(sat)
			if _, err := r.room.Sit(context.Background(), ann.ID, ann.Nickname, tab); err != nil {
				t.Error(err)
			}
		}()
		<-held
		r.world.close(first.ID, game.Stopped)
		second := r.begin(plan(func(s *game.Settings) { s.Countdown = 0 }))
		time.Sleep(time.Second)
		r.world.claim(second.ID, 3, ann.ID)
		synctest.Wait()
		close(let)
		<-sat
		said := welcomes(t, tab)[0]
		if said.Round.ID != second.ID || len(said.Claims) != 1 || said.Claims[0].Drop != 3 {
			t.Errorf("welcome with round %s and claims %v, want %s and one", said.Round.ID, said.Claims, second.ID)
		}
	})
}

// The seat of somebody who comes back after more than a minute was swept while their claims were read; a claim that was heard of
// in that moment went to nobody.
func TestASeatIsNotSweptWhileSomebodySitsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		ann := r.books.Join(code, "ann")
		seat, tab := r.sit(r.room, ann)
		r.room.Rise(seat, tab)
		time.Sleep(seatFor)
		r.begin(plan(func(s *game.Settings) { s.Countdown = 0 }))
		synctest.Wait()
		held, let := make(chan struct{}), make(chan struct{})
		r.room.mu.Lock() // as old as it can be without being swept yet
		if r.room.seats[ann.ID] == nil {
			r.room.seats[ann.ID] = seat
		}
		seat.empty = time.Now().Add(-seatFor - time.Second)
		r.room.mu.Unlock()
		r.world.set(func(w *world) {
			w.before = func(what string) {
				if what == "claims" {
					w.set(func(w *world) { w.before = nil })
					close(held)
					<-let
				}
			}
		})
		tab = &member{}
		sat := make(chan struct{})
		go func() {
			defer close(sat)
			if _, err := r.room.Sit(context.Background(), ann.ID, ann.Nickname, tab); err != nil {
				t.Error(err)
			}
		}()
		<-held
		time.Sleep(time.Second) // a report, which sweeps
		r.room.mu.Lock()
		if r.room.seats[ann.ID] == nil {
			t.Error("the seat was swept")
		}
		r.room.mu.Unlock()
		close(let)
		<-sat
	})
}

// Every message of Redis' was lost for a while, the tally's too: only a refresh saw that packets were gone, and it did not look
// for whose they were.
func TestASilentLossIsNoticedWithinTwoSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		ann := r.books.Join(code, "ann")
		_, tab := r.sit(r.room, ann)
		round := r.begin(plan())
		r.world.set(func(*world) {
			r.side.ear.deaf = func(h game.Event) bool { return h.Claims != nil || h.Tally != nil }
		})
		for _, ms := range []int64{3100, 7350, 11_770, 15_930} {
			until(round.StartsAt + game.Moment(ms))
			before := len(claimsOf(t, tab))
			r.world.claim(round.ID, game.DropID(ms/1000), ann.ID)
			time.Sleep(2 * time.Second)
			synctest.Wait()
			if said := claimsOf(t, tab); len(said) != before+1 {
				t.Fatalf("two seconds after a claim that nobody heard of: %v", said)
			}
		}
	})
}
