// Package live holds the rooms that this instance serves: who is there, what the round's state is, which drops fall, and
// what a tap can be told without asking Redis. It hears from Redis by pub/sub, which is only a hint, and reads again
// whatever it may have missed.
//
// Invariants kept here:
//
//  5. Redis' clock alone decides what is early or late: near the edges of the window a tap always goes to the script.
//  8. Pub/sub is a hint: whoever misses a message converges by itself, within 2 s while the round runs.
//  9. A slow, silent or hostile connection costs nobody else anything: nothing here waits for a member.
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

// Ear is this instance's subscription. After Add, and after every reconnection, Rooms.Hear gets an event with Missed for the room.
type Ear interface {
	Add(ctx context.Context, room string) error
	Remove(ctx context.Context, room string) error
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

// Member is one connection. Neither method may block.
type Member interface {
	// Deliver queues a frame that must arrive, in order.
	Deliver(frame []byte)
	// Update queues a frame of which only the latest matters; it replaces one that still waits.
	Update(frame []byte)
}

// Options say what Rooms work with.
type Options struct {
	Books     Books
	Pool      Pool
	Ear       Ear
	Clock     Clock
	Committer Committer
	// SoldOut is called, off every lock, when a round's last packet is known to be taken.
	SoldOut func(ctx context.Context, round string) error
	// Blocked returns the ids of a room's blocked players; nil: nobody is.
	Blocked func(ctx context.Context, room string) ([]string, error)
	// TapsPerSecond and TapBurst bound one player's taps over all their tabs; 10 and 20 by default.
	TapsPerSecond rate.Limit
	TapBurst      int
	Log           *slog.Logger
}

// Rooms are the rooms that this instance serves. Safe for concurrent use.
type Rooms struct {
	opts   Options
	ctx    context.Context //nolint:containedctx // the lifetime of the rooms' loops
	cancel context.CancelFunc
	loops  sync.WaitGroup

	mu   sync.Mutex
	open map[string]*entry
}

type entry struct {
	ready chan struct{} // closed when room or err is set
	gone  chan struct{} // closed when the room has been given up, and can be entered anew
	room  *Room
	err   error
	users int
	empty time.Time // since when nobody uses it
	left  bool      // being given up
}

const (
	// keepEmpty is how long a room without members stays: a reload, or everybody's network, comes back to it.
	keepEmpty = 30 * time.Second
	openFor   = 5 * time.Second
	// removeFor bounds an unsubscription, and endingAtOnce how many rooms end at a time: each may wait for Redis.
	removeFor    = time.Second
	endingAtOnce = 16
)

// New returns Rooms without any room; Close ends them.
func New(opts Options) *Rooms {
	if opts.TapsPerSecond == 0 {
		opts.TapsPerSecond, opts.TapBurst = 10, 20
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	r := &Rooms{opts: opts, open: make(map[string]*entry)}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.loops.Go(r.sweep)
	return r
}

// Close gives up all rooms: leases are returned, loops end. Members are not told; whoever owns them closes them first.
func (r *Rooms) Close() {
	r.cancel()
	r.loops.Wait()
	var ending errgroup.Group
	ending.SetLimit(endingAtOnce)
	for _, room := range r.all() { // off the lock: leases are returned, and Hear must not wait for that
		ending.Go(func() error {
			room.end()
			return nil
		})
	}
	_ = ending.Wait() // none fails
}

func (r *Rooms) all() []*Room {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []*Room
	for _, e := range r.open {
		if e.room != nil {
			all = append(all, e.room)
		}
	}
	return all
}

// Enter returns the room with this code, which the instance serves from then on, until every Enter had its Leave.
// game.ErrNotFound when there is none.
func (r *Rooms) Enter(ctx context.Context, code string) (*Room, error) {
	e := r.entry(code)
	for e.left {
		if err := wait(ctx, e.gone); err != nil {
			return nil, err
		}
		e = r.entry(code)
	}
	if err := wait(ctx, e.ready); err != nil {
		r.leave(e)
		return nil, err
	}
	if e.err != nil {
		r.leave(e)
		return nil, e.err
	}
	return e.room, nil
}

// entry counts one more user of a room, or finds it being given up.
func (r *Rooms) entry(code string) *entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.open[code]
	if e == nil {
		e = &entry{ready: make(chan struct{}), gone: make(chan struct{})}
		r.open[code] = e
		r.loops.Go(func() { r.start(code, e) })
	}
	if !e.left {
		e.users++
	}
	return e
}

func wait(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err() //nolint:wrapcheck // says itself what it is
	}
}

// Leave is said once for each Enter that returned a room.
func (r *Rooms) Leave(room *Room) {
	r.mu.Lock()
	e := r.open[room.code]
	r.mu.Unlock()
	r.leave(e)
}

func (r *Rooms) leave(e *entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e.users--; e.users == 0 {
		e.empty = time.Now()
	}
}

func (r *Rooms) start(code string, e *entry) {
	ctx, cancel := context.WithTimeout(r.ctx, openFor)
	defer cancel()
	err := r.load(ctx, code, e)
	r.mu.Lock()
	if e.err = err; err != nil {
		delete(r.open, code)
	}
	r.mu.Unlock()
	close(e.ready)
}

// load reads a room before its loops start, so that whoever enters sees where it stands.
func (r *Rooms) load(ctx context.Context, code string, e *entry) error {
	known, err := r.opts.Books.Room(ctx, code)
	if err != nil {
		return fmt.Errorf("enter room: %w", err)
	}
	room := newRoom(&r.opts, known)
	r.mu.Lock()
	e.room = room // from now on Hear finds it
	r.mu.Unlock()
	if err := r.opts.Ear.Add(ctx, code); err != nil {
		return fmt.Errorf("enter room: %w", err)
	}
	if err := errors.Join(room.readRound(ctx), room.refresh(ctx)); err != nil {
		return errors.Join(fmt.Errorf("enter room: %w", err), r.opts.Ear.Remove(ctx, code))
	}
	room.begin(r.ctx)
	return nil
}

// Hear takes one message from Redis. It never blocks: a room whose inbox is full reads everything again.
func (r *Rooms) Hear(heard game.Event) {
	if room := r.find(heard.Room); room != nil {
		room.hear(heard)
	}
}

// Grabbed takes note of a batch that came through, whatever it held.
func (r *Rooms) Grabbed(code, round string, grabbed game.Grabbed) {
	if room := r.find(code); room != nil {
		room.noteLeft(round, grabbed.Left)
	}
}

// Seated returns the nickname of a player who is in a room, or left it within the last minute, as this instance knows without
// asking anybody; false for others, and for who is known to be blocked.
func (r *Rooms) Seated(code, player string) (nickname string, ok bool) {
	room := r.find(code)
	if room == nil {
		return "", false
	}
	room.mu.Lock()
	defer room.mu.Unlock()
	seat := room.seats[player]
	if seat == nil || seat.blocked {
		return "", false
	}
	return seat.nickname, true
}

func (r *Rooms) find(code string) *Room {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.open[code]; e != nil {
		return e.room
	}
	return nil
}

// sweep ends rooms that nobody uses any more, some at once: one that waits for Redis keeps neither the others nor whoever wants
// to enter one that waits for its turn.
func (r *Rooms) sweep() {
	var ending errgroup.Group
	ending.SetLimit(endingAtOnce)
	defer func() { _ = ending.Wait() }() // none fails
	ticker := time.NewTicker(keepEmpty / 3)
	defer ticker.Stop()
	for {
		select {
		case <-r.ctx.Done():
			return
		case <-ticker.C:
			for _, e := range r.empty() {
				ending.Go(func() error {
					r.giveUp(e)
					return nil
				})
			}
		}
	}
}

// empty lists the rooms that nobody has used for keepEmpty. They can still be entered.
func (r *Rooms) empty() []*entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	var empty []*entry
	for _, e := range r.open {
		if e.unused() {
			empty = append(empty, e)
		}
	}
	return empty
}

// unused is asked under the lock.
func (e *entry) unused() bool {
	return e.users == 0 && e.err == nil && !e.left && time.Since(e.empty) > keepEmpty
}

// leaves reports, once, that a room is to be given up: from then on nobody enters it.
func (r *Rooms) leaves(e *entry) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !e.unused() {
		return false
	}
	e.left = true
	return true
}

// giveUp ends a room unless somebody has entered it. Who wants to enter meanwhile waits, so that the unsubscription cannot
// overtake their subscription.
func (r *Rooms) giveUp(e *entry) {
	if !r.leaves(e) {
		return
	}
	e.room.end()
	ctx, cancel := context.WithTimeout(r.ctx, removeFor)
	defer cancel()
	if err := r.opts.Ear.Remove(ctx, e.room.code); err != nil {
		r.opts.Log.Warn("cannot stop listening to a room", "room", e.room.code, "error", err)
	}
	r.mu.Lock()
	delete(r.open, e.room.code)
	r.mu.Unlock()
	close(e.gone)
}
