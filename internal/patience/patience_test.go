package patience

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// Whatever fails, and however often, the delay is between half of its step and the whole.
func TestDelaysGrowToTheirWorstAndDiffer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first := time.Duration(rapid.Int64Range(1, int64(time.Minute)).Draw(t, "first"))
		worst := time.Duration(rapid.Int64Range(int64(first), int64(24*time.Hour)).Draw(t, "worst"))
		failures := rapid.IntRange(0, 1000).Draw(t, "failures")
		step := first
		for range min(failures, 20) {
			step = min(2*step, worst)
		}
		if delay := Delay(failures, first, worst); delay < step/2 || delay > step {
			t.Fatalf("%v after %d failures, want %v to %v", delay, failures, step/2, step)
		}
	})
}

func TestASuccessMakesDelaysShortAgain(t *testing.T) {
	b := Backoff{Worst: time.Second}
	for range 40 {
		if delay := b.Next(); delay < firstDelay/2 || delay > time.Second {
			t.Fatalf("a delay of %v", delay)
		}
	}
	if delay := b.Next(); delay < time.Second/2 {
		t.Errorf("%v after 40 failures", delay)
	}
	b.Reset()
	if delay := b.Next(); delay > firstDelay {
		t.Errorf("%v after a success", delay)
	}
}

func TestAPauseEndsByItsTimeANudgeOrItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		nudge := make(chan struct{}, 1)
		if !Pause(t.Context(), time.Minute, nudge) || time.Since(began) != time.Minute {
			t.Errorf("it ended after %v", time.Since(began))
		}
		nudge <- struct{}{}
		if !Pause(t.Context(), time.Minute, nudge) || time.Since(began) != time.Minute {
			t.Errorf("a nudge did not end it: %v", time.Since(began))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if Pause(ctx, time.Minute, nil) || time.Since(began) != time.Minute+time.Second {
			t.Errorf("it outlived its context: %v", time.Since(began))
		}
	})
}
