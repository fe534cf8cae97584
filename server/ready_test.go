package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"

	"redrain/internal/bots"
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
	readiness(t, in, 6*time.Second, 503, "redis: unheard: does not hear what it publishes")
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
	readiness(t, in, soon, 503, "redis: no_rights: ")
	if err := client.Do(t.Context(), "ACL", "SETUSER", "mute", "&redrain:room:*").Err(); err != nil {
		t.Fatal(err)
	}
	readiness(t, in, soon, 200, "")
}

// The Redis user that the README describes may do all that a round needs, and nothing less is enough to be ready.
func TestTheRedisUserOfTheReadmePlays(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	command := regexp.MustCompile(`(?m)^    (ACL SETUSER redrain .*)$`).FindSubmatch(readme)
	if command == nil {
		t.Fatal("the README has no ACL line")
	}
	server := testkit.Redis(t)
	var words []any
	for word := range strings.FieldsSeq(string(command[1])) {
		words = append(words, word)
	}
	if err := connectRedis(t, server).Do(t.Context(), words...).Err(); err != nil {
		t.Fatal(err)
	}
	playThrough(t, "redis://redrain:PASSWORD@"+server.Addr, 4*time.Second, func(n *liveRound) {
		n.awaitReady(http.StatusOK, "ready")
	})
}

// The server's Redis becomes a replica, as after a failover that it has not heard of: whatever is written is refused. Both instances
// say so, and hosts hear busy until it is a master again.
func TestInstancesAreNotReadyWhileRedisIsAReplica(t *testing.T) {
	t.Parallel()
	server, master := testkit.Redis(t), testkit.Redis(t)
	client := connectRedis(t, server)
	a, b := startTwo(t, server.URL)
	host := loginHost(t, a)
	room := newRoom(t, host)
	round := newRound(t, host, room, map[string]any{"total_cents": 100, "packets": 1})
	port := master.Addr[strings.LastIndex(master.Addr, ":")+1:]
	if err := client.ReplicaOf(t.Context(), "127.0.0.1", port).Err(); err != nil {
		t.Fatal(err)
	}
	for _, in := range []*instance{a, b} {
		readiness(t, in, soon, 503, "redis: read_only: ")
	}
	if check := readHealth(t, host, "redis"); check.OK || check.Reason != "read_only" {
		t.Errorf("the host sees %+v", check)
	}
	wantBusy(t, host, http.MethodPost, "/api/rounds/"+round.ID+"/start", nil)
	if err := client.ReplicaOf(t.Context(), "NO", "ONE").Err(); err != nil {
		t.Fatal(err)
	}
	for _, in := range []*instance{a, b} {
		readiness(t, in, soon, 200, "")
	}
}

// The disk of the SQLite file is full: nobody gets in, which the instance that was said to be ready answered as a fault of its own. When
// there is room again it goes on, without a restart.
func TestInstanceWithAFullDiskIsNotReady(t *testing.T) {
	t.Parallel()
	in := startInstance(t)
	host := loginHost(t, in)
	room := newRoom(t, host)
	join := func(nickname string) error {
		return host.Call(t.Context(), http.MethodPost, "/api/rooms/"+room+"/players", map[string]any{"nickname": nickname}, new(json.RawMessage))
	}
	readiness(t, in, soon, 200, "")
	for range 2 { // again, too
		in.LimitFileSize(t, 0)
		readiness(t, in, soon, 503, "database: full: ")
		if check := readHealth(t, host, "database"); check.OK || check.Reason != "full" {
			t.Errorf("the host sees %+v", check)
		}
		if err := join("安"); err == nil || !strings.Contains(err.Error(), ": 503 ") || !strings.Contains(err.Error(), "busy") {
			t.Errorf("who joins hears %v, want 503 busy", err)
		}
		in.LimitFileSize(t, -1)
		readiness(t, in, soon, 200, "")
	}
	if err := join("安"); err != nil {
		t.Error(err)
	}
	if said := in.Output(); strings.Contains(said, "request failed") || !strings.Contains(said, "reason=full") {
		t.Errorf("the log says\n%s", said)
	}
}

// The database turns read-only under one instance's connections, and back.
func TestInstanceWithAReadOnlyDatabaseIsNotReady(t *testing.T) {
	t.Parallel()
	database := testkit.SharedPostgres(t)
	in := startInstance(t, "DATABASE_URL="+database)
	host := loginHost(t, in)
	readiness(t, in, soon, 200, "")
	conn, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	name := conn.Config().Database
	for _, statement := range []string{
		"ALTER DATABASE " + name + " SET default_transaction_read_only = on",
		"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
	} {
		if _, err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	readiness(t, in, soon, 503, "database: read_only: ")
	wantBusy(t, host, http.MethodPost, "/api/rooms", map[string]any{"name": "二"})
	if _, err := conn.Exec(t.Context(), "ALTER DATABASE "+name+" RESET default_transaction_read_only"); err != nil {
		t.Fatal(err)
	}
	readiness(t, in, soon, 200, "")
	newRoom(t, host)
}

// healthCheck is a line of the host's health card.
type healthCheck struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Reason string `json:"reason"`
}

func readHealth(t *testing.T, host *bots.Host, name string) healthCheck {
	t.Helper()
	var health struct {
		Checks []healthCheck `json:"checks"`
	}
	if err := host.Call(t.Context(), http.MethodGet, "/api/host/health", nil, &health); err != nil {
		t.Fatal(err)
	}
	for _, check := range health.Checks {
		if check.Name == name {
			return check
		}
	}
	t.Fatalf("no check %q in %+v", name, health)
	return healthCheck{}
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
