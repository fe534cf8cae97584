package rdb

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"redrain/internal/game"
	"redrain/internal/testkit"
)

func TestDialSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	nobody := fmt.Sprintf("127.0.0.1:%d", testkit.FreePort(t))
	for address, want := range map[string]string{
		"redis://" + nobody:         "redis does not answer: ",
		"redis+cluster://" + nobody: "redis does not answer: ",
		"http://localhost":          "redis address: ",
		"localhost:6379":            "redis address: ",
		"redis://localhost/x":       "redis address: ",
		"":                          "redis address: ",
	} {
		client, err := Dial(t.Context(), address)
		if err == nil {
			_ = client.Disconnect()
			t.Fatalf("%q: no error", address)
		}
		if !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want %q…", address, err, want)
		}
	}
}

func TestClientsHaveTheirOwnNames(t *testing.T) {
	t.Parallel()
	testkit.EachRedis(t, func(t *testing.T, url string) {
		if a, b := newFixture(t, url), newFixture(t, url); a.Instance() == b.Instance() || a.Instance() == "" {
			t.Errorf("two clients are %q and %q", a.Instance(), b.Instance())
		}
	})
}

// Every call that returns Redis' time sets the clock.
func TestClockFollowsRedis(t *testing.T) {
	t.Parallel()
	testkit.EachRedis(t, func(t *testing.T, url string) {
		r := newFixture(t, url)
		round := r.started(nil)
		r.now.Store(time.Now().Add(time.Hour).UnixMilli())
		for name, call := range map[string]func() error{
			"grab": func() error {
				_, err := r.Grab(t.Context(), round.Room, round.ID, r.NewBatch(), taps("ann1"))
				return err
			},
			"open":     func() error { _, err := r.Open(t.Context(), round, nil); return err },
			"snapshot": func() error { _, err := r.Snapshot(t.Context(), round.ID, 1, 1); return err },
			"report":   func() error { _, err := r.Report(t.Context(), "ROOM", game.Report{}, 0); return err },
		} {
			r.clock = NewClock()
			if err := call(); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if off := time.Duration(int64(r.Now())-r.now.Load()) * time.Millisecond; off.Abs() > soon {
				t.Errorf("after %s the clock is off by %v", name, off)
			}
		}
	})
}

func TestEmbeddedServerAgesItsKeysAndEnds(t *testing.T) {
	t.Parallel()
	server, err := StartEmbedded()
	if err != nil {
		t.Fatal(err)
	}
	r := newFixture(t, server.URL())
	if err := r.redis.Set(t.Context(), "short", "lived", 100*time.Millisecond).Err(); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, soon, func() error {
		if keys := r.allKeys(); len(keys) > 0 {
			return fmt.Errorf("keys %v are still there", keys)
		}
		return nil
	})
	round := r.started(nil)
	r.expect(round, "ann1", game.Won)
	server.Close()
	if err := r.Ping(t.Context()); err == nil {
		t.Error("a closed server answers")
	}
}

func TestSlowServerIsGivenUpOn(t *testing.T) {
	t.Parallel()
	server := testkit.Redis(t)
	r := newFixture(t, server.URL)
	round := r.started(nil)
	server.Freeze()
	_, err := r.grabOnce(round, taps("ann1"))
	server.Thaw()
	if err == nil || NothingDone(err) {
		t.Errorf("a frozen server's answer is %v", err)
	}
	again := r.grab(round, taps("ann1")).Answers[0]
	if again.Number != 1 || (again.Outcome != game.Won && again.Outcome != game.Duplicate) {
		t.Errorf("asked again: %v", again)
	}
}
