package bots

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"sync"
	"time"

	"redrain/internal/backoff"
	"redrain/internal/game"
	"redrain/internal/wire"
)

// Options of a swarm.
type Options struct {
	// Instances are the servers' addresses, like http://127.0.0.1:8080; players are spread over them in turns.
	Instances []string
	Password  string
	Players   int
	// Token is a host's session, in place of the password.
	Token string
	// Round is a draft to play in Room; empty: the swarm creates a room and a round of its own.
	Room, Round string
	// MakePlayer creates player i with a session, instead of joining by nickname.
	MakePlayer func(ctx context.Context, i int) (id, token string, err error)
	// Rate is how many taps a second each player makes, whether results arrive or not (an open loop). Latency is measured from
	// when a tap was due, so that a stalled server does not look fast because it delayed the taps (coordinated omission). 0: a
	// closed loop, in which the next tap follows the result.
	Rate float64
	// Ramp is the time over which players join.
	Ramp time.Duration
	// Duration is that of the round.
	Duration time.Duration
	// Settings of the round override the swarm's own, as in POST /api/rooms/CODE/rounds.
	Settings map[string]any
	// Progress gets a line for every stage; may be nil.
	Progress func(format string, args ...any)
	// Idle, if set, is called when all players are connected and the round has not started; Played when the last has tapped and
	// all are still connected.
	Idle, Played func(ctx context.Context)
}

const (
	joinConcurrency = 64
	sourceAddresses = 250 // of 127.0.0.0/8, from which players connect: each has 28,000 ports
	countdown       = 3 * time.Second
	settleTimeout   = 15 * time.Second
)

// Swarm is one room with its host and its bots.
type Swarm struct {
	opts    Options
	host    *Host
	room    string
	players []*Player
	meter   measurements
}

// Play runs one round with a swarm of players, from joining to the audit of the books, and reports what was measured.
func Play(ctx context.Context, opts Options) (*Report, error) {
	if opts.Progress == nil {
		opts.Progress = func(string, ...any) {}
	}
	s := &Swarm{opts: opts, host: NewHost(opts.Instances[0])}
	defer s.disconnectAll()
	if err := s.joinAll(ctx); err != nil {
		return nil, err
	}
	if opts.Idle != nil {
		opts.Idle(ctx)
	}
	round, err := s.startRound(ctx)
	if err != nil {
		return nil, err
	}
	opts.Progress("playing for %v", opts.Duration)
	s.tapAll(ctx, round)
	if opts.Played != nil {
		opts.Played(ctx)
	}
	return s.finish(ctx, round)
}

// joinAll prepares the room and connects all players, evenly over the ramp.
func (s *Swarm) joinAll(ctx context.Context) error {
	if err := s.prepareRoom(ctx); err != nil {
		return err
	}
	s.opts.Progress("%d players join room %s", s.opts.Players, s.room)
	s.players = make([]*Player, s.opts.Players)
	began := time.Now()
	slots := make(chan struct{}, joinConcurrency)
	var joining sync.WaitGroup
	errs := make([]error, s.opts.Players)
	for i := range s.players {
		due := began.Add(s.opts.Ramp * time.Duration(i) / time.Duration(s.opts.Players))
		if !waitUntil(ctx, due) {
			break
		}
		slots <- struct{}{}
		joining.Go(func() {
			defer func() { <-slots }()
			errs[i] = s.join(ctx, i)
		})
	}
	joining.Wait()
	s.meter.connected(len(s.players), time.Since(began))
	return errors.Join(errors.Join(errs...), ctx.Err())
}

// prepareRoom logs the host in and creates the room, unless there is one.
func (s *Swarm) prepareRoom(ctx context.Context) error {
	if s.host.token = s.opts.Token; s.host.token == "" {
		if err := s.host.Login(ctx, s.opts.Password); err != nil {
			return err
		}
	}
	if s.room = s.opts.Room; s.room != "" {
		return nil
	}
	room, err := s.host.MakeRoom(ctx, "load")
	s.room = room.Code
	return err
}

func (s *Swarm) join(ctx context.Context, i int) error {
	instance := s.opts.Instances[i%len(s.opts.Instances)]
	p, err := s.newPlayer(ctx, instance, i)
	if err != nil {
		return err
	}
	s.players[i] = p
	p.onResult = s.meter.result
	p.onMessage = s.meter.message
	return p.Connect(ctx)
}

func (s *Swarm) newPlayer(ctx context.Context, instance string, i int) (*Player, error) {
	source := sourceFor(instance, i)
	if s.opts.MakePlayer == nil {
		return Join(ctx, instance, source, s.room, fmt.Sprintf("bot %d", i))
	}
	id, token, err := s.opts.MakePlayer(ctx, i)
	if err != nil {
		return nil, err
	}
	p := newPlayer(instance, source, s.room)
	p.ID, p.token = id, token
	return p, nil
}

// sourceFor spreads players over the loopback network, if that is where the server is.
func sourceFor(instance string, i int) string {
	u, err := url.Parse(instance)
	if err != nil {
		return ""
	}
	if ip := net.ParseIP(u.Hostname()); ip == nil || !ip.IsLoopback() || ip.To4() == nil {
		return ""
	}
	return fmt.Sprintf("127.0.%d.%d", 1+i/sourceAddresses%200, 1+i%sourceAddresses)
}

// startRound creates the round, unless there is one, and starts it.
func (s *Swarm) startRound(ctx context.Context) (wire.Round, error) {
	if s.opts.Round != "" {
		return s.host.Start(ctx, s.opts.Round)
	}
	settings := map[string]any{
		"title": "load", "total_cents": 100 * s.opts.Players, "packets": s.opts.Players, "cap": 3, "pace": "even",
		"drops_per_second": 8, "bomb_percent": 0, "close_when_sold_out": false,
		"countdown_ms": countdown.Milliseconds(), "duration_ms": s.opts.Duration.Milliseconds(),
	}
	for name, value := range s.opts.Settings {
		settings[name] = value
	}
	round, err := s.host.MakeRound(ctx, s.room, settings)
	if err != nil {
		return wire.Round{}, err
	}
	return s.host.Start(ctx, round.ID)
}

// tapAll lets all players tap until the round ends.
func (s *Swarm) tapAll(ctx context.Context, round wire.Round) {
	ctx, cancel := context.WithTimeout(ctx, countdown+s.opts.Duration+settleTimeout)
	defer cancel()
	var playing sync.WaitGroup
	for _, p := range s.players {
		playing.Go(func() {
			if s.opts.Rate > 0 {
				p.playOpen(ctx, round.ID, s.opts.Rate)
			} else {
				p.playClosed(ctx, round.ID)
			}
		})
	}
	playing.Wait()
}

// finish waits for the round's end, and then until the audit finds no violation any more, or time is up.
func (s *Swarm) finish(ctx context.Context, round wire.Round) (*Report, error) {
	s.opts.Progress("checking the books")
	deadline := time.Now().Add(settleTimeout)
	for {
		now, err := s.host.Round(ctx, round.ID)
		if err != nil {
			return nil, err
		}
		if now.Phase.Over() {
			break
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("the round is still %s", now.Phase)
		}
		if !waitUntil(ctx, time.Now().Add(100*time.Millisecond)) {
			return nil, ctx.Err()
		}
	}
	var violations []string
	for {
		var err error
		if violations, err = Audit(ctx, s.host, round.ID, s.players); err != nil {
			return nil, err
		}
		if len(violations) == 0 || time.Now().After(deadline) || !waitUntil(ctx, time.Now().Add(500*time.Millisecond)) {
			break
		}
	}
	return s.meter.report(s.opts, violations), nil
}

func (s *Swarm) disconnectAll() {
	var leaving sync.WaitGroup
	for _, p := range s.players {
		if p != nil {
			leaving.Go(p.Disconnect)
		}
	}
	leaving.Wait()
}

// waitUntil waits until a time; false if ctx ended before.
func waitUntil(ctx context.Context, due time.Time) bool {
	wait := time.Until(due)
	if wait <= 0 {
		return ctx.Err() == nil
	}
	return backoff.Sleep(ctx, wait, nil)
}

// playOpen taps at a steady rate with a random phase, whether results arrive or not.
func (p *Player) playOpen(ctx context.Context, round string, rate float64) {
	every := time.Duration(float64(time.Second) / rate)
	due := time.Now().Add(rand.N(every))
	for waitUntil(ctx, due) && !p.isDone(round) {
		if drop := p.pickDrop(round); drop != 0 {
			_ = p.Tap(ctx, drop, due) // a lost connection shows in Err
		}
		due = due.Add(every)
	}
}

// playClosed taps, waits for the result, and taps again.
func (p *Player) playClosed(ctx context.Context, round string) {
	answered := make(chan struct{}, 1)
	p.mu.Lock()
	record := p.onResult
	p.onResult = func(at time.Time, result wire.Result) {
		record(at, result)
		select {
		case answered <- struct{}{}:
		default:
		}
	}
	p.mu.Unlock()
	for !p.isDone(round) {
		drop := p.pickDrop(round)
		if drop == 0 {
			if !waitUntil(ctx, time.Now().Add(20*time.Millisecond)) {
				return
			}
			continue
		}
		if p.Tap(ctx, drop, time.Now()) != nil {
			return
		}
		select {
		case <-answered:
		case <-ctx.Done():
			return
		}
	}
}

func (p *Player) isDone(round string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err != nil || (p.round.ID == round && p.round.Phase.Over())
}

// pickDrop returns a falling drop that was not tapped yet, or else one that was, as people do.
func (p *Player) pickDrop(round string) game.DropID {
	if drop := p.NextDrop(); drop != 0 {
		return drop
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.round.ID != round || p.round.Phase != game.Raining {
		return 0
	}
	for drop := range p.tapped { // in no order, which is what is wanted
		return drop
	}
	return 0
}
