package live

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"redrain/internal/game"
	"redrain/internal/wire"
)

// frameGaps returns how many frames of a kind a client was sent from a moment on, and the shortest and longest times between them.
func frameGaps(m *recordingClient, kind string, from time.Time) (count int, shortest, longest time.Duration) {
	shortest = time.Hour
	last := from
	for _, f := range m.all() {
		if f.kind != kind || f.at.Before(from) {
			continue
		}
		if count > 0 {
			shortest = min(shortest, f.at.Sub(last))
		}
		longest = max(longest, f.at.Sub(last))
		count, last = count+1, f.at
	}
	return count, shortest, longest
}

// Hosts and screens are sent up to four tallies a second while something changes, and players one. Otherwise both are sent at least one
// in two seconds.
func TestThePaceOfTallies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFixture(t)
		session, player := r.join(r.room, r.books.Join(code, "ann"))
		screen := &recordingClient{}
		r.room.Subscribe(wire.RoleScreen, screen)
		time.Sleep(5 * time.Second)
		check := func(what string, m *recordingClient, from time.Time, least, most int, apart, longest time.Duration) {
			t.Helper()
			count, shortest, longestGap := frameGaps(m, "tally", from)
			if count < least || count > most || shortest < apart || longestGap > longest {
				t.Errorf("%s: %d tallies, %v to %v apart", what, count, shortest, longestGap)
			}
		}
		from := time.Now()
		time.Sleep(20 * time.Second)
		check("screen, idle room", screen, from, 10, 16, time.Second, 2*time.Second)
		check("player, idle room", player, from, 9, 16, time.Second, 3*time.Second)
		round := r.startRound(newRound())
		sleepUntil(round.StartsAt + 1000)
		from = time.Now()
		for range 1000 {
			session.Tap(round.ID, 1, player, &answerRecorder{})
			time.Sleep(10 * time.Millisecond)
		}
		check("screen in the rain", screen, from, 30, 40, 250*time.Millisecond, 400*time.Millisecond)
		check("player in the rain", player, from, 9, 11, 900*time.Millisecond, 1200*time.Millisecond)
	})
}

// A tally is sent to players over a second, and not to thousands of phones at once.
func TestTalliesToPlayersAreStaggered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFixture(t)
		var clients []*recordingClient
		for n := range 200 {
			_, m := r.join(r.room, r.books.Join(code, fmt.Sprint("player ", n)))
			clients = append(clients, m)
		}
		time.Sleep(5 * time.Second)
		from := time.Now()
		r.redis.withLock(func(redis *fakeRedis) {
			redis.publish(game.Event{Room: code, Tally: wire.Encode(wire.Tally{Epoch: 1 << 60, Serial: 1})})
		})
		time.Sleep(1100 * time.Millisecond)
		moments := make(map[time.Duration]int)
		for n, m := range clients {
			count := 0
			for _, f := range m.all() {
				if f.kind == "tally" && f.at.After(from) {
					moments[f.at.Sub(from)]++
					count++
				}
			}
			if count != 1 {
				t.Errorf("player %d got it %d times", n, count)
			}
		}
		if len(moments) != shardCount {
			t.Errorf("sent in %d moments, want %d", len(moments), shardCount)
		}
		for moment, count := range moments {
			if count != len(clients)/shardCount {
				t.Errorf("%d players got it after %v, want %d", count, moment, len(clients)/shardCount)
			}
		}
	})
}

func TestOldTalliesAreIgnored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFixture(t)
		screen := &recordingClient{}
		r.room.Subscribe(wire.RoleScreen, screen)
		const epoch = 1 << 60
		time.Sleep(time.Second)
		before := len(tallies(t, screen))
		r.redis.withLock(func(redis *fakeRedis) { redis.leaseUntil, redis.holder = time.Now().Add(time.Hour), "somebody else" })
		for _, number := range [][2]int64{{0, 5}, {0, 4}, {0, 5}, {-1, 9}, {1, 1}, {0, 6}, {1, 1}, {1, 2}} {
			r.redis.withLock(func(redis *fakeRedis) {
				redis.publish(game.Event{Room: code, Tally: wire.Encode(wire.Tally{Epoch: epoch + number[0], Serial: number[1]})})
			})
		}
		r.redis.withLock(func(redis *fakeRedis) { redis.publish(game.Event{Room: code, Tally: []byte("{")}) })
		synctest.Wait()
		var seen [][2]int64
		for _, tally := range tallies(t, screen)[before:] {
			seen = append(seen, [2]int64{tally.Epoch - epoch, tally.Serial})
		}
		if fmt.Sprint(seen) != "[[0 5] [1 1] [1 2]]" {
			t.Errorf("got %v", seen)
		}
		late := &recordingClient{}
		r.room.Subscribe(wire.RoleScreen, late)
		if tally := welcomes(t, late)[0].Tally; tally.Epoch != epoch+1 || tally.Serial != 2 {
			t.Errorf("the welcome has tally %d.%d", tally.Epoch-epoch, tally.Serial)
		}
	})
}

// The holder of the lease adds up what all instances report. Players who left are not online, and a second tab is not a second player.
func TestTheTallyCountsOverAllInstances(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFixture(t)
		other := newInstance(t, r.redis, r.books, "two")
		there := other.acquireRoom()
		ann, bob := r.books.Join(code, "ann"), r.books.Join(code, "bob")
		one, tab := r.join(r.room, ann)
		r.join(r.room, ann)
		two, away := other.join(there, bob)
		screen := &recordingClient{}
		there.Subscribe(wire.RoleScreen, screen)
		round := r.startRound(newRound())
		sleepUntil(round.StartsAt + 5000)
		for range 3 {
			one.Tap(round.ID, 1, tab, &answerRecorder{})
			two.Tap(round.ID, 1, away, &answerRecorder{})
		}
		r.redis.claim(round.ID, 7, ann.ID, bob.ID, ann.ID)
		time.Sleep(time.Second)
		received := tallies(t, screen)
		got := received[len(received)-1]
		want := wire.Tally{
			Type: wire.TypeTally, Round: round.ID, Epoch: got.Epoch, Serial: got.Serial, At: got.At, Online: 2, Taps: 6,
			ClaimedPackets: 3, ClaimedCents: 300, LeftPackets: 7, LeftCents: 700,
			Top: []wire.Rank{{Rank: 1, Player: ann.ID, Nickname: "ann", Cents: 200}, {Rank: 2, Player: bob.ID, Nickname: "bob", Cents: 100}},
			Winners: []wire.Claim{
				{Round: round.ID, Number: 3, Player: ann.ID, Nickname: "ann", Drop: 7, Cents: 100},
				{Round: round.ID, Number: 2, Player: bob.ID, Nickname: "bob", Drop: 7, Cents: 100},
				{Round: round.ID, Number: 1, Player: ann.ID, Nickname: "ann", Drop: 7, Cents: 100},
			},
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("tally %+v\nwant  %+v", got, want)
		}
		direct, err := r.rooms.Tally(t.Context(), round)
		direct.Epoch, direct.Serial, direct.At, direct.Type = got.Epoch, got.Serial, got.At, got.Type
		if err != nil || fmt.Sprint(direct) != fmt.Sprint(want) {
			t.Errorf("the API's tally %+v, %v", direct, err)
		}
		there.Leave(two, away)
		time.Sleep(time.Second)
		received = tallies(t, screen)
		if last := received[len(received)-1]; last.Online != 1 {
			t.Errorf("%d online after one left", last.Online)
		}
	})
}

// The holder of the lease dies. Another instance publishes within two seconds.
func TestAnotherInstanceTakesOverTheTally(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFixture(t)
		time.Sleep(100 * time.Millisecond) // the first instance has the lease
		other := newInstance(t, r.redis, r.books, "two")
		screen := &recordingClient{}
		other.acquireRoom().Subscribe(wire.RoleScreen, screen)
		round := r.startRound(newRound())
		for _, raining := range []bool{false, true} {
			at := round.StartsAt + 7333
			if !raining {
				at = round.StartsAt - 5000
			}
			sleepUntil(at)
			holder, heir := r.instance, other
			if raining {
				holder, heir = other, r.instance
			}
			if tallied := r.redis.publishedTallies(); tallied[len(tallied)-1].by != holder.pool.name {
				t.Fatalf("%s holds the lease", tallied[len(tallied)-1].by)
			}
			died := time.Now()
			r.redis.withLock(func(*fakeRedis) { holder.pool.dead, heir.pool.dead = true, false })
			time.Sleep(2 * time.Second)
			synctest.Wait()
			tallied := r.redis.publishedTallies()
			last := tallied[len(tallied)-1]
			if last.by != heir.pool.name {
				t.Fatalf("two seconds after the death, %v: nothing new", died)
			}
			for n := 1; n < len(tallied); n++ {
				before, after := tallied[n-1], tallied[n]
				if after.Epoch < before.Epoch || (after.Epoch == before.Epoch && after.Serial != before.Serial+1) {
					t.Errorf("tally %d.%d after %d.%d", after.Epoch, after.Serial, before.Epoch, before.Serial)
				}
			}
		}
	})
}

// While SQL replies, no tally is published without a nickname that SQL has.
func TestATallyWaitsForItsNicknames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFixture(t)
		screen := &recordingClient{}
		r.room.Subscribe(wire.RoleScreen, screen)
		ann := r.books.Join(code, "ann")
		round := r.startRound(newRound())
		sleepUntil(round.StartsAt + 5000)
		heal := r.books.Hang()
		claimed := time.Now()
		r.redis.claim(round.ID, 1, ann.ID)
		time.Sleep(activeInterval) // a little slow
		heal()
		time.Sleep(activeInterval)
		received := tallies(t, screen)
		last := received[len(received)-1]
		if len(last.Top) != 1 || len(last.Winners) != 1 {
			t.Fatalf("%v after the claim the last tally is %+v", time.Since(claimed), last)
		}
		for _, tally := range received {
			for _, rank := range tally.Top {
				if rank.Nickname != "ann" {
					t.Errorf("rank %+v", rank)
				}
			}
		}
	})
}

// With many sync requests, the holder of the lease published a tally after each.
func TestSyncRequestsDoNotMakeTalliesFaster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFixture(t)
		session, tab := r.join(r.room, r.books.Join(code, "ann"))
		round := r.startRound(newRound())
		sleepUntil(round.StartsAt + 1000)
		from := time.Now()
		for range 300 {
			session.Tap(round.ID, 1, tab, &answerRecorder{}) // the number of taps changes
			r.room.requestSync()
			time.Sleep(10 * time.Millisecond)
		}
		count := 0
		for _, tally := range r.redis.publishedTallies() {
			if tally.at.After(from) {
				count++
			}
		}
		if count < 8 || count > 13 {
			t.Errorf("%d tallies in three seconds, want at most four a second", count)
		}
	})
}
