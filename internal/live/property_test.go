package live

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"redrain/internal/game"
)

// answerTap returns what the script would answer to a tap right now. It checks in the script's order.
func (redis *fakeRedis) answerTap(id string, tap game.Tap) game.Answer {
	redis.mu.Lock()
	defer redis.mu.Unlock()
	s := redis.rounds[id]
	own := 0
	for _, claim := range s.claims {
		if claim.Player != tap.Player {
			continue
		}
		if claim.Drop == tap.Drop {
			return game.Answer{Outcome: game.Duplicate, Cents: claim.Cents, Number: claim.Number}
		}
		own++
	}
	at := now()
	outcome := game.Won
	switch {
	case s.frozen:
		outcome = game.Frozen
	case at < s.round.StartsAt:
		outcome = game.Early
	case s.closed == game.BySoldOut:
		outcome = game.SoldOut
	case s.closed != "" || at >= s.round.EndsAt:
		outcome = game.Late
	case own >= s.round.Settings.Cap:
		outcome = game.Capped
	case s.left().Packets == 0:
		outcome = game.SoldOut
	case len(s.claims) >= s.round.Settings.Released(int64(at-s.round.StartsAt)):
		outcome = game.Missed
	}
	return game.Answer{Outcome: outcome}
}

// skewedClock is an estimate of Redis' clock that is off by up to its spread.
type skewedClock struct{ off, spread int64 }

func (c skewedClock) Now() game.Moment { return now() + game.Moment(c.off) }
func (c skewedClock) Spread() int64    { return c.spread }

// scenario is a generated sequence of actions in a round, with one player on one instance.
type scenario struct {
	settings game.Settings
	clock    skewedClock
	steps    []step
}

type step struct {
	wait time.Duration
	what string
	drop game.DropID
}

var actions = []string{
	"tap", "tap", "tap", "tap", "tap", "other wins", "other wins", "own win elsewhere", "own win lost",
	"lose events", "receive events", "freeze", "unfreeze", "stop", "reload",
}

func drawScenario(t *rapid.T) scenario {
	s := scenario{settings: newRound().Settings}
	s.settings.Packets = rapid.IntRange(1, 12).Draw(t, "packets")
	s.settings.Total = game.Cents(100 * s.settings.Packets)
	s.settings.Cap = rapid.IntRange(1, 3).Draw(t, "cap")
	s.settings.Pace = rapid.SampledFrom([]game.Pace{game.PaceBurst, game.PaceEven}).Draw(t, "pace")
	s.settings.CloseWhenSoldOut = rapid.Bool().Draw(t, "close when sold out")
	s.settings.Duration = game.Millis(1000 * rapid.IntRange(3, 12).Draw(t, "duration"))
	s.settings.Countdown = game.Millis(rapid.IntRange(0, 2000).Draw(t, "countdown"))
	s.settings.BombPercent = 20
	s.clock.spread = rapid.Int64Range(1, 300).Draw(t, "spread")
	s.clock.off = rapid.Int64Range(-s.clock.spread, s.clock.spread).Draw(t, "off")
	for range rapid.IntRange(5, 60).Draw(t, "steps") {
		s.steps = append(s.steps, step{
			wait: time.Duration(rapid.IntRange(0, 600).Draw(t, "wait")) * time.Millisecond,
			what: rapid.SampledFrom(actions).Draw(t, "action"),
			drop: game.DropID(rapid.IntRange(1, 40).Draw(t, "drop")), //nolint:gosec // small
		})
	}
	return s
}

// scenarioRun is the state while a scenario runs.
type scenarioRun struct {
	*testPlayer
	clock    skewedClock
	schedule game.Schedule
	missed   map[game.DropID]bool      // drops to which the answer was Missed
	won      map[game.DropID]time.Time // when they won drops elsewhere
}

func (s scenario) run(t *testing.T) error {
	r := newFixture(t, func(o *Options) { o.Clock, o.TapsPerSecond, o.TapBurst = s.clock, 1000, 1000 })
	round := newRound()
	round.Settings, round.Secret = s.settings, game.Secret(strings.Repeat("5eed", 16))
	round = r.startRound(round)
	ann := r.books.Join(code, "ann")
	session, tab := r.join(r.room, ann)
	time.Sleep(4 * minPause) // the instance knows of the round: one loop reads it from SQL, the other from Redis
	l := &scenarioRun{
		testPlayer: &testPlayer{t, r, session, tab, &answerRecorder{}, round}, clock: s.clock,
		schedule: game.NewSchedule(round.Settings, round.Secret),
		missed:   make(map[game.DropID]bool), won: make(map[game.DropID]time.Time),
	}
	for n, step := range s.steps {
		time.Sleep(step.wait)
		if err := l.perform(step); err != nil {
			return fmt.Errorf("step %d, %s of drop %d, %d ms after the start: %w", n, step.what, step.drop, now()-round.StartsAt, err)
		}
		if step.what != "tap" { // else what was published is still on its way
			synctest.Wait()
		}
	}
	return nil
}

func (l *scenarioRun) perform(s step) error {
	redis, subscription := l.fixture.redis, l.fixture.pool.subscription
	switch s.what {
	case "tap":
		return l.tapAndCompare(s.drop)
	case "other wins":
		l.grantIfWon("somebody", s.drop)
	case "own win elsewhere":
		l.grantIfWon(l.session.player, s.drop)
	case "own win lost":
		drops := subscription.drops
		redis.withLock(func(*fakeRedis) { subscription.drops = func(h game.Event) bool { return h.Claims != nil } })
		l.grantIfWon(l.session.player, s.drop)
		redis.withLock(func(*fakeRedis) { subscription.drops = drops })
	case "lose events":
		redis.withLock(func(*fakeRedis) { subscription.drops = func(game.Event) bool { return true } })
	case "receive events":
		redis.withLock(func(*fakeRedis) { subscription.drops = nil })
	case "freeze", "unfreeze":
		redis.setFrozen(l.round.ID, s.what == "freeze")
	case "stop":
		redis.closeRound(l.round.ID, game.Stopped)
	case "reload":
		l.fixture.room.Leave(l.session, l.tab)
		l.session, l.tab = l.fixture.join(l.fixture.room, game.Player{ID: l.session.player, Nickname: "ann"})
	}
	return nil
}

// grantIfWon claims a drop for a player if the script would grant it.
func (l *scenarioRun) grantIfWon(player string, drop game.DropID) {
	tap := game.Tap{Player: player, Drop: drop}
	if l.fixture.redis.answerTap(l.round.ID, tap).Outcome == game.Won {
		l.fixture.redis.claim(l.round.ID, drop, player)
		if player == l.session.player {
			l.won[drop] = time.Now()
		}
	}
}

// tapAndCompare taps, and compares an answer from memory with what the script would have answered.
func (l *scenarioRun) tapAndCompare(id game.DropID) error {
	answer, status := l.tap(id)
	scripted := l.fixture.redis.answerTap(l.round.ID, game.Tap{Player: l.session.player, Drop: id})
	if status == Submitted {
		if scripted.Outcome == game.Won {
			claim := l.fixture.redis.claim(l.round.ID, id, l.session.player)[0]
			scripted.Cents, scripted.Number = claim.Cents, claim.Number
		}
		if scripted.Outcome == game.Missed {
			l.missed[id] = true
		}
		l.fixture.committer.answerNext(l.t, scripted)
		return nil
	}
	drop, _ := l.schedule.Find(id)
	elapsed := int64(now() - l.round.StartsAt)
	switch {
	case status != Answered:
		return fmt.Errorf("status %d on the current round", status)
	case answer.Outcome == game.UnknownDrop && drop.AtMS > elapsed:
	case answer.Outcome == game.Bomb && drop.Kind == game.KindBomb && drop.AtMS <= max(elapsed, 0)+2*l.clock.Spread():
	// Missed before; a win of the same drop on another instance is known here within two seconds.
	case answer.Outcome == game.Missed && l.missed[id] && (scripted.Outcome != game.Duplicate || time.Since(l.won[id]) < 2*time.Second):
	case answer.Outcome == game.Late && scripted.Outcome == game.Early: // stopped before its start: both are true
	case answer.Outcome == game.Early && scripted.Outcome == game.Frozen: // frozen before its start: both are true
	case l.justChanged() && failures[scripted.Outcome] && (failures[answer.Outcome] || answer.Outcome == game.Missed):
	case answer != scripted:
		return fmt.Errorf("answered %+v from memory, by the script %+v", answer, scripted)
	case answer.Outcome == game.Missed:
		l.missed[id] = true
	}
	return nil
}

// failures are the outcomes of taps while nothing can be won. Which of them is right may have just changed.
var failures = map[game.Outcome]bool{game.Frozen: true, game.Late: true, game.SoldOut: true, game.Capped: true}

// justChanged: the round was frozen, unfrozen or closed less than two seconds ago, and the instance may not know it yet.
func (l *scenarioRun) justChanged() bool {
	l.fixture.redis.mu.Lock()
	defer l.fixture.redis.mu.Unlock()
	return time.Since(l.fixture.redis.rounds[l.round.ID].changed) < 2*time.Second
}

// An answer from memory is what the script would have answered, whatever happened on other instances, whichever events were lost, and
// however far the clock is off within its spread.
func TestMemoryNeverContradictsTheScript(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		scenario := drawScenario(rt)
		var err error
		synctest.Test(t, func(t *testing.T) { err = scenario.run(t) })
		if err != nil {
			rt.Fatal(err)
		}
	})
}
