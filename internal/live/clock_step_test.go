package live

import (
	"testing"
	"testing/synctest"
	"time"

	"redrain/internal/game"
)

// The estimate of the time is wrong for a while in the middle of a round. What an instance had concluded from it was kept, so its players
// were answered sold_out or late for the rest of the round.
func TestAClockStepInARoundHasNoLastingEffect(t *testing.T) {
	for _, step := range []time.Duration{-10 * time.Minute, -5 * time.Second, 5 * time.Second, 10 * time.Minute} {
		t.Run(step.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newTestPlayer(t)
				p.sleepUntil(10_000)
				p.wantTap(1, submitted)
				p.fixture.clock.step.Store(step.Milliseconds())
				p.sleepUntil(15_000)
				if step > 0 { // Redis never said that the round is over
					p.wantTap(2, submitted)
				}
				p.fixture.clock.step.Store(0)
				p.sleepUntil(15_001)
				p.wantTap(3, submitted)
				p.sleepUntil(28_000)
				p.wantTap(4, submitted)
				p.sleepUntil(33_500)
				p.wantTap(5, game.Late)
			})
		})
	}
}

// The estimate of the time is wrong in the countdown, and the round starts to rain by it. Then Redis says that it has not started.
func TestAClockStepInACountdownIsTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFixture(t)
		_, tab := r.join(r.room, r.books.Join(code, "ann"))
		round := r.startRound(newRound(func(s *game.Settings) { s.Countdown = 30_000 }))
		time.Sleep(2 * time.Second)
		r.clock.step.Store((10 * time.Minute).Milliseconds())
		time.Sleep(100 * time.Millisecond)
		r.clock.step.Store(0)
		time.Sleep(2 * time.Second)
		sleepUntil(round.StartsAt + 2000)
		var phases []game.Phase
		for _, change := range roundChanges(t, tab) {
			phases = append(phases, change.Round.Phase)
		}
		if n := len(phases); n != 4 || phases[2] != game.Countdown || phases[3] != game.Raining {
			t.Errorf("the page saw %v, want the countdown again and then the rain", phases)
		}
	})
}
