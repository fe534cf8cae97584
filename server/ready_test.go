package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"redrain/internal/testkit"
)

func readiness(t *testing.T, in *instance, within time.Duration, status int, words string) {
	t.Helper()
	testkit.Eventually(t, within, func() error {
		got, body := getBody(t, in.url+"/readyz")
		if got != status || !strings.Contains(body, words) {
			return fmt.Errorf("/readyz says %d %s", got, body)
		}
		return nil
	})
}

// The connection by which an instance hears stays open and nothing comes: its screens stood still, and it was said to be ready.
func TestInstanceWithoutPubSubIsNotReady(t *testing.T) {
	t.Parallel()
	server := testkit.Redis(t)
	proxy := testkit.NewSwallowProxy(t, server.Addr)
	in := startInstance(t, "REDIS_URL=redis://"+proxy.Addr)
	readiness(t, in, soon, 200, "")
	proxy.SwallowReplies(-1, "subscribe")
	proxy.Stall()
	readiness(t, in, 6*time.Second, 503, "redis pub/sub: does not hear what it publishes")
	proxy.Heal()
	readiness(t, in, soon, 200, "")
}

// A Redis user without rights on channels wins and loses like others, and nobody is told.
func TestInstanceThatMayNotPublishIsNotReady(t *testing.T) {
	t.Parallel()
	server := testkit.Redis(t)
	client := redis.NewClient(&redis.Options{Addr: server.Addr})
	defer client.Close()
	if err := client.Do(t.Context(), "ACL", "SETUSER", "mute", "on", "nopass", "allkeys", "+@all", "resetchannels").Err(); err != nil {
		t.Fatal(err)
	}
	in := startInstance(t, "REDIS_URL=redis://mute:any@"+server.Addr)
	readiness(t, in, soon, 503, "redis pub/sub: does not hear what it publishes: NOPERM")
	if err := client.Do(t.Context(), "ACL", "SETUSER", "mute", "&redrain:*").Err(); err != nil {
		t.Fatal(err)
	}
	readiness(t, in, soon, 200, "")
}

// METRICS_ADDR takes what is for operators away from the address that guests reach.
func TestOperatorsHaveAnAddressOfTheirOwn(t *testing.T) {
	t.Parallel()
	in := startInstance(t, "METRICS_ADDR=127.0.0.1:0")
	own := "http://" + in.Await(t, soon, `serving metrics" address=(\S+)`)[1]
	if status, body := getBody(t, own+"/metrics"); status != 200 || !strings.Contains(body, "redrain_connections") {
		t.Errorf("their /metrics: %d", status)
	}
	if status, body := getBody(t, own+"/readyz"); status != 200 {
		t.Errorf("their /readyz: %d %s", status, body)
	}
	if status, _ := getBody(t, in.url+"/metrics"); status != 404 {
		t.Errorf("the guests' /metrics: %d", status)
	}
	if code := in.Interrupt(t, soon); code != exitOK {
		t.Errorf("it ended with %d", code)
	}
}
