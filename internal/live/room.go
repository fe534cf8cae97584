package live

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"redrain/internal/game"
	"redrain/internal/wire"
)

// Room is one room that this instance serves. Three loops run for it:
//
//   - The broadcast loop alone changes the round's state and sends frames to all clients. It does no I/O.
//   - The Redis sync loop reads from Redis, hands what it read to the broadcast loop, and publishes the tally.
//   - The SQL sync loop reads from SQL. While SQL hangs, the other two go on.
type Room struct {
	opts *Options
	code string
	name string

	inbox     chan game.Event
	tasks     chan func()   // functions for the broadcast loop to run
	redisWake chan struct{} // ends the pause of the Redis sync loop
	sqlWake   chan struct{} // ends the pause of the SQL sync loop
	// redisStale and sqlStale: the round must be read again, from Redis and from SQL. claimsMissed: events with claims may have been
	// missed.
	redisStale, sqlStale, claimsMissed atomic.Bool
	sqlRound                           atomic.Pointer[game.Round] // the current round as last read from SQL; nil: none yet
	nicknames                          nicknameCache
	cancel                             context.CancelFunc // stops the loops; nil before start
	loops                              sync.WaitGroup

	subscribers subscribers

	lastSoldOut soldOutReport // used only by the SQL sync loop

	broadcast broadcastState // used only by the broadcast loop

	mu       sync.Mutex                // guards the fields below; no I/O and no waiting while it is held
	state    *roundState               // nil before the room's first round
	sessions map[string]*PlayerSession // by player
	idle     idleSessions
	presence game.Presence
	arrivals recentArrivals
	blocked  map[string]bool // players, as last read from SQL
	tally    wire.Tally      // the latest
}

const inboxSize = 4096

func newRoom(opts *Options, known game.Room) *Room {
	return &Room{
		opts: opts, code: known.Code, name: known.Name,
		inbox: make(chan game.Event, inboxSize), tasks: make(chan func()),
		redisWake: make(chan struct{}, 1), sqlWake: make(chan struct{}, 1),
		sessions:  make(map[string]*PlayerSession),
		presence:  game.NewPresence(int64(opts.Clock.Now())), // far less than a report a millisecond is made
		broadcast: broadcastState{hostNotices: make(map[string]bool)},
		tally:     wire.Tally{Top: []wire.Rank{}, Winners: []wire.Claim{}, Arrivals: []wire.Arrival{}},
	}
}

func (r *Room) start(ctx context.Context) {
	ctx, r.cancel = context.WithCancel(ctx)
	r.loops.Go(func() { r.broadcastLoop(ctx) })
	r.loops.Go(func() { r.redisSyncLoop(ctx) })
	r.loops.Go(func() { r.sqlSyncLoop(ctx) })
}

func (r *Room) stop() {
	if r.cancel == nil {
		return // it was never started
	}
	r.cancel()
	r.loops.Wait()
}

// Code is the room's join code.
func (r *Room) Code() string { return r.code }

// Subscribe adds the client of a host or a screen. It is sent welcome first, and then every broadcast.
func (r *Room) Subscribe(role wire.Role, client Client) {
	r.mu.Lock()
	defer r.mu.Unlock()
	client.Send(r.welcomeFrame(wire.You{Role: role}, nil))
	r.subscribers.addWatcher(client, role == wire.RoleHost)
}

// Unsubscribe removes the client of a host or a screen.
func (r *Room) Unsubscribe(client Client) { r.subscribers.remove(client) }

// Join adds the client of a player. The player's claims are read from Redis first, so that welcome contains all of them after a
// reload. An error means that they could not be read, and the client was not added.
func (r *Room) Join(ctx context.Context, player, nickname string, client Client) (*PlayerSession, error) {
	session := r.openSession(player, nickname)
	if err := r.loadClaims(ctx, session); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	you := wire.You{Role: wire.RolePlayer, Player: player, Nickname: nickname}
	client.Send(r.welcomeFrame(you, session))
	session.clients = append(session.clients, client)
	r.sessions[player] = session // it may have expired meanwhile
	if len(session.clients) == 1 {
		r.presence.Enter(player)
		r.arrivals.add(session)
	}
	r.subscribers.addPlayer(client)
	return session, nil
}

// Leave removes the client of a player. The player's session is kept for sessionIdleTimeout after the last one.
func (r *Room) Leave(session *PlayerSession, client Client) {
	r.subscribers.remove(client)
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, c := range session.clients {
		if c == client {
			session.clients = append(session.clients[:i:i], session.clients[i+1:]...)
			break
		}
	}
	session.idleSince = time.Now()
	if len(session.clients) == 0 {
		r.presence.Leave(session.player)
		r.arrivals.remove(session)
		r.idle.add(session)
	}
}

// openSession returns the player's session, or a new one.
func (r *Room) openSession(player, nickname string) *PlayerSession {
	r.mu.Lock()
	defer r.mu.Unlock()
	session := r.sessions[player]
	if session == nil {
		session = &PlayerSession{
			room: r, player: player, joinedAt: r.opts.Clock.Now(),
			limiter: rate.NewLimiter(r.opts.TapsPerSecond, r.opts.TapBurst), idleSince: time.Now(),
		}
		r.sessions[player] = session
		r.idle.add(session)
	}
	session.nickname = nickname
	session.idleSince = time.Now() // so that it does not expire while its claims are read
	return session
}

// loadClaims reads the claims of some sessions in the current round. If another round becomes the current one meanwhile, it reads
// those in the new one. Claims that were received as events meanwhile are kept.
func (r *Room) loadClaims(ctx context.Context, sessions ...*PlayerSession) error {
	players := make([]string, len(sessions))
	for i, session := range sessions {
		players[i] = session.player
	}
	for {
		r.mu.Lock()
		state := r.state
		r.mu.Unlock()
		if state == nil || len(sessions) == 0 {
			return nil
		}
		claims, err := r.opts.Pool.ClaimsOf(ctx, state.round.ID, players...)
		if err != nil {
			return fmt.Errorf("read own claims: %w", err)
		}
		if r.addLoadedClaims(state, sessions, claims) {
			return nil
		}
	}
}

// addLoadedClaims adds claims that were read in a round to the sessions of their players. It returns false, and adds nothing, if that
// round is not the current one any more.
func (r *Room) addLoadedClaims(state *roundState, sessions []*PlayerSession, claims map[string][]game.Claim) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.state != state {
		return false
	}
	for _, session := range sessions {
		session.forRound(state).claimsLoaded = true
		for _, claim := range claims[session.player] {
			session.receiveClaim(claim)
		}
	}
	return true
}

// welcomeFrame contains everything that a page needs to start; session is nil for hosts and screens. Needs mu.
func (r *Room) welcomeFrame(you wire.You, session *PlayerSession) []byte {
	now := r.opts.Clock.Now()
	w := wire.Welcome{Now: now, You: you, Room: wire.Room{Code: r.code, Name: r.name}, Tally: r.tally}
	if r.state != nil {
		round := wire.RoundOf(r.state.round)
		w.Round = &round
		w.Drops = wire.DropsOf(r.state.visibleDrops(now))
		if session != nil {
			w.Claims = wire.ClaimsOf(round.ID, session.forRound(r.state).claimsByNumber())
		}
	}
	return wire.Encode(w)
}

// readRedisRound reads the state of the current round from Redis, and hands it to the broadcast loop. Before start it can be called
// directly.
func (r *Room) readRedisRound(ctx context.Context) error {
	round := r.sqlRound.Load()
	if round == nil {
		return nil
	}
	snapshot, err := r.opts.Pool.Snapshot(ctx, round.ID, 0, 0)
	switch {
	case isKeysLost(err):
		return r.runInBroadcastLoop(ctx, func() { r.applyMissingKeys(*round) })
	case err != nil:
		return fmt.Errorf("read where the round stands: %w", err)
	default:
		return r.runInBroadcastLoop(ctx, func() { r.applySnapshot(*round, snapshot) })
	}
}

// isKeysLost reports whether an error of the pool says that a round has no keys, or not all of them.
func isKeysLost(err error) bool { return errors.Is(err, game.ErrGone) || errors.Is(err, game.ErrTorn) }

// runInBroadcastLoop has the broadcast loop call a function, and waits until it was called; before start it is called directly. An
// error says that ctx ended first, and it was not called.
func (r *Room) runInBroadcastLoop(ctx context.Context, task func()) error {
	if r.cancel == nil {
		task()
		return nil
	}
	done := make(chan struct{})
	select {
	case r.tasks <- func() { task(); close(done) }:
		<-done
		return nil
	case <-ctx.Done():
		return ctx.Err() //nolint:wrapcheck // says itself what it is
	}
}

// requestSync has the round read again soon, from SQL and from Redis.
func (r *Room) requestSync() {
	r.sqlStale.Store(true)
	r.requestRedisSync()
}

// requestRedisSync has the round read again soon from Redis. It also wakes the SQL sync loop, which closes a round that is sold out.
func (r *Room) requestRedisSync() {
	r.redisStale.Store(true)
	wakeLoop(r.redisWake)
	wakeLoop(r.sqlWake)
}

func wakeLoop(wake chan<- struct{}) {
	select {
	case wake <- struct{}{}:
	default: // it is about to wake already
	}
}

// enqueueEvent hands an event to the broadcast loop, without blocking.
func (r *Room) enqueueEvent(event game.Event) {
	select {
	case r.inbox <- event:
	default:
		r.claimsMissed.Store(true)
		r.requestSync() // the event may have been about another round
	}
}

// recordLeft records how much of a round was left after a batch of taps from this instance.
func (r *Room) recordLeft(round string, left game.Total) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.state == nil || r.state.round.ID != round {
		return
	}
	before := r.state.isSoldOut()
	r.state.recordLeft(left)
	if !before && r.state.isSoldOut() {
		r.requestRedisSync()
	}
}
