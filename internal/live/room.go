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

// Room is one room that this instance serves. Three loops keep it: one speaks (it alone changes what everybody was told, and
// never does I/O), one works with Redis and hands what it learned to the first, one works with SQL, which may hang without
// keeping the others from anything.
type Room struct {
	opts *Options
	code string
	name string

	inbox     chan game.Event
	work      chan func()   // to the speaking loop
	wake      chan struct{} // wakes the loop that reads Redis
	wakeBooks chan struct{} // wakes the loop that reads SQL
	// stale: where the round stands must be read again, from Redis and from SQL; lost: claims may have been missed.
	stale, booksStale, lost atomic.Bool
	booked                  atomic.Pointer[game.Round] // the current round as SQL was read last; nil: none yet
	names                   names
	cancel                  context.CancelFunc
	loops                   sync.WaitGroup

	audience audience

	saidSoldOut soldOutReport // of the loop that reads SQL alone

	// Of the speaking loop alone: the latest tally, how many there were, and which of them each part of the players has.
	latest   []byte
	serial   int
	spreadOf [parts]int
	waves    []wave
	news     map[string]bool // codes of notices that hosts are to hear with the next beat

	mu       sync.Mutex // guards what follows; nothing under it does I/O or waits
	rain     *rain      // nil before the room's first round
	seats    map[string]*Seat
	vacant   vacancies
	presence game.Presence
	lobby    lobby
	tally    wire.Tally
}

const (
	inboxSize = 4096
	// seatFor is how long a seat without tabs keeps its bucket and its spent drops.
	seatFor = time.Minute
)

func newRoom(opts *Options, known game.Room) *Room {
	return &Room{
		opts: opts, code: known.Code, name: known.Name,
		inbox: make(chan game.Event, inboxSize), work: make(chan func()),
		wake: make(chan struct{}, 1), wakeBooks: make(chan struct{}, 1),
		seats: make(map[string]*Seat), news: make(map[string]bool),
		tally: wire.Tally{Top: []wire.Rank{}, Winners: []wire.Claim{}, Arrivals: []wire.Arrival{}},
	}
}

func (r *Room) begin(ctx context.Context) {
	ctx, r.cancel = context.WithCancel(ctx)
	r.loops.Go(func() { r.speak(ctx) })
	r.loops.Go(func() { r.read(ctx) })
	r.loops.Go(func() { r.readBooks(ctx) })
}

func (r *Room) end() {
	if r.cancel == nil {
		return // never began
	}
	r.cancel()
	r.loops.Wait()
}

// Code is the room's join code.
func (r *Room) Code() string { return r.code }

// Watch lets a host's or a screen's connection in: it hears welcome first, and everything from then on.
func (r *Room) Watch(role wire.Role, m Member) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m.Deliver(r.welcome(wire.You{Role: role}, nil))
	r.audience.watch(m, role == wire.RoleHost)
}

// Sit lets a player's connection in. The player's claims are read from Redis first, so that a reload loses nothing; an
// error means that they could not be read.
func (r *Room) Sit(ctx context.Context, player, nickname string, m Member) (*Seat, error) {
	seat := r.seat(player, nickname)
	if err := r.loadClaims(ctx, seat); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	you := wire.You{Role: wire.RolePlayer, Player: player, Nickname: nickname}
	m.Deliver(r.welcome(you, seat))
	seat.members = append(seat.members, m)
	r.seats[player] = seat // a sweep may have taken it meanwhile
	if len(seat.members) == 1 {
		r.presence.Enter(player)
		r.lobby.enter(seat)
	}
	r.audience.sit(m)
	return seat, nil
}

// Rise takes a player's connection out; the seat stays for a while.
func (r *Room) Rise(seat *Seat, m Member) {
	r.audience.leave(m)
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, member := range seat.members {
		if member == m {
			seat.members = append(seat.members[:i:i], seat.members[i+1:]...)
			break
		}
	}
	seat.empty = time.Now()
	if len(seat.members) == 0 {
		r.presence.Leave(seat.player)
		r.lobby.leave(seat)
		r.vacant.add(seat)
	}
}

// Unwatch takes a host's or a screen's connection out.
func (r *Room) Unwatch(m Member) { r.audience.leave(m) }

func (r *Room) seat(player, nickname string) *Seat {
	r.mu.Lock()
	defer r.mu.Unlock()
	seat := r.seats[player]
	if seat == nil {
		seat = &Seat{
			room: r, player: player, came: r.opts.Clock.Now(),
			bucket: rate.NewLimiter(r.opts.TapsPerSecond, r.opts.TapBurst), empty: time.Now(),
		}
		r.seats[player] = seat
		r.vacant.add(seat)
	}
	seat.nickname = nickname
	seat.empty = time.Now() // it is not swept while its claims are read
	return seat
}

// loadClaims reads seats' claims in the current rain, and once more if another one began meanwhile. Claims heard meanwhile
// are kept.
func (r *Room) loadClaims(ctx context.Context, seats ...*Seat) error {
	players := make([]string, len(seats))
	for i, seat := range seats {
		players[i] = seat.player
	}
	for {
		r.mu.Lock()
		rain := r.rain
		r.mu.Unlock()
		if rain == nil || len(seats) == 0 {
			return nil
		}
		held, err := r.opts.Pool.ClaimsOf(ctx, rain.round.ID, players...)
		if err != nil {
			return fmt.Errorf("read own claims: %w", err)
		}
		if r.loaded(rain, seats, held) {
			return nil
		}
	}
}

// loaded gives seats what was read of their claims in a rain; false if that is not the current one any more.
func (r *Room) loaded(rain *rain, seats []*Seat, held map[string][]game.Claim) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.rain != rain {
		return false
	}
	for _, seat := range seats {
		seat.in(rain).loaded = true
		for _, claim := range held[seat.player] {
			seat.heard(claim)
		}
	}
	return true
}

// welcome is everything that a page needs now; under the room's lock.
func (r *Room) welcome(you wire.You, seat *Seat) []byte {
	now := r.opts.Clock.Now()
	w := wire.Welcome{Now: now, You: you, Room: wire.Room{Code: r.code, Name: r.name}, Tally: r.tally}
	if r.rain != nil {
		round := wire.RoundOf(r.rain.round)
		w.Round = &round
		w.Drops = wire.DropsOf(r.rain.sentDrops(now))
		if seat != nil {
			w.Claims = wire.ClaimsOf(round.ID, seat.in(r.rain).inOrder())
		}
	}
	return wire.Encode(w)
}

// TapOther takes a tap for a round that is not the current one as far as this instance knows: it looks again before it
// refuses. game.ErrNotFound when the room has no such round, or it was never opened; other errors that SQL does not tell, and
// nothing was done.
func (r *Room) TapOther(ctx context.Context, seat *Seat, round string, drop game.DropID, handler game.AnswerHandler) (game.Answer, error) {
	other, err := r.opts.Books.Round(ctx, round)
	if err != nil {
		return game.Answer{}, fmt.Errorf("look up the round of a tap: %w", err)
	}
	if other.Room != r.code || other.Phase == game.Draft {
		return game.Answer{}, fmt.Errorf("the round of a tap: %w", game.ErrNotFound)
	}
	if other.Phase.Active() { // else nothing can be won, and the script says what was
		r.nudge()
		now := r.opts.Clock.Now()
		if outcome, known := newRain(other, now).judgeDrop(drop, now, r.opts.Clock.Spread()); known {
			return game.Answer{Outcome: outcome}, nil
		}
	}
	if !r.opts.Committer.Submit(r.code, round, game.Tap{Player: seat.player, Drop: drop}, &lateAnswerHandler{handler, other}) {
		return game.Answer{Outcome: game.Busy}, nil
	}
	return game.Answer{}, nil
}

// lateAnswerHandler hears the answer to a tap on a round that may be long over.
type lateAnswerHandler struct {
	game.AnswerHandler

	round game.Round
}

// HandleAnswer says late where Redis has no keys any more because the round is over.
func (h *lateAnswerHandler) HandleAnswer(tap game.Tap, answer game.Answer) {
	h.AnswerHandler.HandleAnswer(tap, lateIfOver(answer, h.round))
}

// lateIfOver is the answer to a tap that the pool calls frozen: a round that is over, and not on hold, may have no keys any more,
// and is simply over.
func lateIfOver(answer game.Answer, round game.Round) game.Answer {
	if answer.Outcome == game.Frozen && round.Phase.Over() && !round.Frozen {
		answer.Outcome = game.Late
	}
	return answer
}

// refresh reads where the current round stands in Redis, and makes it known. Before begin it may be called directly.
func (r *Room) refresh(ctx context.Context) error {
	round := r.booked.Load()
	if round == nil {
		return nil
	}
	standing, err := r.opts.Pool.Snapshot(ctx, round.ID, 0, 0)
	switch {
	case keysLost(err):
		return r.do(ctx, func() { r.begins(*round) })
	case err != nil:
		return fmt.Errorf("read where the round stands: %w", err)
	default:
		return r.do(ctx, func() { r.stands(*round, standing) })
	}
}

// keysLost reports whether an error of the pool says that there are no keys, or none that fit together.
func keysLost(err error) bool { return errors.Is(err, game.ErrGone) || errors.Is(err, game.ErrTorn) }

// do hands something to the speaking loop and waits until it is done; before begin it is done at once. An error says that it
// was not done, because ctx ended first.
func (r *Room) do(ctx context.Context, what func()) error {
	if r.cancel == nil {
		what()
		return nil
	}
	done := make(chan struct{})
	select {
	case r.work <- func() { what(); close(done) }:
		<-done
		return nil
	case <-ctx.Done():
		return ctx.Err() //nolint:wrapcheck // says itself what it is
	}
}

// nudge has everything read again soon.
func (r *Room) nudge() {
	r.booksStale.Store(true)
	r.look()
}

// look has Redis read again soon, and a round closed that is sold out.
func (r *Room) look() {
	r.stale.Store(true)
	wake(r.wake)
	wake(r.wakeBooks)
}

func wake(loop chan<- struct{}) {
	select {
	case loop <- struct{}{}:
	default: // it has been told already
	}
}

func (r *Room) hear(heard game.Event) {
	select {
	case r.inbox <- heard:
	default:
		r.lost.Store(true)
		r.nudge() // it may have been about another round
	}
}

// noteLeft takes note of what a batch of taps from here left of a round.
func (r *Room) noteLeft(round string, left game.Total) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.rain == nil || r.rain.round.ID != round {
		return
	}
	was := r.rain.soldOut()
	r.rain.noteLeft(left)
	if !was && r.rain.soldOut() {
		r.look()
	}
}
