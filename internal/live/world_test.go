package live

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"redrain/internal/game"
	"redrain/internal/wire"
)

// world is a model of Redis with its pub/sub, by the bubble's clock: what a test needs to lose messages, hold calls and kill
// instances.
type world struct {
	mu      sync.Mutex
	rounds  map[string]*state
	ears    []*ear
	reports map[string]report // by instance
	holder  string
	epoch   int64
	marks   int64 // given to instances
	until   time.Time
	tallies []published
	fails   func(what string) error // what a call fails with
	before  func(what string)       // is called before each call, off the lock
	hangs   func(what string) bool  // what waits until its caller gives up
	calls   map[string][]time.Time  // by what was asked
}

type state struct {
	round  game.Round
	claims []game.Claim
	closed game.CloseReason
	frozen bool
	// changed is when it was closed, frozen or thawed last.
	changed time.Time
}

type report struct {
	game.Report
	at   time.Time
	mark int64
	here map[string]bool // players with that mark
}

type published struct {
	wire.Tally
	by string
	at time.Time
}

func newWorld() *world {
	return &world{rounds: make(map[string]*state), reports: make(map[string]report), calls: make(map[string][]time.Time)}
}

func now() game.Moment { return game.Moment(time.Now().UnixMilli()) }

// open starts a round's window after its countdown and tells everybody.
func (w *world) open(round game.Round) game.Round {
	w.mu.Lock()
	defer w.mu.Unlock()
	round.StartsAt = now() + game.Moment(round.Settings.Countdown)
	round.EndsAt = round.StartsAt + game.Moment(round.Settings.Duration)
	w.rounds[round.ID] = &state{round: round}
	w.publish(game.Event{Room: round.Room, Round: round.ID})
	return round
}

func (w *world) close(id string, reason game.CloseReason) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s := w.rounds[id]; s.closed == "" {
		s.closed, s.changed = reason, time.Now()
		w.publish(game.Event{Room: s.round.Room, Round: id})
	}
}

func (w *world) freeze(id string, frozen bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rounds[id].frozen, w.rounds[id].changed = frozen, time.Now()
	w.publish(game.Event{Room: w.rounds[id].round.Room, Round: id})
}

// lose takes a round's keys away, without a word to anybody, and returns what brings them back.
func (w *world) lose(id string) (restore func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	kept := w.rounds[id]
	delete(w.rounds, id)
	return func() { w.set(func(w *world) { w.rounds[id] = kept }) }
}

// claim grants packets as if another instance had asked: one for each player, in one batch.
func (w *world) claim(id string, drop game.DropID, players ...string) []game.Claim {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.rounds[id]
	var claims []game.Claim
	for _, player := range players {
		claim := game.Claim{Player: player, Drop: drop, Cents: 100, Number: len(s.claims) + 1}
		s.claims = append(s.claims, claim)
		claims = append(claims, claim)
	}
	w.publish(game.Event{Room: s.round.Room, Claims: &game.Claimed{Round: id, Left: s.left(), Claims: claims}})
	return claims
}

func (s *state) left() game.Total {
	left := game.Total{Packets: s.round.Settings.Packets - len(s.claims), Cents: s.round.Settings.Total}
	for _, claim := range s.claims {
		left.Cents -= claim.Cents
	}
	return left
}

// publish tells every ear that is not deaf; under the lock, so all hear in one order.
func (w *world) publish(heard game.Event) {
	for _, e := range w.ears {
		if e.rooms[heard.Room] && (e.deaf == nil || !e.deaf(heard)) {
			e.hear(heard)
		}
	}
}

// call counts a call, and fails it if the world is down.
func (w *world) call(ctx context.Context, what string) error {
	w.mu.Lock()
	w.calls[what] = append(w.calls[what], time.Now())
	before, fails, hangs := w.before, w.fails, w.hangs
	w.mu.Unlock()
	if hangs != nil && hangs(what) {
		<-ctx.Done()
	}
	if before != nil {
		before(what)
	}
	if fails != nil {
		if err := fails(what); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (w *world) asked(what string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.calls[what])
}

// tallied are all tallies that were published so far.
func (w *world) tallied() []published {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.tallies)
}

// set changes the world under its lock.
func (w *world) set(change func(*world)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(w)
}

// side is one instance's connection to the world: its Pool and its Ear.
type side struct {
	*world
	name string
	dead bool // the process is gone: nothing it does arrives
	ear  *ear
}

type ear struct {
	rooms map[string]bool
	hear  func(game.Event)
	deaf  func(game.Event) bool // messages that get lost
}

func (s *side) Snapshot(ctx context.Context, id string, top, latest int) (game.Standing, error) {
	if err := s.call(ctx, "snapshot"); err != nil {
		return game.Standing{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.rounds[id]
	if r == nil {
		return game.Standing{}, fmt.Errorf("snapshot: %w", game.ErrGone)
	}
	standing := game.Standing{
		Round: id, Phase: game.PhaseAt(now(), r.round.StartsAt), Reason: r.closed, Frozen: r.frozen,
		StartsAt: r.round.StartsAt, EndsAt: r.round.EndsAt, Now: now(), Left: r.left(),
	}
	if r.closed != "" {
		standing.Phase = game.Closed
	}
	standing.Top = r.board()[:min(top, len(r.board()))]
	for i := len(r.claims) - 1; i >= 0 && len(standing.Latest) < latest; i-- {
		standing.Latest = append(standing.Latest, r.claims[i])
	}
	return standing, nil
}

func (s *state) board() []game.Rank {
	totals := make(map[string]game.Rank)
	for _, claim := range s.claims {
		totals[claim.Player] = game.Rank{Player: claim.Player, Cents: totals[claim.Player].Cents + claim.Cents, Number: claim.Number}
	}
	var board []game.Rank
	for _, rank := range totals {
		board = append(board, rank)
	}
	slices.SortFunc(board, func(a, b game.Rank) int {
		if a.Cents != b.Cents {
			return int(b.Cents - a.Cents)
		}
		return a.Number - b.Number
	})
	return board
}

func (s *side) ClaimsOf(ctx context.Context, id string, players ...string) (map[string][]game.Claim, error) {
	if err := s.call(ctx, "claims"); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	held := make(map[string][]game.Claim)
	if r := s.rounds[id]; r != nil {
		for _, claim := range r.claims {
			if slices.Contains(players, claim.Player) {
				held[claim.Player] = append(held[claim.Player], claim)
			}
		}
	}
	return held, nil
}

// Report does what report.lua does.
func (s *side) Report(ctx context.Context, _ string, own game.Report, lease time.Duration) (game.Reports, error) {
	if err := s.call(ctx, "report"); err != nil {
		return game.Reports{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	all := game.Reports{Now: now()}
	if s.dead {
		return all, context.DeadlineExceeded
	}
	if lease == 0 {
		own.Arrivals = nil
	}
	all.Mark = s.follow(own, lease == 0)
	present := make(map[string]bool)
	for _, r := range s.reports {
		if time.Since(r.at) < 3*time.Second {
			all.Online += r.Online - len(r.here)
			all.Arrivals = append(all.Arrivals, r.Arrivals...)
			maps.Copy(present, r.here)
		}
		if r.Round == own.Round {
			all.Taps += r.Taps
		}
	}
	all.Online += len(present)
	switch {
	case lease == 0:
		if s.holder == s.name {
			s.until = time.Time{}
		}
		return game.Reports{Now: now()}, nil
	case s.holder != s.name && time.Now().Before(s.until):
		return game.Reports{Now: now(), Mark: all.Mark}, nil
	case s.holder != s.name || !time.Now().Before(s.until):
		s.holder, s.epoch = s.name, max(s.epoch+1, time.Now().UnixMilli())
	}
	s.until, all.Epoch = time.Now().Add(lease), s.epoch
	return all, nil
}

// follow keeps a report, and returns the instance's mark.
func (s *side) follow(own game.Report, leaves bool) int64 {
	last := s.reports[s.name]
	if last.mark == 0 || last.mark != own.Changes.Mark {
		s.marks++
		last.mark, last.here = s.marks, make(map[string]bool)
	} else {
		for _, player := range own.Changes.Came {
			last.here[player] = true
		}
		for _, player := range own.Changes.Left {
			delete(last.here, player)
		}
	}
	if leaves {
		last.mark, last.here = 0, nil
	}
	s.reports[s.name] = report{own, time.Now(), last.mark, last.here}
	return last.mark
}

// Sweep has nothing to do: what an instance that is gone had does not count here.
func (s *side) Sweep(ctx context.Context, _, _ string) (game.Swept, error) {
	return game.Swept{Cursor: "0"}, s.call(ctx, "sweep")
}

func (s *side) PublishTally(ctx context.Context, room string, text []byte) error {
	if err := s.call(ctx, "tally"); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dead {
		return context.DeadlineExceeded
	}
	var tally wire.Tally
	if err := json.Unmarshal(text, &tally, json.RejectUnknownMembers(true)); err != nil {
		return err
	}
	s.tallies = append(s.tallies, published{tally, s.name, time.Now()})
	s.publish(game.Event{Room: room, Tally: text})
	return nil
}

func (s *side) Add(ctx context.Context, room string) error {
	if err := s.call(ctx, "subscribe"); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ear.rooms[room] = true
	s.ear.hear(game.Event{Room: room, Missed: true})
	return nil
}

func (s *side) Remove(ctx context.Context, room string) error {
	if err := s.call(ctx, "unsubscribe"); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.ear.rooms, room)
	return nil
}
