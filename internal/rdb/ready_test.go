package rdb

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"redrain/internal/testkit"
)

// probing returns a client that runs KeepProbing.
func probing(t *testing.T, url string) *Client {
	t.Helper()
	client := dial(t, url)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		client.KeepProbing(ctx, slog.New(slog.DiscardHandler))
	}()
	t.Cleanup(func() { cancel(); <-ended })
	return client
}

// awaitReadiness waits until CheckReady fails with these words; "": until it succeeds.
func awaitReadiness(t *testing.T, client *Client, words string) {
	t.Helper()
	testkit.Eventually(t, soon, func() error {
		err := client.CheckReady(t.Context())
		if (err == nil) != (words == "") || (err != nil && !strings.Contains(err.Error(), words)) {
			return fmt.Errorf("readiness is %v, want %q", err, words) //nolint:errorlint // it may be nil
		}
		return nil
	})
}

func TestReadinessNeedsWritesAndTheTime(t *testing.T) {
	t.Parallel()
	testkit.EachRedis(t, func(t *testing.T, url string) {
		client := dial(t, url)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		if err := client.CheckReady(ctx); err == nil {
			t.Error("ready before anything was proven")
		}
		awaitReadiness(t, probing(t, url), "")
	})
	server := testkit.Redis(t)
	client := probing(t, server.URL)
	for name, value := range map[string]string{"maxmemory": "1", "min-replicas-to-write": "1"} {
		if err := client.redis.ConfigSet(t.Context(), name, value).Err(); err != nil {
			t.Fatal(err)
		}
		awaitReadiness(t, client, "takes no writes: ")
		if err := client.redis.ConfigSet(t.Context(), name, "0").Err(); err != nil {
			t.Fatal(err)
		}
		awaitReadiness(t, client, "")
	}
	server.Freeze()
	frozen := time.Now()
	awaitReadiness(t, client, "does not tell its time: ")
	if took := time.Since(frozen); took > 5*time.Second {
		t.Errorf("a Redis that hangs is noticed after %v", took)
	}
	server.Thaw()
	awaitReadiness(t, client, "")
}

// One node of a cluster takes no writes. A check that wrote a single key could miss that.
func TestReadinessAsksEveryMasterOfACluster(t *testing.T) {
	t.Parallel()
	cluster := testkit.NewRedisCluster(t, 3)
	client := probing(t, cluster.URL)
	awaitReadiness(t, client, "")
	for _, master := range cluster.Masters {
		node := redis.NewClient(&redis.Options{Addr: master.Addr})
		for _, step := range [][2]string{{"5", master.Addr + " takes no writes: NOREPLICAS"}, {"0", ""}} {
			if err := node.ConfigSet(t.Context(), "min-replicas-to-write", step[0]).Err(); err != nil {
				t.Fatal(err)
			}
			awaitReadiness(t, client, step[1])
		}
		_ = node.Close()
	}
	cluster.Masters[0].Kill()
	cluster.AwaitMaster(cluster.Replicas[0], 2*soon)
	awaitReadiness(t, client, "")
}

// CheckReady makes no calls to Redis, however often it is called.
func TestAskingForReadinessDoesNotAskRedis(t *testing.T) {
	t.Parallel()
	client := probing(t, testkit.Redis(t).URL)
	awaitReadiness(t, client, "")
	for range 10_000 {
		if err := client.CheckReady(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	stats, err := client.redis.Info(t.Context(), "commandstats").Result()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(stats) {
		var calls int
		if _, err := fmt.Sscanf(line, "cmdstat_set:calls=%d,", &calls); err == nil && calls > 20 {
			t.Errorf("%d writes", calls)
		}
	}
}
