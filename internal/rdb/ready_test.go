package rdb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"redrain/internal/probe"
	"redrain/internal/testkit"
)

// probeWithin is how long a test lets one probe take.
const probeWithin = 2 * time.Second

// awaitProbe waits until a probe fails for a reason, with these words; "": until it succeeds.
func (l *listener) awaitProbe(reason probe.Reason, words string) {
	l.t.Helper()
	testkit.Eventually(l.t, 2*soon, func() error {
		ctx, cancel := context.WithTimeout(l.t.Context(), probeWithin)
		defer cancel()
		err := l.Probe(ctx)
		switch {
		case err == nil && reason == "":
			return nil
		case err == nil || probe.ReasonOf(err) != reason || !strings.Contains(err.Error(), words):
			return fmt.Errorf("the probe says %v (%s), want %s: %s", err, probe.ReasonOf(err), reason, words) //nolint:errorlint // it may be nil
		}
		return nil
	})
}

func TestAProbeWritesReadsTheTimeAndHearsItself(t *testing.T) {
	t.Parallel()
	testkit.EachRedis(t, func(t *testing.T, url string) {
		client := dial(t, url)
		l := (&fixture{Client: client, t: t}).listen(t)
		l.awaitProbe("", "")
		if written, err := client.redis.Get(t.Context(), readyKey(client.instance)).Result(); err != nil || written == "" {
			t.Errorf("it wrote %q, %v", written, err)
		}
		if left, err := client.redis.PTTL(t.Context(), readyKey(client.instance)).Result(); err != nil || left <= 0 || left > probeKeyLifetime {
			t.Errorf("what it wrote stays for %v, %v", left, err)
		}
	})
}

func TestAProbeFailsWhileRedisTakesNoWrites(t *testing.T) {
	t.Parallel()
	server := testkit.Redis(t)
	client := dial(t, server.URL)
	l := (&fixture{Client: client, t: t}).listen(t)
	for _, refusal := range []struct {
		name, value string
		reason      probe.Reason
		words       string
	}{{"maxmemory", "1", probe.Full, "OOM"}, {"min-replicas-to-write", "1", probe.ReadOnly, "NOREPLICAS"}} {
		if err := client.redis.ConfigSet(t.Context(), refusal.name, refusal.value).Err(); err != nil {
			t.Fatal(err)
		}
		l.awaitProbe(refusal.reason, refusal.words)
		if err := client.redis.ConfigSet(t.Context(), refusal.name, "0").Err(); err != nil {
			t.Fatal(err)
		}
		l.awaitProbe("", "")
	}
	server.Freeze()
	l.awaitProbe(probe.Unreachable, "ready.lua: ")
	server.Thaw()
	l.awaitProbe("", "")
}

// The master becomes a replica: it answers, and refuses every grab.
func TestAProbeFailsWhileRedisIsAReplica(t *testing.T) {
	t.Parallel()
	server, master := testkit.Redis(t), testkit.Redis(t)
	client := dial(t, server.URL)
	l := (&fixture{Client: client, t: t}).listen(t)
	l.awaitProbe("", "")
	host, port, _ := net.SplitHostPort(master.Addr)
	if err := client.redis.(*redis.Client).ReplicaOf(t.Context(), host, port).Err(); err != nil {
		t.Fatal(err)
	}
	l.awaitProbe(probe.ReadOnly, "READONLY")
	if err := client.redis.(*redis.Client).ReplicaOf(t.Context(), "NO", "ONE").Err(); err != nil {
		t.Fatal(err)
	}
	l.awaitProbe("", "")
}

// One node of a cluster takes no writes. A probe that wrote a single key could miss that.
func TestAProbeProvesEveryMasterOfACluster(t *testing.T) {
	t.Parallel()
	cluster := testkit.NewRedisCluster(t, 3)
	l := (&fixture{Client: dial(t, cluster.URL), t: t}).listen(t)
	l.awaitProbe("", "")
	for _, master := range cluster.Masters {
		node := redis.NewClient(&redis.Options{Addr: master.Addr})
		for _, step := range []struct {
			replicas string
			reason   probe.Reason
		}{{"5", probe.ReadOnly}, {"0", ""}} {
			if err := node.ConfigSet(t.Context(), "min-replicas-to-write", step.replicas).Err(); err != nil {
				t.Fatal(err)
			}
			l.awaitProbe(step.reason, master.Addr+": ")
		}
		_ = node.Close()
	}
	cluster.Masters[0].Kill()
	cluster.AwaitMaster(cluster.Replicas[0], 2*soon)
	l.awaitProbe("", "")
}

func TestErrorsOfRedisHaveReasons(t *testing.T) {
	t.Parallel()
	server := testkit.Redis(t)
	client := dial(t, server.URL)
	answer := func(text string) error { // as the driver reads it
		return client.redis.Eval(t.Context(), "return redis.error_reply(ARGV[1])", nil, text).Err()
	}
	for text, reason := range map[string]probe.Reason{
		"OOM command not allowed": probe.Full, "MISCONF cannot persist": probe.Full,
		"READONLY You can't write": probe.ReadOnly, "NOREPLICAS Not enough": probe.ReadOnly,
		"NOPERM no": probe.NoRights, "ERR The user executing the script can't publish": probe.NoRights, "ERR ACL failure in script: no": probe.NoRights,
		"NOAUTH no": probe.NoRights, "WRONGPASS no": probe.NoRights,
		"BUSY running a script": probe.Locked, "LOADING the dataset": probe.Unreachable, "MASTERDOWN Link": probe.Unreachable,
		"WRONGTYPE Operation": probe.Other, "ERR unknown": probe.Other,
	} {
		if err := fmt.Errorf("call: %w", answer(text)); ReasonOf(err) != reason {
			t.Errorf("%v: %s, want %s", err, ReasonOf(err), reason)
		}
	}
	for _, err := range []error{io.EOF, context.DeadlineExceeded, redis.ErrPoolTimeout, &net.OpError{Op: "dial", Err: errors.New("refused")}} {
		if ReasonOf(fmt.Errorf("call: %w", err)) != probe.Unreachable {
			t.Errorf("%v: %s", err, ReasonOf(err))
		}
	}
	if ReasonOf(nil) != probe.Other || ReasonOf(context.Canceled) != probe.Other {
		t.Error("no error, or a caller who gave up, says something about Redis")
	}
}
