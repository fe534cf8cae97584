package testkit

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// verdict stands for a test and keeps how a call ended it.
type verdict struct {
	testing.TB
	failed, skipped string
}

type ended struct{}

func (v *verdict) Helper()                   {}
func (v *verdict) Name() string              { return "stand-in" }
func (v *verdict) Fatal(a ...any)            { v.failed = fmt.Sprint(a...); panic(ended{}) }
func (v *verdict) Skip(a ...any)             { v.skipped = fmt.Sprint(a...); panic(ended{}) }
func (v *verdict) Fatalf(f string, a ...any) { v.Fatal(fmt.Sprintf(f, a...)) }

// verdictOf runs body as a test would and returns how it ended.
func verdictOf(body func(t testing.TB)) (v *verdict) {
	v = &verdict{}
	defer func() {
		if r := recover(); r != nil && r != (ended{}) {
			panic(r)
		}
	}()
	body(v)
	return v
}

func TestMissingSkipsButFailsUnderCI(t *testing.T) {
	missing := func(t testing.TB) { Missing(t, "no-such-server", "nothing") }
	reason := missingReason("no-such-server", "nothing")
	reportedReasons.Store(reason, true) // whoever runs these tests lacks nothing

	t.Setenv("CI", "")
	if v := verdictOf(missing); v.failed != "" || v.skipped != reason {
		t.Errorf("without CI: failed %q, skipped %q", v.failed, v.skipped)
	}
	t.Setenv("CI", "true")
	if v := verdictOf(missing); v.skipped != "" || v.failed != reason {
		t.Errorf("with CI=true: failed %q, skipped %q", v.failed, v.skipped)
	}
}

func TestEventuallyReturnsOnTheFirstSuccess(t *testing.T) {
	calls := 0
	Eventually(t, 10*time.Second, func() error {
		if calls++; calls < 3 {
			return errors.New("not yet")
		}
		return nil
	})
	if calls != 3 {
		t.Errorf("checked %d times, want 3", calls)
	}
}

func TestEventuallyFailsWithTheLastError(t *testing.T) {
	v := verdictOf(func(t testing.TB) {
		Eventually(t, 0, func() error { return errors.New("still closed") })
	})
	if v.failed != "not within 0s: still closed" {
		t.Errorf("failed with %q", v.failed)
	}
}
