package main

import (
	"context"
	"errors"

	"redrain/internal/game"
	"redrain/internal/ledger"
	"redrain/internal/rdb"
	"redrain/internal/settle"
)

// moneyService implements api.Money with the settler and the ledger.
type moneyService struct {
	*settle.Settler
	books *ledger.Ledger
}

func (m moneyService) DeadLetters(ctx context.Context, round string) ([]game.DeadLetter, error) {
	return m.books.DeadLetters(ctx, round)
}

func (m moneyService) Quarantined(ctx context.Context, round string) ([]game.Quarantined, error) {
	return m.books.Quarantined(ctx, round)
}

// claimsReader reads claims from Redis while it has them, and from the ledger afterwards. Both return the same claims.
type claimsReader struct {
	redis *rdb.Client
	books *ledger.Ledger
}

// Claims returns a page of claims. It reads Redis only if the ledger may not have all claims of the page yet.
func (g claimsReader) Claims(ctx context.Context, round string, after, limit int) ([]game.Claim, error) {
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
	return booked, nil // Redis may not have the round any more
}

// ClaimsOf reads only Redis while it has the round: one round trip for each player. Otherwise it reads the ledger.
func (g claimsReader) ClaimsOf(ctx context.Context, round string, players ...string) (map[string][]game.Claim, error) {
	held := make(map[string][]game.Claim, len(players))
	for _, player := range players {
		claims, hot, err := g.redis.Opened(ctx, round, player)
		if err != nil {
			return g.readBookedAfterFailure(ctx, round, players, err)
		}
		if !hot {
			return g.books.ClaimsOf(ctx, round, players...)
		}
		held[player] = claims
	}
	return held, nil
}

// readBookedAfterFailure reads the ledger after a failure of Redis, if the round is settled. Otherwise it returns the failure, since
// Redis may have claims that are not booked yet.
func (g claimsReader) readBookedAfterFailure(ctx context.Context, round string, players []string, failed error) (map[string][]game.Claim, error) {
	known, err := g.books.Round(ctx, round)
	if err != nil || known.Phase != game.Settled {
		return nil, errors.Join(failed, err)
	}
	return g.books.ClaimsOf(ctx, round, players...)
}
