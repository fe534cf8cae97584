package live

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"redrain/internal/game"
	"redrain/internal/testkit"
)

// wantOnline waits until the latest tally that the instance received counts so many players.
func (p *redisInstance) wantOnline(when string, want int) {
	p.t.Helper()
	testkit.Eventually(p.t, 10*time.Second, func() error {
		p.room.mu.Lock()
		defer p.room.mu.Unlock()
		if got := p.room.tally.Online; got != want || p.room.tally.Epoch == 0 {
			return fmt.Errorf("%s: %d are online, want %d", when, got, want)
		}
		return nil
	})
}

// A player with tabs on two instances was counted twice.
func TestAPlayerOnTwoInstancesCountsOnce(t *testing.T) {
	testkit.EachRedis(t, func(t *testing.T, address string) {
		books := testkit.NewBooks(code)
		proxy := testkit.NewSwallowProxy(t, hostOf(t, address))
		one, two := newRedisInstance(t, "redis://"+proxy.Addr, books), newRedisInstance(t, address, books)
		ann, bob, cid := books.Join(code, "ann"), books.Join(code, "bob"), books.Join(code, "cid")
		join := func(p *redisInstance, player game.Player) func() {
			m := &recordingClient{}
			session, err := p.room.Join(t.Context(), player.ID, player.Nickname, m)
			if err != nil {
				t.Fatal(err)
			}
			return func() { p.room.Leave(session, m) }
		}
		join(one, ann)
		annAtTwo, second := join(two, ann), join(two, ann)
		join(two, bob)
		join(one, cid)
		two.wantOnline("ann is at both", 3)
		annAtTwo()
		join(two, cid)
		two.wantOnline("cid is too", 3)
		second()
		two.wantOnline("ann has left one of them", 3)
		raw := redis.NewClient(&redis.Options{Addr: hostOf(t, address)})
		defer raw.Close()
		if err := raw.FlushAll(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		join(two, books.Join(code, "dan"))
		one.wantOnline("Redis forgot everything", 4)
		proxy.Refuse()
		proxy.Cut()
		two.wantOnline("one of them is cut off", 3)
		proxy.Heal()
		one.wantOnline("it is back", 4)
		one.rooms.Close()
		two.wantOnline("it was ended", 3)
	})
}

// There are more players than fit in one report, many of them on both instances. Then one instance is stopped.
func TestManyPlayersOnTwoInstancesCountOnce(t *testing.T) {
	testkit.EachRedis(t, func(t *testing.T, address string) {
		const crowd = 2*changesPerReport + 100
		books := testkit.NewBooks(code)
		one, two := newRedisInstance(t, address, books), newRedisInstance(t, address, books)
		for n := range crowd {
			player := books.Join(code, fmt.Sprint("player ", n))
			for _, p := range []*redisInstance{one, two} {
				if n%2 == 0 || p == two {
					if _, err := p.room.Join(t.Context(), player.ID, player.Nickname, &recordingClient{}); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		two.wantOnline("half are at both", crowd)
		two.rooms.Close()
		one.wantOnline("half are left", crowd/2)
	})
}

// pagedPool is a pool that needs three pages for a sweep.
type pagedPool struct {
	Pool
	cursors []string
	removes int
}

func (p *pagedPool) Sweep(_ context.Context, _, cursor string) (game.Swept, error) {
	next := map[string]string{"0": "a", "a": "b", "b": "0"}
	p.cursors = append(p.cursors, cursor)
	return game.Swept{Cursor: next[cursor], Removed: p.removes}, nil
}

// Garbage is swept once, a page at a time, and again when there is more. If a sweep finds nothing, the next one comes after
// searchAgainAfter.
func TestGarbageIsSweptOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := &pagedPool{}
		r := newRoom(&Options{Pool: pool, Clock: &fakeClock{}}, game.Room{Code: code})
		var s presenceSweeper
		turns := func(what string, turns, garbage, removes int, want string) {
			t.Helper()
			pool.cursors, pool.removes = nil, removes
			for n := range turns {
				if n < 3 || removes == 0 {
					s.garbage = garbage // the report before it
				}
				if err := s.sweepPage(t.Context(), r); err != nil {
					t.Fatal(err)
				}
			}
			if got := fmt.Sprint(pool.cursors); got != want {
				t.Errorf("%s: pages %s, want %s", what, got, want)
			}
		}
		turns("no garbage", 5, 0, 0, "[]")
		turns("garbage", 5, 9, 3, "[0 a b]")
		turns("as much again", 5, 9, 3, "[0 a b]")
		turns("not to be found", 9, 9, 0, "[0 a b]")
		turns("another garbage", 3, 4, 1, "[0 a b]")
		turns("not to be found again", 9, 9, 0, "[0 a b]")
		time.Sleep(searchAgainAfter)
		turns("later", 3, 9, 3, "[0 a b]")
	})
}

// The session of a player who was away for long is removed, and that of a player who came back is not.
func TestIdleSessionsExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFixture(t)
		ann, bob, cid := r.books.Join(code, "ann"), r.books.Join(code, "bob"), r.books.Join(code, "cid")
		annSession, annTab := r.join(r.room, ann)
		bobSession, bobTab := r.join(r.room, bob)
		r.join(r.room, cid)
		known := func(when string, want ...game.Player) {
			t.Helper()
			r.room.mu.Lock()
			defer r.room.mu.Unlock()
			for _, player := range want {
				if r.room.sessions[player.ID] == nil {
					t.Errorf("%s: %s is forgotten", when, player.Nickname)
				}
			}
			if len(r.room.sessions) != len(want) {
				t.Errorf("%s: %d sessions, want %d", when, len(r.room.sessions), len(want))
			}
		}
		time.Sleep(2 * sessionIdleTimeout)
		r.room.Leave(annSession, annTab)
		r.room.Leave(bobSession, bobTab)
		time.Sleep(sessionIdleTimeout - 2*time.Second)
		known("almost a minute", ann, bob, cid)
		again, tab := r.join(r.room, bob)
		time.Sleep(4 * time.Second)
		known("bob is back", bob, cid)
		r.room.Leave(again, tab)
		time.Sleep(sessionIdleTimeout - 2*time.Second)
		known("bob has left again", bob, cid)
		time.Sleep(sessionIdleTimeout + 4*time.Second)
		known("long after", cid)
		r.room.mu.Lock()
		defer r.room.mu.Unlock()
		if len(r.room.idle) > 0 {
			t.Errorf("%d vacancies are left", len(r.room.idle))
		}
	})
}
