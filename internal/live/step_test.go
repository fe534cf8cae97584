package live

import (
	"testing"
	"testing/synctest"
	"time"

	"redrain/internal/game"
)

// The estimate of the time is wrong for a while in the middle of a round. What an instance concluded from that for good kept
// its players out for the rest of the round: they heard sold_out, or that it was late.
func TestAStepOfTheClockInARoundIsNotForEver(t *testing.T) {
	for _, step := range []time.Duration{-10 * time.Minute, -5 * time.Second, 5 * time.Second, 10 * time.Minute} {
		t.Run(step.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := seated(t)
				p.at(10_000)
				p.want(1, askedThePool)
				p.rig.clock.step.Store(step.Milliseconds())
				p.at(15_000)
				if step > 0 { // Redis never said that the round is over
					p.want(2, askedThePool)
				}
				p.rig.clock.step.Store(0)
				p.at(15_001)
				p.want(3, askedThePool)
				p.at(28_000)
				p.want(4, askedThePool)
				p.at(33_500)
				p.want(5, game.Late)
			})
		})
	}
}

// The estimate of the time is wrong in the countdown, and the rain begins by it: Redis says that it did not.
func TestAStepOfTheClockInACountdownIsTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		_, tab := r.sit(r.room, r.books.Join(code, "ann"))
		round := r.begin(plan(func(s *game.Settings) { s.Countdown = 30_000 }))
		time.Sleep(2 * time.Second)
		r.clock.step.Store((10 * time.Minute).Milliseconds())
		time.Sleep(100 * time.Millisecond)
		r.clock.step.Store(0)
		time.Sleep(2 * time.Second)
		until(round.StartsAt + 2000)
		var phases []game.Phase
		for _, change := range changes(t, tab) {
			phases = append(phases, change.Round.Phase)
		}
		if n := len(phases); n != 4 || phases[2] != game.Countdown || phases[3] != game.Raining {
			t.Errorf("the page saw %v, want the countdown again and then the rain", phases)
		}
	})
}
