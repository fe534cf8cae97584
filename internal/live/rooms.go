// Package live serves rooms: it knows which clients are connected to them, keeps the state of the current round, sends out drops,
// and answers those taps whose answer it knows without Redis. It learns of changes from events on Redis' pub/sub. An event can get
// lost, so whatever it may have said is read again.
//
// Invariants kept here:
//
//  5. Redis' clock alone decides what is early or late: near the edges of the window a tap always goes to the script.
//  8. Pub/sub is a hint: an instance that misses a message catches up by itself, within 2 s while the round runs.
//  9. A slow, silent or hostile connection costs nobody else anything: nothing here waits for a client.
package live

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/time/rate"

	"redrain/internal/game"
)

// Books is what live reads from SQL. LastRound and Room return game.ErrNotFound where there is none.
type Books interface {
	Room(ctx context.Context, code string) (game.Room, error)
	LastRound(ctx context.Context, room string) (game.Round, error)
	Round(ctx context.Context, id string) (game.Round, error)
	// Nicknames leaves out players who are blocked.
	Nicknames(ctx context.Context, players []string) (map[string]string, error)
}

// Pool is what live reads from and reports to Redis. Snapshot returns game.ErrGone for a round without keys.
type Pool interface {
	Snapshot(ctx context.Context, round string, top, latest int) (game.Standing, error)
	ClaimsOf(ctx context.Context, round string, players ...string) (map[string][]game.Claim, error)
	Report(ctx context.Context, room string, own game.Report, lease time.Duration) (game.Reports, error)
	Sweep(ctx context.Context, room, cursor string) (game.Swept, error)
	PublishTally(ctx context.Context, room string, tally []byte) error
}

// Subscription is this instance's pub/sub subscription. Its events go to Rooms.HandleEvent. After SubscribeRoom, and after every
// reconnection, there is an event with Missed for the room.
type Subscription interface {
	SubscribeRoom(ctx context.Context, room string) error
	UnsubscribeRoom(ctx context.Context, room string) error
}

// Clock is the estimate of Redis' clock. Spread is how far it may be off, in ms.
type Clock interface {
	Now() game.Moment
	Spread() int64
}

// Committer takes a tap to the pool; handler receives the answer once. False: nothing was queued.
type Committer interface {
	Submit(room, round string, tap game.Tap, handler game.AnswerHandler) bool
}

// Client is one connection. Neither method may block.
type Client interface {
	// Send queues a frame that must arrive, in order.
	Send(frame []byte)
	// SendLatest queues a frame of which only the latest matters. It replaces such a frame that is still queued.
	SendLatest(frame []byte)
}

// Options say what Rooms work with.
type Options struct {
	Books        Books
	Pool         Pool
	Subscription Subscription
	Clock        Clock
	Committer    Committer
	// SoldOut is called, with no lock held, when a round's last packet is known to be taken.
	SoldOut func(ctx context.Context, round string) error
	// Blocked returns the ids of a room's blocked players. If it is nil, nobody is blocked.
	Blocked func(ctx context.Context, room string) ([]string, error)
	// TapsPerSecond and TapBurst limit the taps of one player over all their tabs; 10 and 20 by default.
	TapsPerSecond rate.Limit
	TapBurst      int
	// LeaseChanges counts how often this instance gains or loses the lease by which it publishes a room's tally; nil: nobody does.
	LeaseChanges interface{ Inc() }
	Log          *slog.Logger
}

// Rooms are the rooms that this instance serves. Safe for concurrent use.
type Rooms struct {
	opts   Options
	ctx    context.Context //nolint:containedctx // the lifetime of the rooms' loops
	cancel context.CancelFunc
	loops  sync.WaitGroup

	mu    sync.Mutex
	rooms map[string]*roomEntry // by code
}

// roomEntry is a room with the number of its users. Rooms.mu guards room, err, users, idleSince and closing.
type roomEntry struct {
	loaded    chan struct{} // closed when the room was loaded, or err is set
	closed    chan struct{} // closed when the room has been closed, and can be loaded anew
	room      *Room
	err       error
	users     int       // Acquires without their Release
	idleSince time.Time // since when it has no users
	closing   bool      // it is being closed, and cannot be acquired
}

const (
	// roomIdleTimeout is how long a room without users stays open: after a reload, or a failure of everybody's network, the clients
	// find it as it was.
	roomIdleTimeout = 30 * time.Second
	loadTimeout     = 5 * time.Second
	// unsubscribeTimeout limits one unsubscription, and maxClosing how many rooms are closed at a time: each may wait for Redis.
	unsubscribeTimeout = time.Second
	maxClosing         = 16
)

// New returns Rooms without any room; Close ends them.
func New(opts Options) *Rooms {
	if opts.TapsPerSecond == 0 {
		opts.TapsPerSecond, opts.TapBurst = 10, 20
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	r := &Rooms{opts: opts, rooms: make(map[string]*roomEntry)}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.loops.Go(r.closeIdleRooms)
	return r
}

// Close stops all rooms and releases their leases. Clients are not notified; their owner closes them first.
func (r *Rooms) Close() {
	r.cancel()
	r.loops.Wait()
	var stopping errgroup.Group
	stopping.SetLimit(maxClosing)
	for _, room := range r.list() { // without the lock: releasing leases takes time, and HandleEvent must not wait for that
		stopping.Go(func() error {
			room.stop()
			return nil
		})
	}
	_ = stopping.Wait() // none fails
}

func (r *Rooms) list() []*Room {
	r.mu.Lock()
	defer r.mu.Unlock()
	var rooms []*Room
	for _, e := range r.rooms {
		if e.room != nil {
			rooms = append(rooms, e.room)
		}
	}
	return rooms
}

// Acquire returns the room with this code, and loads it if this instance does not serve it yet. The room stays open until each
// Acquire had its Release. game.ErrNotFound when there is no such room.
func (r *Rooms) Acquire(ctx context.Context, code string) (*Room, error) {
	e := r.acquireEntry(code)
	for e.closing {
		if err := waitFor(ctx, e.closed); err != nil {
			return nil, err
		}
		e = r.acquireEntry(code)
	}
	if err := waitFor(ctx, e.loaded); err != nil {
		r.releaseEntry(e)
		return nil, err
	}
	if e.err != nil {
		r.releaseEntry(e)
		return nil, e.err
	}
	return e.room, nil
}

// acquireEntry returns the entry of a room and counts one more user, unless the room is being closed. The first call for a room
// starts to load it.
func (r *Rooms) acquireEntry(code string) *roomEntry {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.rooms[code]
	if e == nil {
		e = &roomEntry{loaded: make(chan struct{}), closed: make(chan struct{})}
		r.rooms[code] = e
		r.loops.Go(func() { r.loadEntry(code, e) })
	}
	if !e.closing {
		e.users++
	}
	return e
}

func waitFor(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err() //nolint:wrapcheck // says itself what it is
	}
}

// Release must be called once for each Acquire that returned a room.
func (r *Rooms) Release(room *Room) {
	r.mu.Lock()
	e := r.rooms[room.code]
	r.mu.Unlock()
	r.releaseEntry(e)
}

func (r *Rooms) releaseEntry(e *roomEntry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e.users--; e.users == 0 {
		e.idleSince = time.Now()
	}
}

func (r *Rooms) loadEntry(code string, e *roomEntry) {
	ctx, cancel := context.WithTimeout(r.ctx, loadTimeout)
	defer cancel()
	err := r.loadRoom(ctx, code, e)
	r.mu.Lock()
	if e.err = err; err != nil {
		delete(r.rooms, code)
	}
	r.mu.Unlock()
	close(e.loaded)
}

// loadRoom reads a room, its current round and who is blocked, and starts its loops after that. So clients never see a room without
// its round, nor the name of a blocked player.
func (r *Rooms) loadRoom(ctx context.Context, code string, e *roomEntry) error {
	known, err := r.opts.Books.Room(ctx, code)
	if err != nil {
		return fmt.Errorf("enter room: %w", err)
	}
	room := newRoom(&r.opts, known)
	r.mu.Lock()
	e.room = room // from now on HandleEvent finds it
	r.mu.Unlock()
	if err := r.opts.Subscription.SubscribeRoom(ctx, code); err != nil {
		return fmt.Errorf("enter room: %w", err)
	}
	if err := errors.Join(room.readSQLRound(ctx), room.syncBlocked(ctx), room.readRedisRound(ctx)); err != nil {
		return errors.Join(fmt.Errorf("enter room: %w", err), r.opts.Subscription.UnsubscribeRoom(ctx, code))
	}
	room.start(r.ctx)
	return nil
}

// HandleEvent takes one event from Redis. It never blocks: a room whose inbox is full reads everything again.
func (r *Rooms) HandleEvent(event game.Event) {
	if room := r.find(event.Room); room != nil {
		room.enqueueEvent(event)
	}
}

// RecordBatch records how much of a round was left after a batch of taps from this instance.
func (r *Rooms) RecordBatch(code, round string, grabbed game.Grabbed) {
	if room := r.find(code); room != nil {
		room.recordLeft(round, grabbed.Left)
	}
}

// SessionNickname returns the nickname of a player who is in a room, or left it within the last minute, from memory. It returns
// false for all others, and for players who are known to be blocked.
func (r *Rooms) SessionNickname(code, player string) (nickname string, ok bool) {
	room := r.find(code)
	if room == nil {
		return "", false
	}
	room.mu.Lock()
	defer room.mu.Unlock()
	session := room.sessions[player]
	if session == nil || session.blocked {
		return "", false
	}
	return session.nickname, true
}

func (r *Rooms) find(code string) *Room {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.rooms[code]; e != nil {
		return e.room
	}
	return nil
}

// closeIdleRooms is the loop that closes rooms without users. It closes several at once, so that a room that waits for Redis does
// not delay the others, nor those who want to acquire a room that is waiting to be closed.
func (r *Rooms) closeIdleRooms() {
	var closing errgroup.Group
	closing.SetLimit(maxClosing)
	defer func() { _ = closing.Wait() }() // none fails
	ticker := time.NewTicker(roomIdleTimeout / 3)
	defer ticker.Stop()
	for {
		select {
		case <-r.ctx.Done():
			return
		case <-ticker.C:
			for _, e := range r.idleEntries() {
				closing.Go(func() error {
					r.closeIfIdle(e)
					return nil
				})
			}
		}
	}
}

// idleEntries lists the rooms that had no users for roomIdleTimeout. They can still be acquired.
func (r *Rooms) idleEntries() []*roomEntry {
	r.mu.Lock()
	defer r.mu.Unlock()
	var idle []*roomEntry
	for _, e := range r.rooms {
		if e.isIdle() {
			idle = append(idle, e)
		}
	}
	return idle
}

// isIdle needs Rooms.mu.
func (e *roomEntry) isIdle() bool {
	return e.users == 0 && e.err == nil && !e.closing && time.Since(e.idleSince) > roomIdleTimeout
}

// markClosing returns true, once, if a room is still idle and must be closed. From then on it cannot be acquired.
func (r *Rooms) markClosing(e *roomEntry) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !e.isIdle() {
		return false
	}
	e.closing = true
	return true
}

// closeIfIdle closes a room unless it was acquired meanwhile. An Acquire during the closing waits until it is done, so that the
// unsubscription cannot arrive after the new subscription.
func (r *Rooms) closeIfIdle(e *roomEntry) {
	if !r.markClosing(e) {
		return
	}
	e.room.stop()
	ctx, cancel := context.WithTimeout(r.ctx, unsubscribeTimeout)
	defer cancel()
	if err := r.opts.Subscription.UnsubscribeRoom(ctx, e.room.code); err != nil {
		r.opts.Log.Warn("cannot stop listening to a room", "room", e.room.code, "error", err)
	}
	r.mu.Lock()
	delete(r.rooms, e.room.code)
	r.mu.Unlock()
	close(e.closed)
}
