package main

import (
	"context"
	"errors"
	"maps"

	"redrain/internal/game"
	"redrain/internal/ledger"
	"redrain/internal/rdb"
	"redrain/internal/settle"
)

// money joins what settles with where it is written.
type money struct {
	*settle.Settler
	books *ledger.Ledger
}

func (m money) DeadLetters(ctx context.Context, round string) ([]game.DeadLetter, error) {
	return m.books.DeadLetters(ctx, round)
}

func (m money) Quarantined(ctx context.Context, round string) ([]game.Quarantined, error) {
	return m.books.Quarantined(ctx, round)
}

// granted reads claims from Redis while it holds them, and from the books afterwards: the same answer for ever.
type granted struct {
	redis *rdb.Client
	books *ledger.Ledger
}

func (g granted) Claims(ctx context.Context, round string, after, limit int) ([]game.Claim, error) {
	known, err := g.books.Round(ctx, round)
	if err != nil {
		return nil, err
	}
	if known.Phase == game.Settled {
		return g.books.Claims(ctx, round, after, limit)
	}
	return g.redis.Claims(ctx, round, after, limit)
}

// ClaimsOf asks Redis alone while a round is hot: one round trip. Players whom Redis knows nothing of, or not any more, are
// looked up in the books.
func (g granted) ClaimsOf(ctx context.Context, round string, players ...string) (map[string][]game.Claim, error) {
	held, err := g.redis.ClaimsOf(ctx, round, players...)
	if err != nil {
		if known, errBooks := g.books.Round(ctx, round); errBooks != nil || known.Phase != game.Settled {
			return nil, errors.Join(err, errBooks) // Redis may know more than the books
		}
		held = make(map[string][]game.Claim)
	}
	var unknown []string
	for _, player := range players {
		if len(held[player]) == 0 {
			unknown = append(unknown, player)
		}
	}
	if len(unknown) == 0 {
		return held, nil
	}
	booked, err := g.books.ClaimsOf(ctx, round, unknown...)
	maps.Copy(held, booked)
	return held, err
}
