package ledger_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"redrain/internal/game"
	"redrain/internal/ledger"
	"redrain/internal/testkit"
)

func TestMain(m *testing.M) {
	if url := os.Getenv(holderURL); url != "" {
		os.Exit(runHolder(url))
	}
	if url := os.Getenv(childURL); url != "" {
		os.Exit(runChild(url))
	}
	goleak.VerifyTestMain(testkit.Main(m))
}

// databases make a new, empty database each and return its URL. Every test of what a ledger promises runs on all of them.
var databases = map[string]func(testing.TB) string{
	"sqlite":   func(t testing.TB) string { return "sqlite:" + filepath.Join(t.TempDir(), "ledger.db") },
	"postgres": testkit.SharedPostgres,
	"mariadb":  testkit.SharedMariaDB,
}

// onEachDatabase runs a test on every kind of database. Each call of open is another instance on the same one.
func onEachDatabase(t *testing.T, test func(t *testing.T, open func(...ledger.Option) *ledger.Ledger)) {
	for name, newDatabase := range databases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := newDatabase(t)
			test(t, func(options ...ledger.Option) *ledger.Ledger { return openLedger(t, url, options...) })
		})
	}
}

func openLedger(t testing.TB, url string, options ...ledger.Option) *ledger.Ledger {
	t.Helper()
	l := openUnmigrated(t, url, options...)
	if err := l.Migrate(t.Context()); err != nil {
		t.Fatalf("migrate: %v", err)
	}
	return l
}

func openUnmigrated(t testing.TB, url string, options ...ledger.Option) *ledger.Ledger {
	t.Helper()
	l, err := ledger.Open(t.Context(), url, options...)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return l
}

// newTickingClock is a clock that advances by a second with every call.
func newTickingClock() func() time.Time {
	var mu sync.Mutex
	now := time.UnixMilli(1_800_000_000_000)
	return func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(time.Second)
		return now
	}
}

func must[T any](t testing.TB) func(T, error) T {
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func newRoom(t testing.TB, l *ledger.Ledger) string {
	t.Helper()
	return must[game.Room](t)(l.CreateRoom(t.Context(), "年会")).Code
}

func newRound(t testing.TB, l *ledger.Ledger, room string) game.Round {
	t.Helper()
	return must[game.Round](t)(l.CreateRound(t.Context(), room, someSettings(), false))
}

func someSettings() game.Settings {
	settings := game.DefaultSettings()
	settings.Total, settings.Packets = 88_800, 100
	return settings
}

// runConcurrently runs work n times at the same moment and returns when all are done.
func runConcurrently(n int, work func(i int)) {
	var ready, done sync.WaitGroup
	gate := make(chan struct{})
	for i := range n {
		ready.Add(1)
		done.Go(func() {
			ready.Done()
			<-gate
			work(i)
		})
	}
	ready.Wait()
	close(gate)
	done.Wait()
}

func TestAProbeNeedsAnOpenLedger(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l := open()
		if err := l.Probe(t.Context(), "here"); err != nil {
			t.Errorf("an open ledger does not answer: %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := l.Probe(ctx, "here"); err == nil {
			t.Error("answers although the caller gave up")
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if err := l.Probe(t.Context(), "here"); err == nil {
			t.Error("a closed ledger answers")
		}
	})
}

func TestSettingIsTheFirstProposalForAllInstances(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		instances := []*ledger.Ledger{open(), open()}
		got := make([]string, 20)
		runConcurrently(len(got), func(i int) {
			var err error
			if got[i], err = instances[i%2].Setting(t.Context(), "session_secret", string(rune('a'+i))); err != nil {
				t.Error(err)
			}
		})
		for i := range got {
			if got[i] == "" || got[i] != got[0] {
				t.Fatalf("instances have different secrets: %q", got)
			}
		}
		if other := must[string](t)(instances[0].Setting(t.Context(), "other", "x")); other != "x" {
			t.Errorf("another setting is %q", other)
		}
		if _, err := instances[0].CurrentSetting(t.Context(), "none"); !errors.Is(err, game.ErrNotFound) {
			t.Errorf("a setting that nobody made: %v", err)
		}
		for old, want := range map[string]string{"y": "x", "x": "z"} {
			if err := instances[0].ReplaceSetting(t.Context(), "other", "x", "x"); err != nil { // the same again
				t.Error(err)
			}
			if err := instances[1].ReplaceSetting(t.Context(), "swap "+old, old, "z"); err != nil { // nothing to replace
				t.Error(err)
			}
			must[string](t)(instances[1].Setting(t.Context(), "swap "+old, "x"))
			if err := instances[1].ReplaceSetting(t.Context(), "swap "+old, old, "z"); err != nil {
				t.Error(err)
			}
			if got := must[string](t)(instances[0].CurrentSetting(t.Context(), "swap "+old)); got != want {
				t.Errorf("replacing %q where there is x: %q, want %q", old, got, want)
			}
		}
	})
}

func TestEndedSessionsAreKnownToAllInstancesUntilForgotten(t *testing.T) {
	now := time.UnixMilli(1_800_000_000_000)
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		a, b := open(ledger.WithClock(func() time.Time { return now })), open()
		for id, forgetAfter := range map[string]time.Time{"over": now.Add(-time.Second), "ended": now.Add(time.Hour)} {
			for range 2 { // from two tabs
				if err := a.EndSession(t.Context(), id, forgetAfter); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := a.EndSession(t.Context(), "ended", now.Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		ended := must[map[string]time.Time](t)(b.EndedSessions(t.Context()))
		if len(ended) != 1 || !ended["ended"].Equal(now.Add(time.Hour)) {
			t.Errorf("got %v", ended)
		}
	})
}
