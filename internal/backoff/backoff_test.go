package backoff

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// Whatever the number of failures, a delay is between half of its doubled step and the whole step.
func TestDelaysGrowToTheirLimitWithJitter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		initial := time.Duration(rapid.Int64Range(1, int64(time.Minute)).Draw(t, "initial"))
		limit := time.Duration(rapid.Int64Range(int64(initial), int64(24*time.Hour)).Draw(t, "limit"))
		failures := rapid.IntRange(0, 1000).Draw(t, "failures")
		step := initial
		for range min(failures, 20) {
			step = min(2*step, limit)
		}
		if delay := Delay(failures, initial, limit); delay < step/2 || delay > step {
			t.Fatalf("%v after %d failures, want %v to %v", delay, failures, step/2, step)
		}
	})
}

func TestResetMakesDelaysShortAgain(t *testing.T) {
	b := Exponential{Max: time.Second}
	for range 40 {
		if delay := b.Next(); delay < initialDelay/2 || delay > time.Second {
			t.Fatalf("a delay of %v", delay)
		}
	}
	if delay := b.Next(); delay < time.Second/2 {
		t.Errorf("%v after 40 failures", delay)
	}
	b.Reset()
	if delay := b.Next(); delay > initialDelay {
		t.Errorf("%v after a success", delay)
	}
}

func TestSleepEndsAfterItsDurationOnWakeOrWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		wake := make(chan struct{}, 1)
		if !Sleep(t.Context(), time.Minute, wake) || time.Since(began) != time.Minute {
			t.Errorf("it ended after %v", time.Since(began))
		}
		wake <- struct{}{}
		if !Sleep(t.Context(), time.Minute, wake) || time.Since(began) != time.Minute {
			t.Errorf("wake did not end it: %v", time.Since(began))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if Sleep(ctx, time.Minute, nil) || time.Since(began) != time.Minute+time.Second {
			t.Errorf("it went on after its context ended: %v", time.Since(began))
		}
	})
}
