package rdb

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"redrain/internal/game"
)

// lifetime is how long the keys of a round stay after its end. ExpireKeys shortens it once the round is settled.
const lifetime = 30 * 24 * time.Hour

const (
	stageChunk    = 1000             // amounts a RPUSH
	stageLifetime = 10 * time.Minute // of amounts that were never opened
)

// Open makes the round's keys. If they exist it changes nothing and returns the same, so it may be repeated. amounts are those of a
// dealt round, in the order in which they are handed out, else nil.
func (c *Client) Open(ctx context.Context, round game.Round, amounts []game.Cents) (game.Standing, error) {
	staged := stagedKey(round.ID, uuid.NewString())
	if err := c.stage(ctx, staged, amounts); err != nil {
		return game.Standing{}, err
	}
	s := round.Settings
	keys := []string{stateKey(round.ID), claimsKey(round.ID), outboxKey(round.ID), amountsKey(round.ID), staged}
	asked := time.Now()
	r, err := c.call(ctx, openScript, keys, round.ID, roomChannel(round.Room), settleGroup, lifetime.Milliseconds(),
		int64(s.Countdown), int64(s.Duration), int64(s.Total), s.Packets, int64(s.Min), int64(s.Max),
		string(s.Split), string(s.Pace), s.Cap, string(round.Secret), boolArg(round.Frozen), round.FreezeVersion,
		s.DropsPerSecond, int64(game.DropStays+game.DropGrace))
	if err != nil {
		return game.Standing{}, err
	}
	c.updateClock(asked, r.integer())
	if len(r.items) == 1 {
		return game.Standing{}, fmt.Errorf("open.lua: refused as %q: %w", r.text(), game.ErrTorn)
	}
	if r.integer(); r.err != nil {
		return game.Standing{}, fmt.Errorf("open.lua: %w", r.err)
	}
	return c.Standing(ctx, round.ID)
}

// stage pushes the amounts to a List in chunks, so that a million of them do not block Redis. The first chunk is pushed together with
// the List's time to live, so it never stays for ever if the process dies in between.
func (c *Client) stage(ctx context.Context, staged string, amounts []game.Cents) error {
	if len(amounts) == 0 {
		return nil
	}
	push := func(pipe redis.Pipeliner, from int) {
		chunk := amounts[from:min(from+stageChunk, len(amounts))]
		values := make([]any, len(chunk))
		for i, amount := range chunk {
			values[i] = int64(amount)
		}
		pipe.RPush(ctx, staged, values...)
	}
	_, err := c.redis.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
		push(pipe, 0)
		pipe.PExpire(ctx, staged, stageLifetime)
		return nil
	})
	if err == nil && len(amounts) > stageChunk {
		_, err = c.redis.Pipelined(ctx, func(pipe redis.Pipeliner) error {
			for from := stageChunk; from < len(amounts); from += stageChunk {
				push(pipe, from)
			}
			return nil
		})
	}
	if err != nil {
		return fmt.Errorf("stage amounts: %w", err)
	}
	return nil
}

// Close closes an open round for a reason; a closed round answers with its first reason. game.ErrNotYet for ByTime before
// EndsAt and BySoldOut while packets are left; game.ErrWrongPhase for Cancelled at or after StartsAt; game.ErrGone when there
// are no keys, game.ErrTorn when they do not fit together.
func (c *Client) Close(ctx context.Context, round game.Round, reason game.CloseReason) (game.Standing, error) {
	return c.close(ctx, round, reason, false)
}

// RepeatClose closes a round that is closed in the ledger and whose close Redis has lost: with the ledger's reason, whatever the
// time. game.ErrGone, game.ErrTorn.
func (c *Client) RepeatClose(ctx context.Context, round game.Round) error {
	_, err := c.close(ctx, round, round.Reason, true)
	return err
}

func (c *Client) close(ctx context.Context, round game.Round, reason game.CloseReason, again bool) (game.Standing, error) {
	r, err := c.call(ctx, closeScript, allKeys(round.ID), string(reason), roomChannel(round.Room), boolArg(again))
	if err != nil {
		return game.Standing{}, err
	}
	switch status := r.text(); status {
	case "closed":
		return c.Standing(ctx, round.ID)
	case "gone", "torn":
		return game.Standing{}, fmt.Errorf("close.lua: %w", missingKeysError(status))
	case "not_yet":
		return game.Standing{}, fmt.Errorf("close.lua: %w", game.ErrNotYet)
	case "wrong_phase":
		return game.Standing{}, fmt.Errorf("close.lua: %w", game.ErrWrongPhase)
	default:
		return game.Standing{}, fmt.Errorf("close.lua: status %q: %w", status, errBadReply)
	}
}

// Standing returns the state of a round without its leaderboard. Errors as by Snapshot.
func (c *Client) Standing(ctx context.Context, round string) (game.Standing, error) {
	return c.Snapshot(ctx, round, 0, 0)
}

// Snapshot returns the state of a round with the best players (as many as top), and its latest claims: whole batches, newest first, at
// least as many as latest if there are. game.ErrGone when there is no such round, game.ErrTorn when its keys do not fit together.
func (c *Client) Snapshot(ctx context.Context, round string, top, latest int) (game.Standing, error) {
	asked := time.Now()
	r, err := c.call(ctx, snapshotScript, allKeys(round), top, latest)
	if err != nil {
		return game.Standing{}, err
	}
	now := c.updateClock(asked, r.integer())
	if len(r.items) == 1 {
		return game.Standing{}, fmt.Errorf("snapshot.lua: %w", missingKeysError(r.text()))
	}
	s, err := readStanding(r, now)
	if err != nil {
		return game.Standing{}, fmt.Errorf("snapshot.lua: %w", err)
	}
	s.Round = round
	return s, nil
}

func readStanding(r *reply, now game.Moment) (game.Standing, error) {
	phase := r.text()
	s := game.Standing{
		Now: now, Reason: game.CloseReason(r.text()), Frozen: r.integer() == 1,
		StartsAt: game.Moment(r.integer()), EndsAt: game.Moment(r.integer()),
		Left: game.Total{Packets: int(r.integer()), Cents: game.Cents(r.integer())},
	}
	s.Phase = game.PhaseAt(now, s.StartsAt)
	if phase == "closed" {
		s.Phase = game.Closed
	}
	for r.more() {
		score := r.text()
		if score == "|" {
			break
		}
		rank, err := parseRank(score, r.text())
		if err != nil {
			return game.Standing{}, err
		}
		s.Top = append(s.Top, rank)
	}
	for r.more() {
		claims, err := parseClaims(r.text())
		if err != nil {
			return game.Standing{}, err
		}
		for i := len(claims) - 1; i >= 0; i-- {
			s.Latest = append(s.Latest, claims[i])
		}
	}
	return s, r.err
}
