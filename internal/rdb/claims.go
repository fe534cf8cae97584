package rdb

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"redrain/internal/game"
)

// claimsChunk is the most players that one HMGET asks for.
const claimsChunk = 1000

// ClaimsOf returns the claims that each of the players has in a round, in the order in which they were made. Players without
// any are absent.
func (c *Client) ClaimsOf(ctx context.Context, round string, players ...string) (map[string][]game.Claim, error) {
	held := make(map[string][]game.Claim)
	for from := 0; from < len(players); from += claimsChunk {
		chunk := players[from:min(from+claimsChunk, len(players))]
		texts, err := c.redis.HMGet(ctx, claimsKey(round), chunk...).Result()
		if err != nil {
			return nil, fmt.Errorf("read claims: %w", err)
		}
		for i, text := range texts {
			if text == nil {
				continue
			}
			claims, err := parseHeldClaims(chunk[i], fmt.Sprint(text))
			if err != nil {
				return nil, err
			}
			held[chunk[i]] = claims
		}
	}
	return held, nil
}

// Opened returns the claims of one player in a round, in the order in which they were made, in one round trip. hot: Redis has
// the round, so these are all of its claims.
func (c *Client) Opened(ctx context.Context, round, player string) (claims []game.Claim, hot bool, err error) {
	var text *redis.StringCmd
	var known *redis.IntCmd
	_, err = c.redis.Pipelined(ctx, func(both redis.Pipeliner) error {
		text, known = both.HGet(ctx, claimsKey(round), player), both.Exists(ctx, stateKey(round))
		return nil
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		return nil, false, fmt.Errorf("read claims: %w", err)
	}
	if text.Val() != "" {
		claims, err = parseHeldClaims(player, text.Val())
		return claims, known.Val() == 1, err
	}
	return nil, known.Val() == 1, known.Err()
}

// Claims returns up to limit claims of a round with a number above after, in the order of their numbers. Its cost
// depends on limit, and hardly on how many claims there are.
func (c *Client) Claims(ctx context.Context, round string, after, limit int) ([]game.Claim, error) {
	r, err := c.call(ctx, pageScript, []string{outboxKey(round)}, after, limit)
	if err != nil {
		return nil, err
	}
	var found []game.Claim
	for r.more() && len(found) < limit {
		_ = r.text() // the batch
		claims, err := parseClaims(r.text())
		if err != nil {
			return nil, fmt.Errorf("page.lua: %w", err)
		}
		for _, claim := range claims {
			if claim.Number > after && len(found) < limit {
				found = append(found, claim)
			}
		}
	}
	return found, r.err
}

// GrantedIn returns the batch that granted the claim with a number in a round, and the first and the last number that it granted.
// batch is empty if it is not known any more, because the outbox entry was restored after a loss. game.ErrNotFound: there is no such claim.
func (c *Client) GrantedIn(ctx context.Context, round string, number int) (batch string, first, last int, err error) {
	r, err := c.call(ctx, pageScript, []string{outboxKey(round)}, number-1, 1)
	if err != nil {
		return "", 0, 0, err
	}
	if !r.more() {
		return "", 0, 0, fmt.Errorf("claim %d of round %s: %w", number, round, game.ErrNotFound)
	}
	batch = r.text()
	claims, err := parseClaims(r.text())
	if err != nil || r.err != nil {
		return "", 0, 0, fmt.Errorf("page.lua: %w", errors.Join(err, r.err))
	}
	first, last = claims[0].Number, claims[len(claims)-1].Number
	if number < first || number > last {
		return "", 0, 0, fmt.Errorf("claim %d of round %s: %w", number, round, game.ErrNotFound)
	}
	return batch, first, last, nil
}

// parseClaims reads 'player drop cents number;…', the text of an outbox entry and of a published batch. Every instance
// reads every claim of its rooms: the only allocation is the list.
func parseClaims(text string) ([]game.Claim, error) {
	claims := make([]game.Claim, 0, strings.Count(text, ";")+1)
	for row := range strings.SplitSeq(text, ";") {
		player, numbers, _ := strings.Cut(row, " ")
		claim, err := parseClaim(player, numbers, " ")
		if err != nil {
			return nil, err
		}
		claims = append(claims, claim)
	}
	return claims, nil
}

// parseHeldClaims reads 'count total drop:cents:number …', the value of a player in the claims Hash.
func parseHeldClaims(player, text string) ([]game.Claim, error) {
	_, rest, _ := strings.Cut(text, " ")
	_, rows, ok := strings.Cut(rest, " ")
	if !ok {
		return nil, fmt.Errorf("claims %q: %w", text, errBadReply)
	}
	var claims []game.Claim
	for row := range strings.SplitSeq(rows, " ") {
		claim, err := parseClaim(player, row, ":")
		if err != nil {
			return nil, err
		}
		claims = append(claims, claim)
	}
	return claims, nil
}

// parseClaim reads a drop, cents and a number with a separator between them.
func parseClaim(player, text, separator string) (game.Claim, error) {
	first, rest, _ := strings.Cut(text, separator)
	second, third, _ := strings.Cut(rest, separator)
	drop, errDrop := strconv.ParseInt(first, 10, 32)
	cents, errCents := strconv.ParseInt(second, 10, 64)
	number, errNumber := strconv.Atoi(third)
	if errDrop != nil || errCents != nil || errNumber != nil || player == "" {
		return game.Claim{}, fmt.Errorf("claim %q of %q: %w", text, player, errBadReply)
	}
	return game.Claim{Player: player, Drop: game.DropID(drop), Cents: game.Cents(cents), Number: number}, nil
}

// parseRank reads a member of the board, 'number:player', and its score, the negative total.
func parseRank(score, member string) (game.Rank, error) {
	total, err := strconv.ParseFloat(score, 64) // exact up to 2^53; some servers write large scores as -1e+08
	if err != nil || total != math.Trunc(total) {
		return game.Rank{}, fmt.Errorf("board score %q: %w", score, errBadReply)
	}
	digits, player, ok := strings.Cut(member, ":")
	number, err := strconv.Atoi(digits)
	if !ok || err != nil {
		return game.Rank{}, fmt.Errorf("board member %q: %w", member, errBadReply)
	}
	return game.Rank{Player: player, Cents: game.Cents(-total), Number: number}, nil
}
