package settle_test

import (
	"context"
	"testing"

	"pgregory.net/rapid"

	"redrain/internal/game"
	"redrain/internal/settle"
)

// timeline is a Redis that can lose its newest claims, and a ledger that counts the alarms.
type timeline struct {
	settle.Outbox
	settle.Books
	claims []game.Claim
	alarms int
}

func (l *timeline) Watermark(context.Context, string) (game.Watermark, error) {
	return game.Watermark{Claimed: game.Total{Packets: len(l.claims)}, Last: "1-0", Delivered: "0-0"}, nil
}

func (l *timeline) Claims(_ context.Context, _ string, after, limit int) ([]game.Claim, error) {
	return l.claims[min(after, len(l.claims)):min(after+limit, len(l.claims))], nil
}

func (l *timeline) NoteLost(context.Context, string, int) (game.Round, bool, error) {
	l.alarms++
	return game.Round{Frozen: true}, false, nil
}

func (l *timeline) SetFrozen(context.Context, game.Round) error { return nil }

// In any sequence of grants, missed messages, losses and repeated grants, a detector that is told of missed messages raises an alarm if
// and only if something that it observed is not in Redis any more.
func TestPropertyDetectorReportsExactlyWhatRedisLost(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		redis := &timeline{}
		detector := settle.NewLossDetector(settle.New(redis, redis, settle.Options{}))
		var observed []game.Claim // since the last alarm
		seen := 0                 // claims in Redis at the last look
		known, missed := false, false
		drop := game.DropID(0)
		connect := func() { // after a reconnection the subscription reports missed messages first
			if missed {
				detector.HandleEvent(game.Event{Room: "R", Missed: true})
				missed = false
			}
		}
		look := func() {
			connect()
			want := 0
			if len(redis.claims) < seen {
				want = 1
			}
			for _, claim := range observed {
				if claim.Number > len(redis.claims) || redis.claims[claim.Number-1] != claim {
					want = 1
				}
			}
			redis.alarms = 0
			if err := detector.Check(t.Context()); err != nil || redis.alarms != want {
				rt.Fatalf("%d alarms, %v; want %d: observed %v, redis has %v", redis.alarms, err, want, observed, redis.claims)
			}
			if want == 1 {
				observed = nil // the detector starts from what Redis has now
			}
			if known {
				seen = len(redis.claims)
			}
		}
		rt.Repeat(map[string]func(*rapid.T){
			"grab": func(rt *rapid.T) {
				var batch []game.Claim
				for range rapid.IntRange(1, 4).Draw(rt, "claims") {
					drop++
					batch = append(batch, game.Claim{Player: "ann", Drop: drop, Cents: 1, Number: len(redis.claims) + 1})
					redis.claims = append(redis.claims, batch[len(batch)-1])
				}
				if rapid.IntRange(0, 3).Draw(rt, "is it received") == 0 {
					missed = true
					return
				}
				connect()
				detector.HandleEvent(game.Event{Room: "R", Claims: &game.Claimed{Round: "r", Claims: batch}})
				observed, known = append(observed, batch...), true
			},
			"lose": func(rt *rapid.T) {
				redis.claims = redis.claims[:rapid.IntRange(0, len(redis.claims)).Draw(rt, "kept")]
				missed = true // no connection outlives that
			},
			"look": func(*rapid.T) { look() },
		})
		look()
	})
}
