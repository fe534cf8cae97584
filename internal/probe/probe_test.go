package probe_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"redrain/internal/probe"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// thing is what is probed. It works unless err is set, and answers after its delay, or when it is given up if the delay is longer.
type thing struct {
	mu     sync.Mutex // guards is and tries
	is     behaviour
	tries  int
	logged bytes.Buffer
	*probe.Probe
}

type behaviour struct {
	err   error
	delay time.Duration
	deaf  bool // it does not end at its deadline
}

func (s *thing) set(is behaviour) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.is = is
}

func (s *thing) try(ctx context.Context) error {
	s.mu.Lock()
	s.tries++
	is := s.is
	s.mu.Unlock()
	if is.deaf {
		ctx = context.Background()
	}
	select {
	case <-ctx.Done():
		return failing(probe.Unreachable)
	case <-time.After(is.delay):
		return is.err
	}
}

// keep runs a test with a probe that is kept, by the fake clock of a bubble.
func keep(t *testing.T, test func(t *testing.T, s *thing)) {
	synctest.Test(t, func(t *testing.T) {
		s := new(thing)
		s.Probe = probe.New("thing", s.try)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go s.Keep(ctx, slog.New(slog.NewTextHandler(&s.logged, nil)))
		test(t, s)
	})
}

func failing(reason probe.Reason) error {
	return fmt.Errorf("try: %w", &probe.Failure{Reason: reason, Err: errors.New("it says no")})
}

// pass lets time pass until everything has come to rest.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestAResultIsNeverOlderThanFiveSeconds(t *testing.T) {
	keep(t, func(t *testing.T, s *thing) {
		if err := s.Check(t.Context()); err != nil {
			t.Fatalf("it works: %v", err)
		}
		s.set(behaviour{err: failing(probe.Full)})
		pass(4 * time.Second)
		if err := s.Check(t.Context()); probe.ReasonOf(err) != probe.Full {
			t.Errorf("4 s after it failed: %v", err)
		}
		s.set(behaviour{})
		pass(4 * time.Second)
		if err := s.Check(t.Context()); err != nil {
			t.Errorf("4 s after it worked again: %v", err)
		}
		s.set(behaviour{delay: time.Hour})
		pass(4*time.Second + time.Millisecond)
		if err := s.Check(t.Context()); probe.ReasonOf(err) != probe.Unreachable {
			t.Errorf("4 s after it hung: %v", err)
		}
	})
}

// A try that does not even end at its deadline leaves a success behind that is too old to count.
func TestASuccessDoesNotCountForever(t *testing.T) {
	keep(t, func(t *testing.T, s *thing) {
		pass(time.Second)
		s.set(behaviour{deaf: true, delay: time.Minute})
		pass(5 * time.Second)
		if err := s.Check(t.Context()); probe.ReasonOf(err) != probe.Unreachable {
			t.Errorf("it hangs, and is said to be %v", err)
		}
		s.set(behaviour{})
		pass(time.Minute)
		if err := s.Check(t.Context()); err != nil {
			t.Errorf("it goes on: %v", err)
		}
	})
}

// The reason of a failure is not forgotten while the next try takes long.
func TestAFailureCountsUntilTheNextResult(t *testing.T) {
	keep(t, func(t *testing.T, s *thing) {
		s.set(behaviour{err: failing(probe.NoRights)})
		pass(3 * time.Second)
		s.set(behaviour{deaf: true, delay: time.Minute})
		pass(30 * time.Second)
		if err := s.Check(t.Context()); probe.ReasonOf(err) != probe.NoRights {
			t.Errorf("got %v", err)
		}
		s.set(behaviour{})
		pass(time.Minute)
	})
}

func TestNothingIsReadyBeforeTheFirstResult(t *testing.T) {
	keep(t, func(t *testing.T, s *thing) {
		s.set(behaviour{delay: time.Second})
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		if err := s.Check(ctx); probe.ReasonOf(err) != probe.Unreachable {
			t.Errorf("before the first result: %v", err)
		}
		if err := s.Check(t.Context()); err != nil {
			t.Errorf("it did not wait for the first result: %v", err)
		}
		if s.Latency() != time.Second {
			t.Errorf("the try took %v", s.Latency())
		}
	})
}

func TestAskingDoesNotTry(t *testing.T) {
	keep(t, func(t *testing.T, s *thing) {
		synctest.Wait()
		for range 1000 {
			if err := s.Check(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.tries != 1 {
			t.Errorf("%d tries", s.tries)
		}
	})
}

// The log tells of changes, not of each result.
func TestOnlyChangesAreLogged(t *testing.T) {
	keep(t, func(t *testing.T, s *thing) {
		for _, err := range []error{nil, failing(probe.Full), failing(probe.ReadOnly), nil} {
			s.set(behaviour{err: err})
			pass(20 * time.Second)
		}
		var said []string
		for line := range strings.Lines(s.logged.String()) {
			_, what, _ := strings.Cut(line, "msg=")
			said = append(said, strings.TrimSpace(what))
		}
		want := []string{
			`"not ready: thing" reason=full error="try: it says no"`,
			`"not ready: thing" reason=read_only error="try: it says no"`,
			`"ready again: thing"`,
		}
		if fmt.Sprint(said) != fmt.Sprint(want) {
			t.Errorf("it logged\n%s", strings.Join(said, "\n"))
		}
	})
}

func TestReasonsThatMayPass(t *testing.T) {
	for reason, passes := range map[probe.Reason]bool{
		probe.Unreachable: true, probe.Full: true, probe.ReadOnly: true, probe.Locked: true,
		probe.NoRights: false, probe.Unheard: false, probe.NotDurable: false, probe.Late: false, probe.Other: false,
	} {
		if reason.MayPass() != passes {
			t.Errorf("%s may pass: %t", reason, !passes)
		}
	}
	if reason := probe.ReasonOf(errors.New("no")); reason != probe.Other {
		t.Errorf("an error without a reason has %s", reason)
	}
}
