package live

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"redrain/internal/game"
	"redrain/internal/wire"
)

// A database that hung stopped the Redis sync loop: no tally, no report, no catching up, and the lease was lost. Now SQL is read by a loop
// of its own, and everything else goes on, with the nicknames that are known.
func TestAHungDatabaseDoesNotStopTheRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var hangs atomic.Bool
		r := newFixture(t, func(o *Options) {
			o.Blocked = func(ctx context.Context, _ string) ([]string, error) {
				if !hangs.Load() {
					return nil, nil
				}
				return nil, <-hangUntilDone(ctx)
			}
			o.SoldOut = func(ctx context.Context, _ string) error { return <-hangUntilDone(ctx) }
		})
		ann, bob, eve := r.books.Join(code, "ann"), r.books.Join(code, "bob"), r.books.Join(code, "eve")
		_, tab := r.join(r.room, ann) // bob and eve play elsewhere
		screen := &recordingClient{}
		r.room.Subscribe(wire.RoleScreen, screen)
		round := r.startRound(newRound())
		sleepUntil(round.StartsAt + 2000)
		r.redis.claim(round.ID, 1, bob.ID)
		time.Sleep(time.Second)
		hangs.Store(true)
		heal := r.books.Hang()
		from := time.Now()
		r.redis.withLock(func(*fakeRedis) { r.pool.subscription.drops = func(h game.Event) bool { return h.Claims != nil } })
		for drop := range game.DropID(20) {
			if drop%3 == 0 && drop < 15 {
				r.redis.claim(round.ID, 2+drop, []string{ann.ID, eve.ID}[drop%2])
			}
			time.Sleep(500 * time.Millisecond)
		}
		wantClaimsAfter(t, tab, 3, 0)
		if count, _, longest := frameGaps(screen, "tally", from); count < 6 || longest > 2*time.Second {
			t.Errorf("%d tallies in ten seconds, up to %v apart", count, longest)
		}
		wantPace(t, r.redis, "report", from, 3*activeInterval)
		wantRanks(t, screen, map[string]string{ann.ID: "ann", bob.ID: "bob", eve.ID: ""})

		r.redis.closeRound(round.ID, game.Stopped)
		time.Sleep(100 * time.Millisecond)
		if seen := roundChanges(t, tab); seen[len(seen)-1].Round.Phase != game.Closed {
			t.Error("the end of the round is not sent")
		}
		heal()
		time.Sleep(sqlTimeout * 3)
		wantRanks(t, screen, map[string]string{ann.ID: "ann", bob.ID: "bob", eve.ID: "eve"})
	})
}

// hangUntilDone returns an error only when ctx ends.
func hangUntilDone(ctx context.Context) <-chan error {
	ended := make(chan error)
	go func() {
		<-ctx.Done()
		ended <- ctx.Err()
	}()
	return ended
}

// wantPace checks that two calls of a kind were never further apart than most.
func wantPace(t *testing.T, redis *fakeRedis, what string, from time.Time, most time.Duration) {
	t.Helper()
	redis.withLock(func(redis *fakeRedis) {
		last := from
		for _, at := range append(redis.calls[what], time.Now()) {
			if at.After(from) && at.Sub(last) > most {
				t.Errorf("%v without a %s", at.Sub(last), what)
			}
			if at.After(from) {
				last = at
			}
		}
	})
}

// wantRanks checks the players and nicknames on the leaderboard of the last tally.
func wantRanks(t *testing.T, m *recordingClient, names map[string]string) {
	t.Helper()
	received := tallies(t, m)
	if len(received) == 0 {
		t.Fatal("no tally was sent")
	}
	last := received[len(received)-1]
	if len(last.Top) != len(names) {
		t.Errorf("the board is %+v", last.Top)
	}
	for _, rank := range last.Top {
		if rank.Nickname != names[rank.Player] {
			t.Errorf("%s is shown as %q, want %q", rank.Player, rank.Nickname, names[rank.Player])
		}
	}
}

// A failed query removed the nicknames that were known, and delayed the tally. Now the tally is sent with the nicknames that are known.
func TestKnownNicknamesAreShownWhileTheyCannotBeReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFixture(t)
		screen := &recordingClient{}
		r.room.Subscribe(wire.RoleScreen, screen)
		bob := r.books.Join(code, "bob")
		round := r.startRound(newRound(func(s *game.Settings) { s.Duration = 300_000 }))
		sleepUntil(round.StartsAt + 2000)
		r.redis.claim(round.ID, 1, bob.ID)
		time.Sleep(time.Second)
		r.books.Fail(game.ErrBusy)
		r.rooms.HandleEvent(game.Event{Room: code, ForHosts: "players_changed"}) // somebody may have been renamed
		r.redis.claim(round.ID, 2, bob.ID)
		time.Sleep(2 * nicknameLifetime)
		wantRanks(t, screen, map[string]string{bob.ID: "bob"})
		received := tallies(t, screen)
		if last := received[len(received)-1]; last.ClaimedPackets != 2 {
			t.Errorf("the last tally is %+v", last)
		}
	})
}

// A round is started while this instance's database hangs. Pages keep what they show, and the round is found afterwards.
func TestARoundStartedWhileTheDatabaseHangsIsFoundAfterwards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFixture(t)
		_, tab := r.join(r.room, r.books.Join(code, "ann"))
		time.Sleep(time.Second)
		heal := r.books.Hang()
		r.startRound(newRound())
		time.Sleep(5 * time.Second)
		if seen := roundChanges(t, tab); len(seen) != 0 {
			t.Errorf("sent %+v", seen)
		}
		heal()
		time.Sleep(time.Second)
		if seen := roundChanges(t, tab); len(seen) == 0 || seen[len(seen)-1].Round.Phase != game.Countdown {
			t.Errorf("sent %+v", seen)
		}
	})
}

// A Redis that does not reply holds up one step of the loop for redisTimeout, not for as long as the driver waits.
func TestEveryStepOfTheRedisSyncLoopHasATimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFixture(t)
		r.startRound(newRound())
		time.Sleep(time.Second)
		r.redis.withLock(func(redis *fakeRedis) {
			redis.hangs = func(what string) bool { return what == "snapshot" || what == "claims" }
		})
		from := time.Now()
		time.Sleep(20 * time.Second)
		wantPace(t, r.redis, "report", from, 4*redisTimeout) // refresh, catching up, counting
		r.redis.withLock(func(redis *fakeRedis) { redis.hangs = nil })
		time.Sleep(redisTimeout)
	})
}

func TestNicknamesAreDroppedOnlyWhenThereAreTooMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &nicknameCache{}
		learn := func(count, from int) {
			players, found := []string{}, map[string]string{}
			for i := range count {
				player := string(rune('一' + from + i))
				players, found[player] = append(players, player), player
			}
			n.request(players)
			n.store(time.Now(), players, found)
		}
		learn(maxNicknames, 0)
		time.Sleep(2 * nicknameLifetime)
		if _, known := n.get("一"); !known {
			t.Error("a name was forgotten though there is room for it")
		}
		learn(1, maxNicknames)
		if len(n.known) != 1 || !n.waitingSince.IsZero() {
			t.Errorf("%d names are known, since %v one is awaited", len(n.known), n.waitingSince)
		}
	})
}

// A player is renamed during a query. Its result may be the old nickname, so it is read again.
func TestARenameDuringAQueryIsReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &nicknameCache{}
		n.request([]string{"p"})
		queriedAt := time.Now()
		time.Sleep(time.Millisecond)
		n.invalidate()
		time.Sleep(time.Millisecond)
		n.store(queriedAt, []string{"p"}, map[string]string{"p": "rude"})
		if !n.request([]string{"p"}) {
			t.Error("the name is not read again")
		}
	})
}
