package testkit

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"

	"redrain/internal/game"
)

// Books is a fake ledger in memory, with rooms, players and rounds, for tests that need no database. Safe for concurrent use.
type Books struct {
	mu      sync.Mutex
	rooms   map[string]game.Room
	players map[string]game.Player
	rounds  map[string]game.Round
	last    map[string]string // room → the round that it shows
	fault   error
	hung    chan struct{} // closed when reads answer again; nil: they do
	reads   int
}

// NewBooks returns books with these rooms.
func NewBooks(rooms ...string) *Books {
	b := &Books{
		rooms: make(map[string]game.Room), players: make(map[string]game.Player), rounds: make(map[string]game.Round),
		last: make(map[string]string),
	}
	for _, code := range rooms {
		b.rooms[code] = game.Room{Code: code, Name: "room " + code, CreatedAt: time.Now()}
	}
	return b
}

// Fail makes every read fail with err from now on; nil ends that.
func (b *Books) Fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fault = err
}

// Hang makes every read wait, until its context ends or the returned function is called.
func (b *Books) Hang() (heal func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	hung := make(chan struct{})
	b.hung = hung
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		close(hung)
		b.hung = nil
	}
}

// waitWhileHung waits while reads hang.
func (b *Books) waitWhileHung(ctx context.Context) {
	b.mu.Lock()
	hung := b.hung
	b.mu.Unlock()
	if hung == nil {
		return
	}
	select {
	case <-hung:
	case <-ctx.Done():
	}
}

// Join adds a player to a room.
func (b *Books) Join(room, nickname string) game.Player {
	b.mu.Lock()
	defer b.mu.Unlock()
	player := game.Player{ID: uuid.NewString(), Room: room, Nickname: nickname, JoinedAt: time.Now()}
	b.players[player.ID] = player
	return player
}

// Block blocks a player, or lifts that.
func (b *Books) Block(id string, blocked bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	player := b.players[id]
	player.Blocked = blocked
	b.players[id] = player
}

// Blocked returns the ids of a room's blocked players.
func (b *Books) Blocked(_ context.Context, room string) ([]string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var ids []string
	for id, player := range b.players {
		if player.Room == room && player.Blocked {
			ids = append(ids, id)
		}
	}
	return ids, b.fault
}

// Keep notes a round, and shows it as its room's last one.
func (b *Books) Keep(round game.Round) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rounds[round.ID] = round
	b.last[round.Room] = round.ID
}

// Reads is how often anything was read.
func (b *Books) Reads() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.reads
}

// Room returns the room with this code, or game.ErrNotFound.
func (b *Books) Room(ctx context.Context, code string) (game.Room, error) {
	return find(ctx, b, b.rooms, code)
}

// Player returns the player with this id, or game.ErrNotFound.
func (b *Books) Player(ctx context.Context, id string) (game.Player, error) {
	return find(ctx, b, b.players, id)
}

// Round returns the round with this id, or game.ErrNotFound.
func (b *Books) Round(ctx context.Context, id string) (game.Round, error) {
	return find(ctx, b, b.rounds, id)
}

// LastRound returns the round that was kept last for a room, or game.ErrNotFound.
func (b *Books) LastRound(ctx context.Context, room string) (game.Round, error) {
	b.mu.Lock()
	id := b.last[room]
	b.mu.Unlock()
	return find(ctx, b, b.rounds, id)
}

// Nicknames returns nicknames by player id; unknown ids and blocked players are left out.
func (b *Books) Nicknames(ctx context.Context, players []string) (map[string]string, error) {
	nicknames := make(map[string]string)
	for _, id := range players {
		if player, err := b.Player(ctx, id); err == nil && !player.Blocked {
			nicknames[id] = player.Nickname
		} else if err != nil && !errors.Is(err, game.ErrNotFound) {
			return nil, err
		}
	}
	return nicknames, nil
}

func find[T any](ctx context.Context, b *Books, shelf map[string]T, key string) (T, error) {
	b.waitWhileHung(ctx)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reads++
	var none T
	if err := ctx.Err(); err != nil {
		return none, err
	}
	if b.fault != nil {
		return none, b.fault
	}
	found, ok := shelf[key]
	if !ok {
		return none, fmt.Errorf("%q: %w", key, game.ErrNotFound)
	}
	return found, nil
}
