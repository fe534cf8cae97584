package rdb

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"redrain/internal/testkit"
)

func TestCheckDurable(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		args []string
		want error
		says []string
	}{
		"for money":        {args: []string{"--appendonly", "yes"}},
		"always":           {args: []string{"--appendonly", "yes", "--appendfsync", "always"}},
		"in memory alone":  {want: ErrNotDurable, says: []string{"appendonly is no"}},
		"snapshots alone":  {args: []string{"--save", "60 1"}, want: ErrNotDurable, says: []string{"appendonly is no"}},
		"evicts":           {args: []string{"--appendonly", "yes", "--maxmemory-policy", "allkeys-lru"}, want: ErrNotDurable, says: []string{"allkeys-lru"}},
		"both":             {args: []string{"--maxmemory-policy", "volatile-ttl"}, want: ErrNotDurable, says: []string{"volatile-ttl", "appendonly is no"}},
		"never syncs":      {args: []string{"--appendonly", "yes", "--appendfsync", "no"}, want: ErrNotDurable, says: []string{"appendfsync is no"}},
		"CONFIG forbidden": {args: []string{"--appendonly", "yes", "--rename-command", "CONFIG", ""}},
		"forbidden, evicts": {
			args: []string{"--rename-command", "CONFIG", "", "--maxmemory-policy", "allkeys-random"}, want: ErrNotDurable,
			says: []string{"allkeys-random", "appendonly is no"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newFixture(t, testkit.Redis(t, test.args...).URL)
			err := r.CheckDurable(t.Context())
			if !errors.Is(err, test.want) {
				t.Fatalf("got %v, want %v", err, test.want)
			}
			for _, words := range test.says {
				if !strings.Contains(err.Error(), words) || strings.Contains(err.Error(), "\n") {
					t.Errorf("%q does not say %q in one line", err, words)
				}
			}
		})
	}
}

func TestCheckDurableTellsAnOutageFromAnAnswer(t *testing.T) {
	t.Parallel()
	server := testkit.Redis(t)
	r := newFixture(t, server.URL)
	server.Kill()
	if err := r.CheckDurable(t.Context()); err == nil || errors.Is(err, ErrNotDurable) || errors.Is(err, ErrSilent) {
		t.Errorf("a dead Redis is told as %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.CheckDurable(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestCheckDurableOfASilentRedis(t *testing.T) {
	t.Parallel()
	r := newFixture(t, testkit.Redis(t).URL)
	if err := r.redis.Do(t.Context(), "ACL", "SETUSER", "default", "-config", "-info").Err(); err != nil {
		t.Fatal(err)
	}
	if err := r.CheckDurable(t.Context()); !errors.Is(err, ErrSilent) {
		t.Errorf("got %v, want %v", err, ErrSilent)
	}
}

func TestCheckDurableAsksEveryNodeOfACluster(t *testing.T) {
	t.Parallel()
	server := testkit.Redis(t, "--cluster-enabled", "yes", "--appendonly", "yes")
	direct := newFixture(t, server.URL)
	if err := direct.redis.Do(t.Context(), "CLUSTER", "ADDSLOTSRANGE", 0, 16383).Err(); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, 10*time.Second, func() error {
		return direct.redis.Set(t.Context(), "{t}", 1, time.Minute).Err() // until the cluster is up
	})
	r := newFixture(t, "redis+cluster://"+server.Addr)
	if err := r.CheckDurable(t.Context()); err != nil {
		t.Error(err)
	}
	if err := direct.redis.ConfigSet(t.Context(), "maxmemory-policy", "allkeys-lru").Err(); err != nil {
		t.Fatal(err)
	}
	if err := r.CheckDurable(t.Context()); !errors.Is(err, ErrNotDurable) || !strings.Contains(err.Error(), server.Addr[strings.LastIndex(server.Addr, ":"):]) {
		t.Errorf("got %v", err)
	}
}
