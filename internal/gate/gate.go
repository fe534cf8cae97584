// Package gate is where connections come in: it admits them, reads their frames, takes taps to the room that they are in,
// and writes what the room has to tell. The protocol is internal/wire/protocol.md.
//
// Invariant 9 is kept here: a slow, silent or hostile connection costs nobody else anything. Nothing waits for a
// connection; its queue is bounded, and it is cut when it does not read.
package gate

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"

	"redrain/internal/game"
	"redrain/internal/live"
)

// Sessions proves who somebody is. Player returns the player's id if the token is one for this room. game.ErrBusy: the token
// cannot be judged right now; any other error: it is none. WatchHost calls end, which must not block, once a host's session is over,
// unless stop is called before.
type Sessions interface {
	Host(token string) (game.HostSession, error)
	WatchHost(session game.HostSession, end func()) (stop func())
	Player(token, room string) (string, error)
}

// Origins says whether a request has an Origin header, and whether it may act for its visitor here.
type Origins interface {
	Check(r *http.Request) (present, ok bool)
}

// Players knows the players by id; game.ErrNotFound for others.
type Players interface {
	Player(ctx context.Context, id string) (game.Player, error)
}

// Options are what a Gate works with. Zero limits take the defaults.
type Options struct {
	Rooms    *live.Rooms
	Players  Players
	Sessions Sessions
	Origins  Origins
	// HostCookie and PlayerCookie name the cookies that hold tokens.
	HostCookie, PlayerCookie string
	Clock                    interface{ Now() game.Moment }
	// Queue is how many frames may wait for one connection, 512 by default; then it is cut.
	Queue int
	// WriteFor is how long one write may take at most, and half of that at least, 10 s by default.
	WriteFor time.Duration
	// PingEvery is the time between pings, 15 s by default, PongWithin how long the answer may take, 10 s by default: a dead
	// connection is gone within 25 s.
	PingEvery, PongWithin time.Duration
	// FramesPerSecond bounds what one connection may send, 50 by default, with bursts of twice that; who sends more is cut.
	// Control frames and continuations count, and so do bytes: see budget.
	FramesPerSecond rate.Limit
	// Bounds are how many connections may be open at once.
	Bounds Bounds
	// Network returns the network that counts as one client's address; nil: all requests come from one.
	Network func(r *http.Request) string
	// RoomGuessed waits until somebody without a session may hear whether there is a room; game.ErrTooMany: not now. nil: at once.
	RoomGuessed func(r *http.Request, room string, found bool) error
	// Scarce reports whether this process has only those connections left that are kept for hosts; nil: never.
	Scarce func() bool
	// Answered observes how long it took to answer a tap from memory, in seconds; nil: nobody does.
	Answered prometheus.Observer
	Log      *slog.Logger
}

// Gate admits and keeps connections. It is an http.Handler for /ws, and safe for concurrent use.
type Gate struct {
	opts    Options
	metrics *metrics
	conns   sync.WaitGroup
	places  places
	// ending is cancelled when a Close runs out of time: what connections wait for is given up.
	ending context.Context //nolint:containedctx // the lifetime of the connections, which no caller's context bounds
	giveUp context.CancelFunc

	mu     sync.Mutex
	open   map[*conn]struct{}
	closed bool
}

// New returns a Gate.
func New(opts Options) *Gate {
	if opts.Queue == 0 {
		opts.Queue = 512
	}
	if opts.WriteFor == 0 {
		opts.WriteFor = 10 * time.Second
	}
	if opts.PingEvery == 0 {
		opts.PingEvery = 15 * time.Second
	}
	if opts.PongWithin == 0 {
		opts.PongWithin = 10 * time.Second
	}
	if opts.FramesPerSecond == 0 {
		opts.FramesPerSecond = 50
	}
	if opts.Answered == nil {
		opts.Answered = prometheus.ObserverFunc(func(float64) {})
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if opts.Network == nil {
		opts.Network = func(*http.Request) string { return "" }
	}
	if opts.RoomGuessed == nil {
		opts.RoomGuessed = func(*http.Request, string, bool) error { return nil }
	}
	if opts.Scarce == nil {
		opts.Scarce = func() bool { return false }
	}
	g := &Gate{opts: opts, metrics: newMetrics(), places: places{bounds: opts.Bounds, taken: make(map[place]int)}, open: make(map[*conn]struct{})}
	g.ending, g.giveUp = context.WithCancel(context.Background())
	return g
}

// Connections is how many connections are open.
func (g *Gate) Connections() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.open)
}

// Close refuses new connections, tells the open ones to come back later, to another instance if need be, and waits until
// they are gone or ctx ends; then they are dropped.
func (g *Gate) Close(ctx context.Context) error {
	g.mu.Lock()
	g.closed = true
	for c := range g.open {
		c.closeWith(closeGoingAway)
	}
	g.mu.Unlock()
	gone := make(chan struct{})
	go func() {
		g.conns.Wait()
		close(gone)
	}()
	defer g.giveUp()
	select {
	case <-gone:
		return nil
	case <-ctx.Done():
		g.giveUp()
		g.dropAll()
		<-gone
		return context.Cause(ctx)
	}
}

func (g *Gate) dropAll() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for c := range g.open {
		c.closeNow()
	}
}

// register counts a connection in; false once the gate closes.
func (g *Gate) register(c *conn) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.open[c] = struct{}{}
	g.conns.Add(1)
	g.metrics.opened[c.guest.role].Inc()
	g.metrics.open[c.guest.role].Inc()
	return true
}

func (g *Gate) unregister(c *conn) {
	g.mu.Lock()
	delete(g.open, c)
	g.mu.Unlock()
	g.metrics.open[c.guest.role].Dec()
	g.conns.Done()
}
