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
	fails         func(what string) error // what a call fails with
	before        func(what string)       // is called before each call, off the lock
	hangs         func(what string) bool  // what waits until its caller gives up
	calls         map[string][]time.Time  // by what was asked
}

type fakeRound struct {
	round  game.Round
	claims []game.Claim
	closed game.CloseReason
	frozen bool
	// changed is when it was closed, frozen or thawed last.
	changed time.Time
}

type instanceReport struct {
	game.Report
	at   time.Time
	mark int64
	here map[string]bool // players with that mark
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

// open starts a round's window after its countdown and tells everybody.
func (redis *fakeRedis) openRound(round game.Round) game.Round {
	redis.mu.Lock()
	defer redis.mu.Unlock()
	round.StartsAt = now() + game.Moment(round.Settings.Countdown.Milliseconds())
	round.EndsAt = round.StartsAt + game.Moment(round.Settings.Duration.Milliseconds())
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

// lose takes a round's keys away, without a word to anybody, and returns what brings them back.
func (redis *fakeRedis) loseKeys(id string) (restore func()) {
	redis.mu.Lock()
	defer redis.mu.Unlock()
	kept := redis.rounds[id]
	delete(redis.rounds, id)
	return func() { redis.withLock(func(redis *fakeRedis) { redis.rounds[id] = kept }) }
}

// claim grants packets as if another instance had asked: one for each player, in one batch.
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

// publish tells every ear that is not deaf; under the lock, so all hear in one order.
func (redis *fakeRedis) publish(heard game.Event) {
	for _, e := range redis.subscriptions {
		if e.rooms[heard.Room] && (e.drops == nil || !e.drops(heard)) {
			e.handle(heard)
		}
	}
}

// call counts a call, and fails it if the world is down.
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

// tallied are all tallies that were published so far.
func (redis *fakeRedis) publishedTallies() []publishedTally {
	redis.mu.Lock()
	defer redis.mu.Unlock()
	return slices.Clone(redis.tallies)
}

// set changes the world under its lock.
func (redis *fakeRedis) withLock(change func(*fakeRedis)) {
	redis.mu.Lock()
	defer redis.mu.Unlock()
	change(redis)
}

// side is one instance's connection to the world: its Pool and its Ear.
type fakePool struct {
	*fakeRedis
	name         string
	dead         bool // the process is gone: nothing it does arrives
	subscription *fakeSubscription
}

type fakeSubscription struct {
	rooms  map[string]bool
	handle func(game.Event)
	drops  func(game.Event) bool // messages that get lost
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

// follow keeps a report, and returns the instance's mark.
func (p *fakePool) applyReport(own game.Report, leaves bool) int64 {
	last := p.reports[p.name]
	if last.mark == 0 || last.mark != own.Changes.Mark {
		p.marks++
		last.mark, last.here = p.marks, make(map[string]bool)
	} else {
		for _, player := range own.Changes.Joined {
			last.here[player] = true
		}
		for _, player := range own.Changes.Left {
			delete(last.here, player)
		}
	}
	if leaves {
		last.mark, last.here = 0, nil
	}
	p.reports[p.name] = instanceReport{own, time.Now(), last.mark, last.here}
	return last.mark
}

// Sweep has nothing to do: what an instance that is gone had does not count here.
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
