package rdb

import (
	"context"
	"net"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"

	"redrain/internal/game"
	"redrain/internal/testkit"
)

// trips counts the round trips of a client; a pipeline is one.
type trips struct{ count atomic.Int64 }

func (*trips) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		return next(ctx, network, address)
	}
}

func (c *trips) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error { c.count.Add(1); return next(ctx, cmd) }
}

func (c *trips) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error { c.count.Add(1); return next(ctx, cmds) }
}

func TestOpenedIsOneRoundTrip(t *testing.T) {
	t.Parallel()
	testkit.EachRedis(t, func(t *testing.T, url string) {
		r := newFixture(t, url)
		round := newRound(t, func(s *game.Settings) { s.Cap, s.Pace, s.Countdown = 3, game.PaceBurst, 0 })
		if _, err := r.Open(t.Context(), round, nil); err != nil {
			t.Fatal(err)
		}
		taps := []game.Tap{{Player: "ann", Drop: 1}, {Player: "ann", Drop: 2}}
		if _, err := r.Grab(t.Context(), round.Room, round.ID, r.NewBatch(), taps); err != nil {
			t.Fatal(err)
		}
		counting := new(trips)
		r.redis.AddHook(counting)
		if _, _, err := r.Opened(t.Context(), round.ID, "eve"); err != nil { // connects
			t.Fatal(err)
		}
		counting.count.Store(0)
		mine, hot, err := r.Opened(t.Context(), round.ID, "ann")
		if err != nil || !hot || len(mine) != 2 || mine[0].Drop != 1 || mine[1].Number != 2 {
			t.Errorf("got %+v, hot %v, %v", mine, hot, err)
		}
		if again, _, err := r.Opened(t.Context(), round.ID, "ann"); err != nil || !slices.Equal(mine, again) {
			t.Errorf("got %+v after %+v, %v", again, mine, err)
		}
		if none, hot, err := r.Opened(t.Context(), round.ID, "bob"); err != nil || !hot || len(none) != 0 {
			t.Errorf("who has won nothing: %+v, hot %v, %v", none, hot, err)
		}
		if got := counting.count.Load(); got != 3 {
			t.Errorf("three questions took %d round trips", got)
		}
		if err := r.redis.FlushDB(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		if none, hot, err := r.Opened(t.Context(), round.ID, "ann"); err != nil || hot || len(none) != 0 {
			t.Errorf("of a round that is gone: %+v, hot %v, %v", none, hot, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, hot, err := r.Opened(ctx, round.ID, "ann"); err == nil || hot {
			t.Errorf("hot %v, %v", hot, err)
		}
	})
}
