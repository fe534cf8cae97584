package api

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/hashicorp/golang-lru/v2/expirable"

	"redrain/internal/backoff"
	"redrain/internal/game"
)

// maxKnownRooms bounds the rooms that networks are remembered to know.
const maxKnownRooms = 10_000

// RoomGuesses limits the search for rooms by trying codes, as guessLimiter limits passwords: only codes of no room count. A room that
// somebody of a network has found is no guess there any more, so guests who come by one QR code never wait, whoever guesses beside
// them. Safe for concurrent use.
type RoomGuesses struct {
	limit    *guessLimiter
	clientIP func(*http.Request) string
	known    *expirable.LRU[networkRoom, struct{}]
}

type networkRoom struct{ network, room string }

// NewRoomGuesses returns a limit of its own for each client.
func NewRoomGuesses(proxies Proxies, now func() time.Time) *RoomGuesses {
	return &RoomGuesses{
		limit: newGuessLimiter(now), clientIP: proxies.ClientIP(), known: newCache[networkRoom, struct{}](maxKnownRooms),
	}
}

// Wait waits until it is this client's turn to hear whether there is a room with this code. game.ErrTooMany: that would take too long.
func (g *RoomGuesses) Wait(r *http.Request, code string, found bool) error {
	ip := g.clientIP(r)
	key := networkRoom{clientNetwork(ip), code}
	if _, known := g.known.Get(key); known && found {
		return nil
	}
	if err := g.limit.wait(r.Context(), ip, !found); err != nil {
		return fmt.Errorf("look for a room: %w", err)
	}
	if found {
		g.known.Add(key, struct{}{})
	}
	return nil
}

// wait waits as delay says. game.ErrTooMany: the guess is refused.
func (g *guessLimiter) wait(ctx context.Context, ip string, wrong bool) error {
	delay, ok := g.delay(ip, wrong)
	if !ok {
		return game.ErrTooMany
	}
	if delay > 0 && !backoff.Sleep(ctx, delay, nil) {
		return ctx.Err() //nolint:wrapcheck // says itself what it is
	}
	return nil
}
