package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"redrain/internal/testkit"
)

// readDurability is the check that hosts see.
func readDurability(t *testing.T, in *instance) (ok bool, problem string) {
	t.Helper()
	var health struct {
		Checks []struct {
			Name    string
			OK      bool
			Problem string
		}
	}
	newHostAPI(t, in).call("GET", "/api/host/health", nil, 200, &health)
	for _, check := range health.Checks {
		if check.Name == "durability" {
			return check.OK, check.Problem
		}
	}
	t.Fatalf("no check of durability: %+v", health)
	return false, ""
}

func TestNonDurableRedisIsAWarning(t *testing.T) {
	t.Parallel()
	in := startInstance(t, "REDIS_URL="+testkit.Redis(t, "--maxmemory-policy", "allkeys-lru").URL)
	in.Await(t, soon, `level=WARN msg="WINS CAN BE LOST[^\n]+allkeys-lru[^\n]+appendonly is no`)
	status, body := getBody(t, in.url+"/readyz")
	var ready struct{ Warnings []string }
	if err := json.Unmarshal([]byte(body), &ready); err != nil || status != 200 || len(ready.Warnings) != 1 {
		t.Errorf("/readyz says %d %s", status, body)
	}
	if ok, problem := readDurability(t, in); ok || !strings.Contains(problem, "appendonly") {
		t.Errorf("hosts see %v %q", ok, problem)
	}
}

func TestNonDurableRedisIsRefusedIfConfigured(t *testing.T) {
	redis := testkit.Redis(t)
	for _, command := range []string{"serve", "settle"} {
		got := runToEnd(t, []string{"REDIS_URL=" + redis.URL, "REQUIRE_DURABLE_REDIS=1"}, command)
		if got.code != exitUsage || got.stdout != "" || strings.Count(got.stderr, "\n") != 1 || !strings.Contains(got.stderr, "REQUIRE_DURABLE_REDIS: redis is not") {
			t.Errorf("%s: exit code %d, %q, %q", command, got.code, got.stdout, got.stderr)
		}
	}
	if got := runToEnd(t, []string{"REDIS_URL=", "REQUIRE_DURABLE_REDIS=1"}); got.code != exitUsage || !strings.Contains(got.stderr, "needs REDIS_URL") {
		t.Errorf("embedded: exit code %d, %q", got.code, got.stderr)
	}
}

// A Redis that is set up anew while it runs is noticed, and an instance that must not run over one like that says so.
func TestRedisThatBecomesNonDurable(t *testing.T) {
	t.Parallel()
	server := testkit.Redis(t, "--appendonly", "yes")
	in := startInstance(t, "REDIS_URL="+server.URL, "REQUIRE_DURABLE_REDIS=1")
	if strings.Contains(in.Output(), "WINS CAN BE LOST") {
		t.Errorf("warned of a durable Redis:\n%s", in.Output())
	}
	if ok, problem := readDurability(t, in); !ok {
		t.Errorf("hosts see %q", problem)
	}
	client := redis.NewClient(&redis.Options{Addr: server.Addr})
	defer client.Close()
	awaitReadiness := func(want int) {
		t.Helper()
		testkit.Eventually(t, soon, func() error {
			if status, body := getBody(t, in.url+"/readyz"); status != want {
				return fmt.Errorf("/readyz says %d %s", status, body)
			}
			return nil
		})
	}
	awaitReadiness(200)
	if err := client.ConfigSet(t.Context(), "appendonly", "no").Err(); err != nil {
		t.Fatal(err)
	}
	awaitReadiness(503)
	if err := client.ConfigSet(t.Context(), "appendonly", "yes").Err(); err != nil {
		t.Fatal(err)
	}
	awaitReadiness(200)
}

// Managed ones forbid to ask; that is said, and no reason not to start.
func TestRedisWithUnknownDurabilityIsAccepted(t *testing.T) {
	t.Parallel()
	server := testkit.Redis(t)
	client := redis.NewClient(&redis.Options{Addr: server.Addr})
	defer client.Close()
	if err := client.Do(t.Context(), "ACL", "SETUSER", "default", "-config", "-info").Err(); err != nil {
		t.Fatal(err)
	}
	in := startInstance(t, "REDIS_URL="+server.URL, "REQUIRE_DURABLE_REDIS=1")
	in.Await(t, soon, `level=WARN msg="cannot tell whether wins can be lost`)
	if status, body := getBody(t, in.url+"/readyz"); status != 200 {
		t.Errorf("/readyz says %d %s", status, body)
	}
}
