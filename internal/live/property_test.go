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

// decide is what the script would say to a tap right now, in its order of checks.
func (w *world) decide(id string, tap game.Tap) game.Answer {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.rounds[id]
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

// skewed is an estimate of Redis' clock that is off by as much as it admits, or less.
type skewed struct{ off, spread int64 }

func (c skewed) Now() game.Moment { return now() + game.Moment(c.off) }
func (c skewed) Spread() int64    { return c.spread }

// story is a drawn course of a round, as one player on one instance lives through it.
type story struct {
	settings game.Settings
	clock    skewed
	steps    []step
}

type step struct {
	wait time.Duration
	what string
	drop game.DropID
}

var deeds = []string{
	"tap", "tap", "tap", "tap", "tap", "other wins", "other wins", "own win elsewhere", "own win lost",
	"deaf", "hears", "freeze", "thaw", "stop", "reload",
}

func drawStory(t *rapid.T) story {
	s := story{settings: plan().Settings}
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
			what: rapid.SampledFrom(deeds).Draw(t, "deed"),
			drop: game.DropID(rapid.IntRange(1, 40).Draw(t, "drop")), //nolint:gosec // small
		})
	}
	return s
}

// life is a story being lived.
type life struct {
	*tapper
	clock    skewed
	schedule game.Schedule
	missed   map[game.DropID]bool      // drops that this player was told to have missed
	won      map[game.DropID]time.Time // when they won drops elsewhere
}

func (s story) live(t *testing.T) error {
	r := newRig(t, func(o *Options) { o.Clock, o.TapsPerSecond, o.TapBurst = s.clock, 1000, 1000 })
	round := plan()
	round.Settings, round.Secret = s.settings, game.Secret(strings.Repeat("5eed", 16))
	round = r.begin(round)
	ann := r.books.Join(code, "ann")
	seat, tab := r.sit(r.room, ann)
	time.Sleep(4 * leastPause) // the instance knows of the round: one loop reads it from SQL, the other from Redis
	l := &life{
		tapper: &tapper{t, r, seat, tab, &answers{}, round}, clock: s.clock,
		schedule: game.NewSchedule(round.Settings, round.Secret),
		missed:   make(map[game.DropID]bool), won: make(map[game.DropID]time.Time),
	}
	for n, step := range s.steps {
		time.Sleep(step.wait)
		if err := l.do(step); err != nil {
			return fmt.Errorf("step %d, %s of drop %d, %d ms after the start: %w", n, step.what, step.drop, now()-round.StartsAt, err)
		}
		if step.what != "tap" { // else what was published is still on its way
			synctest.Wait()
		}
	}
	return nil
}

func (l *life) do(s step) error {
	w, ear := l.rig.world, l.rig.side.ear
	switch s.what {
	case "tap":
		return l.tapAndCompare(s.drop)
	case "other wins":
		l.grant("somebody", s.drop)
	case "own win elsewhere":
		l.grant(l.seat.player, s.drop)
	case "own win lost":
		deaf := ear.deaf
		w.set(func(*world) { ear.deaf = func(h game.Event) bool { return h.Claims != nil } })
		l.grant(l.seat.player, s.drop)
		w.set(func(*world) { ear.deaf = deaf })
	case "deaf":
		w.set(func(*world) { ear.deaf = func(game.Event) bool { return true } })
	case "hears":
		w.set(func(*world) { ear.deaf = nil })
	case "freeze", "thaw":
		w.freeze(l.round.ID, s.what == "freeze")
	case "stop":
		w.close(l.round.ID, game.Stopped)
	case "reload":
		l.rig.room.Rise(l.seat, l.tab)
		l.seat, l.tab = l.rig.sit(l.rig.room, game.Player{ID: l.seat.player, Nickname: "ann"})
	}
	return nil
}

// grant makes a player win a drop if the script lets them.
func (l *life) grant(player string, drop game.DropID) {
	tap := game.Tap{Player: player, Drop: drop}
	if l.rig.world.decide(l.round.ID, tap).Outcome == game.Won {
		l.rig.world.claim(l.round.ID, drop, player)
		if player == l.seat.player {
			l.won[drop] = time.Now()
		}
	}
}

// tapAndCompare taps, and holds what was told from memory against what the script would have said.
func (l *life) tapAndCompare(id game.DropID) error {
	answer, verdict := l.tap(id)
	said := l.rig.world.decide(l.round.ID, game.Tap{Player: l.seat.player, Drop: id})
	if verdict == Asked {
		if said.Outcome == game.Won {
			claim := l.rig.world.claim(l.round.ID, id, l.seat.player)[0]
			said.Cents, said.Number = claim.Cents, claim.Number
		}
		if said.Outcome == game.Missed {
			l.missed[id] = true
		}
		l.rig.committer.answer(l.t, said)
		return nil
	}
	drop, _ := l.schedule.Find(id)
	elapsed := int64(now() - l.round.StartsAt)
	switch {
	case verdict != Told:
		return fmt.Errorf("verdict %d on the current round", verdict)
	case answer.Outcome == game.UnknownDrop && drop.AtMS > elapsed:
	case answer.Outcome == game.Bomb && drop.Kind == game.KindBomb && drop.AtMS <= max(elapsed, 0)+2*l.clock.Spread():
	// Spent; a win of the same drop elsewhere is known here within two seconds.
	case answer.Outcome == game.Missed && l.missed[id] && (said.Outcome != game.Duplicate || time.Since(l.won[id]) < 2*time.Second):
	case answer.Outcome == game.Late && said.Outcome == game.Early: // stopped before its start: both are true
	case answer.Outcome == game.Early && said.Outcome == game.Frozen: // frozen before its start: both are true
	case l.justChanged() && over[said.Outcome] && (over[answer.Outcome] || answer.Outcome == game.Missed):
	case answer != said:
		return fmt.Errorf("told %+v from memory, the script says %+v", answer, said)
	case answer.Outcome == game.Missed:
		l.missed[id] = true
	}
	return nil
}

// over are the outcomes of a round in which nothing can be won right now: which of them holds may have changed since.
var over = map[game.Outcome]bool{game.Frozen: true, game.Late: true, game.SoldOut: true, game.Capped: true}

// justChanged: the round froze, thawed or closed less than two seconds ago, and the instance may not know it yet.
func (l *life) justChanged() bool {
	l.rig.world.mu.Lock()
	defer l.rig.world.mu.Unlock()
	return time.Since(l.rig.world.rounds[l.round.ID].changed) < 2*time.Second
}

// What an instance tells from memory is what the script would have said, whatever happened elsewhere, whatever it did not
// hear of, and however far its clock is off within what it admits.
func TestMemoryNeverContradictsTheScript(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		story := drawStory(rt)
		var err error
		synctest.Test(t, func(t *testing.T) { err = story.live(t) })
		if err != nil {
			rt.Fatal(err)
		}
	})
}
