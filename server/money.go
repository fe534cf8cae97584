package main

import (
	"context"
	"errors"

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

// Claims asks Redis only for what the books cannot have in full yet. A page costs what is on it, in both.
func (g granted) Claims(ctx context.Context, round string, after, limit int) ([]game.Claim, error) {
	known, err := g.books.Round(ctx, round)
	if err != nil {
		return nil, err
	}
	booked, err := g.books.Claims(ctx, round, after, limit)
	if err != nil || known.Phase == game.Settled || (len(booked) == limit && booked[limit-1].Number == after+limit) {
		return booked, err
	}
	found, err := g.redis.Claims(ctx, round, after, limit)
	if err != nil || len(found) > 0 {
		return found, err
	}
	return booked, nil // the keys may be gone
}

// ClaimsOf asks Redis alone while a round is hot: one round trip a player. Rounds that Redis does not have, or not any more,
// are looked up in the books.
func (g granted) ClaimsOf(ctx context.Context, round string, players ...string) (map[string][]game.Claim, error) {
	held := make(map[string][]game.Claim, len(players))
	for _, player := range players {
		claims, hot, err := g.redis.Opened(ctx, round, player)
		if err != nil {
			return g.booked(ctx, round, players, err)
		}
		if !hot {
			return g.books.ClaimsOf(ctx, round, players...)
		}
		held[player] = claims
	}
	return held, nil
}

// booked is for when Redis fails: it may know more than the books of a round that is not settled.
func (g granted) booked(ctx context.Context, round string, players []string, failed error) (map[string][]game.Claim, error) {
	known, err := g.books.Round(ctx, round)
	if err != nil || known.Phase != game.Settled {
		return nil, errors.Join(failed, err)
	}
	return g.books.ClaimsOf(ctx, round, players...)
}
