package rounds_test

import (
	"context"
	"errors"
	"sync"
	"time"

	"redrain/internal/game"
)

var errAway = errors.New("connection refused")

// fakePool behaves like internal/rdb, in memory and by the clock of the test. All instances share one.
type fakePool struct {
	mu     sync.Mutex
	keys   map[string]*fakeKeys
	away   bool            // every call fails
	hangs  map[string]bool // rounds whose calls last until their context is done
	panics map[string]bool // rounds whose calls panic
	torn   map[string]bool // rounds that cannot be opened
	calls  int
	told   []game.NoticeCode // what hosts were told
}

type fakeKeys struct {
	standing game.Standing
	secret   game.Secret
	amounts  []game.Cents
	closed   int // how often a Close changed them
	closedAt game.Moment
}

func newFakePool() *fakePool {
	return &fakePool{
		keys: map[string]*fakeKeys{}, hangs: map[string]bool{}, panics: map[string]bool{}, torn: map[string]bool{},
	}
}

func (p *fakePool) NotifyHosts(ctx context.Context, _ string, code game.NoticeCode) error {
	if err := p.lock(ctx, ""); err != nil {
		return err
	}
	defer p.mu.Unlock()
	p.told = append(p.told, code)
	return nil
}

func (p *fakePool) Now() game.Moment { return game.Moment(time.Now().UnixMilli()) }

// lock begins every call: it locks the pool, or fails as the test has set.
func (p *fakePool) lock(ctx context.Context, round string) error {
	p.mu.Lock()
	p.calls++
	hang, broken, away := p.hangs[round], p.panics[round], p.away
	switch {
	case hang:
		p.mu.Unlock()
		<-ctx.Done()
		return ctx.Err()
	case broken:
		p.mu.Unlock()
		panic("a round that nobody can work out")
	case away:
		p.mu.Unlock()
		return errAway
	}
	return nil
}

func (p *fakePool) Open(ctx context.Context, round game.Round, amounts []game.Cents) (game.Standing, error) {
	if err := p.lock(ctx, round.ID); err != nil {
		return game.Standing{}, err
	}
	defer p.mu.Unlock()
	if p.torn[round.ID] {
		return game.Standing{}, game.ErrTorn
	}
	if k := p.keys[round.ID]; k != nil {
		return k.now(p.Now()), nil
	}
	starts := p.Now() + game.Moment(round.Settings.Countdown)
	k := &fakeKeys{secret: round.Secret, amounts: amounts, standing: game.Standing{
		Round: round.ID, StartsAt: starts, EndsAt: starts + game.Moment(round.Settings.Duration),
		Left: game.Total{Packets: round.Settings.Packets, Cents: round.Settings.Total},
	}}
	p.keys[round.ID] = k
	return k.now(p.Now()), nil
}

func (p *fakePool) Close(ctx context.Context, round game.Round, reason game.CloseReason) (game.Standing, error) {
	if err := p.lock(ctx, round.ID); err != nil {
		return game.Standing{}, err
	}
	defer p.mu.Unlock()
	k, now := p.keys[round.ID], p.Now()
	switch {
	case k == nil:
		return game.Standing{}, game.ErrGone
	case k.closed > 0:
		return k.now(now), nil
	case reason == game.ByTime && now < k.standing.EndsAt, reason == game.BySoldOut && k.standing.Left.Packets > 0:
		return game.Standing{}, game.ErrNotYet
	case reason == game.Cancelled && now >= k.standing.StartsAt:
		return game.Standing{}, game.ErrWrongPhase
	}
	k.standing.Reason, k.closedAt = reason, now
	k.closed++
	return k.now(now), nil
}

func (p *fakePool) Standing(ctx context.Context, round string) (game.Standing, error) {
	if err := p.lock(ctx, round); err != nil {
		return game.Standing{}, err
	}
	defer p.mu.Unlock()
	if k := p.keys[round]; k != nil {
		return k.now(p.Now()), nil
	}
	return game.Standing{}, game.ErrGone
}

func (k *fakeKeys) now(now game.Moment) game.Standing {
	standing := k.standing
	standing.Now, standing.Phase = now, game.PhaseAt(now, standing.StartsAt)
	if k.closed > 0 {
		standing.Phase = game.Closed
	}
	return standing
}

// read returns a copy of a round's keys; false when there are none.
func (p *fakePool) read(round string) (fakeKeys, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if k := p.keys[round]; k != nil {
		return *k, true
	}
	return fakeKeys{}, false
}

// change changes the pool under its lock.
func (p *fakePool) change(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
}

func (p *fakePool) setAway(away bool) { p.change(func() { p.away = away }) }

// claim claims packets of a cent each.
func (p *fakePool) claim(round string, packets int) {
	p.change(func() {
		left := &p.keys[round].standing.Left
		left.Packets -= packets
		left.Cents -= game.Cents(packets)
		if left.Packets == 0 {
			left.Cents = 0
		}
	})
}
