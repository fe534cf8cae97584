package live

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"redrain/internal/game"
	"redrain/internal/wire"
)

// A round appears, starts to rain, is frozen, unfrozen and closed. Everybody is sent each change once, in order.
func TestEveryChangeOfTheRoundIsBroadcastOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFixture(t)
		_, player := r.join(r.room, r.books.Join(code, "ann"))
		host, screen := &recordingClient{}, &recordingClient{}
		r.room.Subscribe(wire.RoleHost, host)
		r.room.Subscribe(wire.RoleScreen, screen)
		round := r.startRound(newRound())
		time.Sleep(time.Second)
		sleepUntil(round.StartsAt + 5000)
		r.redis.setFrozen(round.ID, true)
		time.Sleep(time.Second)
		r.redis.setFrozen(round.ID, false)
		time.Sleep(time.Second)
		r.redis.closeRound(round.ID, game.Stopped)
		time.Sleep(time.Second)
		round.Phase, round.Reason = game.Settled, game.Stopped
		r.books.Keep(round)
		time.Sleep(3 * time.Second)
		want := "[countdown raining raining/frozen raining closed/stopped settled/stopped]"
		for name, m := range map[string]*recordingClient{"player": player, "host": host, "screen": screen} {
			var seen []string
			for _, change := range roundChanges(t, m) {
				text := string(change.Round.Phase)
				if change.Round.Frozen {
					text += "/frozen"
				}
				if change.Round.Reason != "" {
					text += "/" + string(change.Round.Reason)
				}
				if (change.Round.Secret != "") != (change.Round.Phase == game.Settled) {
					t.Errorf("%s: in phase %s the secret is %q", name, change.Round.Phase, change.Round.Secret)
				}
				seen = append(seen, text)
			}
			if fmt.Sprint(seen) != want {
				t.Errorf("%s got %v, want %s", name, seen, want)
			}
		}
	})
}

// The phase changes when Redis' clock says so, within one tick.
func TestTheCountdownEndsOnTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFixture(t)
		screen := &recordingClient{}
		r.room.Subscribe(wire.RoleScreen, screen)
		round := r.startRound(newRound())
		sleepUntil(round.StartsAt + 1000)
		for _, f := range screen.all() {
			if f.kind != "round" || roundChanges(t, &recordingClient{frames: []frame{f}})[0].Round.Phase != game.Raining {
				continue
			}
			if late := f.at.UnixMilli() - int64(round.StartsAt); late < 0 || late > tickInterval.Milliseconds() {
				t.Errorf("raining %d ms after the start", late)
			}
			return
		}
		t.Error("never raining")
	})
}

func TestANewRoundReplacesTheOldOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFixture(t)
		_, m := r.join(r.room, r.books.Join(code, "ann"))
		first := r.startRound(newRound())
		sleepUntil(first.StartsAt + 5000)
		r.redis.closeRound(first.ID, game.Stopped)
		time.Sleep(time.Second)
		second := r.startRound(newRound())
		sleepUntil(second.StartsAt + 1000)
		seen := roundChanges(t, m)
		if last := seen[len(seen)-1].Round; last.ID != second.ID || last.Phase != game.Raining {
			t.Errorf("the last round is %s, %s", last.ID, last.Phase)
		}
		drops := dropMessages(t, m)
		if drops[len(drops)-1].Round != second.ID {
			t.Error("no drops of the second round")
		}
	})
}

// The keys of a round are gone, or it was not opened yet, so only SQL has it.
func TestARoundWithoutKeysIsShownAsSQLHasIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFixture(t)
		_, m := r.join(r.room, r.books.Join(code, "ann"))
		round := newRound() // begun in SQL, and not opened yet
		r.books.Keep(round)
		time.Sleep(3 * time.Second)
		round.Phase, round.Reason, round.StartsAt, round.EndsAt = game.Closed, game.Interrupted, 1, 30_001
		r.books.Keep(round)
		time.Sleep(3 * time.Second)
		seen := roundChanges(t, m)
		if len(seen) != 2 || seen[0].Round.Phase != game.Countdown || seen[1].Round.Reason != game.Interrupted {
			t.Errorf("got %+v", seen)
		}
	})
}

// A client that is there from the start is sent every drop once, at least half a second before it falls and not much earlier. A client
// that connects later is sent in welcome the drops that are falling or soon will be, and then all later ones; those that were being
// staggered just then are sent twice.
func TestDropsAreSentAheadAndOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFixture(t)
		_, early := r.join(r.room, r.books.Join(code, "ann"))
		round := r.startRound(newRound(func(s *game.Settings) { s.BombPercent = 20 }))
		sleepUntil(round.StartsAt + 12_345)
		_, late := r.join(r.room, r.books.Join(code, "bob"))
		sleepUntil(round.EndsAt + 5000)
		all := game.NewSchedule(round.Settings, round.Secret).Between(-1, 1<<40)
		seen := make(map[game.DropID]int)
		for _, f := range early.all() {
			if f.kind != "drops" {
				continue
			}
			for _, drop := range dropMessages(t, &recordingClient{frames: []frame{f}})[0].Drops {
				seen[drop.Drop]++
				ahead := int64(round.StartsAt) + drop.AtMS - f.at.UnixMilli()
				if ahead < 500 || ahead > 2600 {
					t.Errorf("drop %d comes %d ms before it falls", drop.Drop, ahead)
				}
			}
		}
		for _, drop := range all {
			if seen[drop.ID] != 1 {
				t.Errorf("drop %d was sent %d times", drop.ID, seen[drop.ID])
			}
		}
		known := make(map[game.DropID]int)
		for _, drop := range welcomes(t, late)[0].Drops {
			known[drop.Drop]++
			if drop.AtMS <= 12_345-dropFallMS {
				t.Errorf("the welcome shows drop %d, which fell long ago", drop.Drop)
			}
		}
		for _, message := range dropMessages(t, late) {
			for _, drop := range message.Drops {
				known[drop.Drop]++
			}
		}
		for _, drop := range all {
			if want := drop.AtMS > 12_345-dropFallMS; (known[drop.ID] >= 1) != want || known[drop.ID] > 2 {
				t.Errorf("who came after 12.3 s knows drop %d at %d ms %d times", drop.ID, drop.AtMS, known[drop.ID])
			}
		}
	})
}

// An instance that loads a round in its middle does not send drops that have fallen long ago.
func TestAnInstanceThatJoinsARoundLateSendsOnlyFallingDrops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFixture(t)
		round := r.startRound(newRound())
		other := newInstance(t, r.redis, r.books, "two")
		sleepUntil(round.StartsAt + 20_000)
		screen := &recordingClient{}
		other.acquireRoom().Subscribe(wire.RoleScreen, screen)
		sleepUntil(round.StartsAt + 22_000)
		known := make(map[game.DropID]bool)
		for _, drop := range welcomes(t, screen)[0].Drops {
			known[drop.Drop] = true
		}
		for _, message := range dropMessages(t, screen) {
			for _, drop := range message.Drops {
				known[drop.Drop] = true
			}
		}
		for _, drop := range game.NewSchedule(round.Settings, round.Secret).Between(-1, 22_000) {
			if want := drop.AtMS > 20_000-dropFallMS; known[drop.ID] != want {
				t.Errorf("drop %d at %d ms: known %v", drop.ID, drop.AtMS, known[drop.ID])
			}
		}
	})
}

// Clients connect and disconnect amid many claims, tallies, notices and phases. Each is sent welcome first. Nothing after it is lost or
// older than it, and broadcasts reach all clients in the same order.
func TestWelcomeIsCompleteInAStorm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFixture(t)
		ann := r.books.Join(code, "ann")
		round := r.startRound(newRound(func(s *game.Settings) { s.Packets, s.Total, s.Cap, s.Countdown = 2000, 200_000, 100, 0 }))
		time.Sleep(time.Second)
		done := make(chan struct{})
		var people sync.WaitGroup
		var mu sync.Mutex
		var stayed []*recordingClient
		for range 6 {
			people.Go(func() {
				for n := 0; ; n++ {
					select {
					case <-done:
						return
					default:
					}
					session, m := r.join(r.room, ann)
					if n%3 == 0 {
						r.room.Leave(session, m)
					} else {
						mu.Lock()
						stayed = append(stayed, m)
						mu.Unlock()
					}
					time.Sleep(29 * time.Millisecond)
				}
			})
		}
		for n := range 150 {
			r.redis.claim(round.ID, game.DropID(n+1), ann.ID, "somebody") //nolint:gosec // small
			r.redis.withLock(func(redis *fakeRedis) {
				redis.publish(game.Event{Room: code, Notice: wire.Encode(wire.Notice{Code: fmt.Sprint(n)})})
			})
			time.Sleep(10 * time.Millisecond)
		}
		r.redis.closeRound(round.ID, game.Stopped)
		time.Sleep(2 * time.Second)
		close(done)
		people.Wait()
		synctest.Wait()
		if len(stayed) < 100 {
			t.Fatalf("only %d came", len(stayed))
		}
		for _, m := range stayed {
			wantCompleteAndInOrder(t, m, 150)
		}
	})
}

// wantCompleteAndInOrder checks all frames that one tab of a player with so many claims was sent.
func wantCompleteAndInOrder(t *testing.T, m *recordingClient, claims int) {
	t.Helper()
	received := m.all()
	if received[0].kind != "welcome" || len(welcomes(t, m)) != 1 {
		t.Fatalf("the first message is a %s", received[0].kind)
	}
	welcome := welcomes(t, m)[0]
	known := make(map[int]int)
	for _, claim := range welcome.Claims {
		known[claim.Number]++
	}
	for _, message := range claimMessages(t, m) {
		known[message.Claim.Number]++
	}
	for number, times := range known {
		if times != 1 {
			t.Errorf("claim %d was sent %d times", number, times)
		}
	}
	if len(known) != claims {
		t.Errorf("%d claims are known of %d, %d of them by welcome", len(known), claims, len(welcome.Claims))
	}
	last := -1
	for _, notice := range noticeMessages(t, m) {
		var n int
		if _, err := fmt.Sscan(notice.Code, &n); err != nil || (last >= 0 && n != last+1) {
			t.Fatalf("notice %s after %d", notice.Code, last)
		}
		last = n
	}
	tally := welcome.Tally
	for _, next := range tallies(t, m) {
		if next.Epoch < tally.Epoch || (next.Epoch == tally.Epoch && next.Serial < tally.Serial) {
			t.Errorf("tally %d.%d after %d.%d", next.Epoch, next.Serial, tally.Epoch, tally.Serial)
		}
		tally = next
	}
	phase := welcome.Round.Phase
	for _, change := range roundChanges(t, m) {
		if phase.Over() {
			t.Errorf("phase %s after %s", change.Round.Phase, phase)
		}
		phase = change.Round.Phase
	}
	if phase != game.Closed {
		t.Errorf("the last phase sent is %s", phase)
	}
}
