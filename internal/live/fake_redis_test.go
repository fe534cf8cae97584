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

// fakeRedis is Redis with its pub/sub in memory, by the clock of the synctest bubble. A test can lose events, hold up or fail calls, and
// kill instances.
type fakeRedis struct {
	mu            sync.Mutex
	rounds        map[string]*fakeRound
	subscriptions []*fakeSubscription
	reports       map[string]instanceReport // by instance
	holder        string
	epoch         int64
	marks         int64 // given to instances
	leaseUntil    time.Time
	tallies       []publishedTally
	fails         func(what string) error // the error that a call fails with
	before        func(what string)       // is called before each call, without the lock
	hangs         func(what string) bool  // calls that do not return before their ctx ends
	calls         map[string][]time.Time  // when each kind of call was made
}

type fakeRound struct {
	round  game.Round
	claims []game.Claim
	closed game.CloseReason
	frozen bool
	// changed is when it was last closed, frozen or unfrozen.
	changed time.Time
}

type instanceReport struct {
	game.Report
	at      time.Time
	mark    int64
	players map[string]bool // who have that mark
}

type publishedTally struct {
	wire.Tally
	by string
	at time.Time
}

func newFakeRedis() *fakeRedis {
	return &fakeRedis{rounds: make(map[string]*fakeRound), reports: make(map[string]instanceReport), calls: make(map[string][]time.Time)}
}

func now() game.Moment { return game.Moment(time.Now().UnixMilli()) }

// openRound opens a round, which starts after its countdown, and publishes that.
func (redis *fakeRedis) openRound(round game.Round) game.Round {
	redis.mu.Lock()
	defer redis.mu.Unlock()
	round.StartsAt = now() + game.Moment(round.Settings.Countdown)
	round.EndsAt = round.StartsAt + game.Moment(round.Settings.Duration)
	redis.rounds[round.ID] = &fakeRound{round: round}
	redis.publish(game.Event{Room: round.Room, Round: round.ID})
	return round
}

func (redis *fakeRedis) closeRound(id string, reason game.CloseReason) {
	redis.mu.Lock()
	defer redis.mu.Unlock()
	if s := redis.rounds[id]; s.closed == "" {
		s.closed, s.changed = reason, time.Now()
		redis.publish(game.Event{Room: s.round.Room, Round: id})
	}
}

func (redis *fakeRedis) setFrozen(id string, frozen bool) {
	redis.mu.Lock()
	defer redis.mu.Unlock()
	redis.rounds[id].frozen, redis.rounds[id].changed = frozen, time.Now()
	redis.publish(game.Event{Room: redis.rounds[id].round.Room, Round: id})
}

// loseKeys removes a round's keys without any event. restore brings them back.
func (redis *fakeRedis) loseKeys(id string) (restore func()) {
	redis.mu.Lock()
	defer redis.mu.Unlock()
	kept := redis.rounds[id]
	delete(redis.rounds, id)
	return func() { redis.withLock(func(redis *fakeRedis) { redis.rounds[id] = kept }) }
}

// claim grants each player a packet, in one batch, as if they had tapped on another instance.
func (redis *fakeRedis) claim(id string, drop game.DropID, players ...string) []game.Claim {
	redis.mu.Lock()
	defer redis.mu.Unlock()
	s := redis.rounds[id]
	var claims []game.Claim
	for _, player := range players {
		claim := game.Claim{Player: player, Drop: drop, Cents: 100, Number: len(s.claims) + 1}
		s.claims = append(s.claims, claim)
		claims = append(claims, claim)
	}
	redis.publish(game.Event{Room: s.round.Room, Claims: &game.Claimed{Round: id, Left: s.left(), Claims: claims}})
	return claims
}

func (s *fakeRound) left() game.Total {
	left := game.Total{Packets: s.round.Settings.Packets - len(s.claims), Cents: s.round.Settings.Total}
	for _, claim := range s.claims {
		left.Cents -= claim.Cents
	}
	return left
}

// publish hands an event to all subscriptions that do not drop it. It needs the lock, so that all receive events in the same order.
func (redis *fakeRedis) publish(event game.Event) {
	for _, s := range redis.subscriptions {
		if s.rooms[event.Room] && (s.drops == nil || !s.drops(event)) {
			s.handle(event)
		}
	}
}

// call records a call of the pool, and holds it up or fails it if the test wants that.
func (redis *fakeRedis) call(ctx context.Context, what string) error {
	redis.mu.Lock()
	redis.calls[what] = append(redis.calls[what], time.Now())
	before, fails, hangs := redis.before, redis.fails, redis.hangs
	redis.mu.Unlock()
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

func (redis *fakeRedis) callCount(what string) int {
	redis.mu.Lock()
	defer redis.mu.Unlock()
	return len(redis.calls[what])
}

func (redis *fakeRedis) publishedTallies() []publishedTally {
	redis.mu.Lock()
	defer redis.mu.Unlock()
	return slices.Clone(redis.tallies)
}

// withLock calls a function that changes the fake, under its lock.
func (redis *fakeRedis) withLock(change func(*fakeRedis)) {
	redis.mu.Lock()
	defer redis.mu.Unlock()
	change(redis)
}

// fakePool is one instance's connection to a fakeRedis: its Pool and its Subscription.
type fakePool struct {
	*fakeRedis
	name         string
	dead         bool // the process is gone: its calls have no effect
	subscription *fakeSubscription
}

type fakeSubscription struct {
	rooms  map[string]bool
	handle func(game.Event)
	drops  func(game.Event) bool // which events are lost
}

func (p *fakePool) Snapshot(ctx context.Context, id string, top, latest int) (game.Standing, error) {
	if err := p.call(ctx, "snapshot"); err != nil {
		return game.Standing{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.rounds[id]
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

func (s *fakeRound) board() []game.Rank {
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

func (p *fakePool) ClaimsOf(ctx context.Context, id string, players ...string) (map[string][]game.Claim, error) {
	if err := p.call(ctx, "claims"); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	held := make(map[string][]game.Claim)
	if r := p.rounds[id]; r != nil {
		for _, claim := range r.claims {
			if slices.Contains(players, claim.Player) {
				held[claim.Player] = append(held[claim.Player], claim)
			}
		}
	}
	return held, nil
}

// Report does what report.lua does.
func (p *fakePool) Report(ctx context.Context, _ string, own game.Report, lease time.Duration) (game.Reports, error) {
	if err := p.call(ctx, "report"); err != nil {
		return game.Reports{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	all := game.Reports{Now: now()}
	if p.dead {
		return all, context.DeadlineExceeded
	}
	if lease == 0 {
		own.Arrivals = nil
	}
	all.Mark = p.applyReport(own, lease == 0)
	present := make(map[string]bool)
	for _, r := range p.reports {
		if time.Since(r.at) < 3*time.Second {
			all.Online += r.Online - len(r.players)
			all.Arrivals = append(all.Arrivals, r.Arrivals...)
			maps.Copy(present, r.players)
		}
		if r.Round == own.Round {
			all.Taps += r.Taps
		}
	}
	all.Online += len(present)
	switch {
	case lease == 0:
		if p.holder == p.name {
			p.leaseUntil = time.Time{}
		}
		return game.Reports{Now: now()}, nil
	case p.holder != p.name && time.Now().Before(p.leaseUntil):
		return game.Reports{Now: now(), Mark: all.Mark}, nil
	case p.holder != p.name || !time.Now().Before(p.leaseUntil):
		p.holder, p.epoch = p.name, max(p.epoch+1, time.Now().UnixMilli())
	}
	p.leaseUntil, all.Epoch = time.Now().Add(lease), p.epoch
	return all, nil
}

// applyReport stores a report, and returns the instance's mark.
func (p *fakePool) applyReport(own game.Report, isLast bool) int64 {
	last := p.reports[p.name]
	if last.mark == 0 || last.mark != own.Changes.Mark {
		p.marks++
		last.mark, last.players = p.marks, make(map[string]bool)
	} else {
		for _, player := range own.Changes.Joined {
			last.players[player] = true
		}
		for _, player := range own.Changes.Left {
			delete(last.players, player)
		}
	}
	if isLast {
		last.mark, last.players = 0, nil
	}
	p.reports[p.name] = instanceReport{own, time.Now(), last.mark, last.players}
	return last.mark
}

// Sweep removes nothing: the presence of an instance that is gone does not count here.
func (p *fakePool) Sweep(ctx context.Context, _, _ string) (game.Swept, error) {
	return game.Swept{Cursor: "0"}, p.call(ctx, "sweep")
}

func (p *fakePool) PublishTally(ctx context.Context, room string, text []byte) error {
	if err := p.call(ctx, "tally"); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead {
		return context.DeadlineExceeded
	}
	var tally wire.Tally
	if err := json.Unmarshal(text, &tally, json.RejectUnknownMembers(true)); err != nil {
		return err
	}
	p.tallies = append(p.tallies, publishedTally{tally, p.name, time.Now()})
	p.publish(game.Event{Room: room, Tally: text})
	return nil
}

func (p *fakePool) SubscribeRoom(ctx context.Context, room string) error {
	if err := p.call(ctx, "subscribe"); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.subscription.rooms[room] = true
	p.subscription.handle(game.Event{Room: room, Missed: true})
	return nil
}

func (p *fakePool) UnsubscribeRoom(ctx context.Context, room string) error {
	if err := p.call(ctx, "unsubscribe"); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.subscription.rooms, room)
	return nil
}
