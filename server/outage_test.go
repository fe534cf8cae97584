package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"redrain/internal/bots"
	"redrain/internal/game"
	"redrain/internal/testkit"
)

// liveRound is one instance, its Redis, and players who tap whatever falls until the round is over.
type liveRound struct {
	t       *testing.T
	in      *instance
	host    *bots.Host
	room    string
	round   string
	players []*bots.Player
	played  chan struct{} // closed when nobody plays any more
}

// playThrough lets players play a round while something happens to what they play on, and audits it when it is over.
func playThrough(t *testing.T, redisURL string, duration time.Duration, happens func(n *liveRound), env ...string) {
	t.Helper()
	in := startInstance(t, append([]string{"REDIS_URL=" + redisURL}, env...)...)
	n := &liveRound{t: t, in: in, host: loginHost(t, in), played: make(chan struct{})}
	n.room = newRoom(t, n.host)
	n.players = joinPlayers(t, n.room, 20, in)
	n.round = newRound(t, n.host, n.room, map[string]any{
		"total_cents": 100_000, "packets": 400, "cap": 100, "countdown_ms": 0, "duration_ms": duration.Milliseconds(),
		"drops_per_second": 10, "close_when_sold_out": false,
	}).ID
	startRound(t, n.host, n.round)
	playing, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	go func() {
		defer close(n.played)
		tapAll(playing, t, n.round, n.players)
	}()
	n.awaitClaims(10)
	happens(n)
	<-n.played
	closed := awaitClosed(t, n.host, n.round, soon)
	if closed.Reason != game.ByTime {
		t.Errorf("the round closed by %s, want by time", closed.Reason)
	}
	awaitHeard(t, n.host, n.round, n.players)
	audit(t, n.host, n.round, n.players)
}

// claims is how many claims the players were told of.
func (n *liveRound) claims() int {
	claims := 0
	for _, p := range n.players {
		claims += len(p.Won())
	}
	return claims
}

func (n *liveRound) heard(outcome game.Outcome) int {
	heard := 0
	for _, p := range n.players {
		heard += p.OutcomeCount(outcome)
	}
	return heard
}

// awaitClaims waits for so many more claims than there are now.
func (n *liveRound) awaitClaims(more int) {
	n.t.Helper()
	before := n.claims()
	testkit.Eventually(n.t, soon, func() error {
		if claims := n.claims(); claims < before+more {
			return fmt.Errorf("%d claims, want %d more than %d", claims, more, before)
		}
		return nil
	})
}

func (n *liveRound) awaitBusy() {
	n.t.Helper()
	testkit.Eventually(n.t, soon, func() error {
		if n.heard(game.Busy) == 0 {
			return fmt.Errorf("nobody has heard busy yet")
		}
		return nil
	})
}

// awaitReady waits until /readyz has a status, and a reason that contains words.
func (n *liveRound) awaitReady(status int, words string) {
	n.t.Helper()
	testkit.Eventually(n.t, soon, func() error {
		got, body := getBody(n.t, n.in.url+"/readyz")
		if got != status || !strings.Contains(body, words) {
			return fmt.Errorf("/readyz says %d %s", got, body)
		}
		return nil
	})
}

func getBody(t *testing.T, url string) (status int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Timeout: soon, Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// connectRedis connects to a test's Redis, past the product.
func connectRedis(t *testing.T, server *testkit.RedisServer) *redis.Client {
	t.Helper()
	client := redis.NewClient(&redis.Options{Addr: server.Addr})
	t.Cleanup(func() { client.Close() })
	return client
}

// Redis dies in the middle of a round and comes back with what it had stored: players hear busy meanwhile, readiness says
// why, the process stays healthy; then the round goes on, and what players were told is in the books.
func TestRedisDiesInTheMiddleOfARound(t *testing.T) {
	t.Parallel()
	server := testkit.Redis(t, "--appendonly", "yes", "--appendfsync", "always")
	playThrough(t, server.URL, 15*time.Second, func(n *liveRound) {
		server.Kill()
		n.awaitReady(http.StatusServiceUnavailable, "redis: ")
		n.awaitBusy()
		if status, body := getBody(t, n.in.url+"/healthz"); status != http.StatusOK {
			t.Errorf("/healthz says %d %s", status, body)
		}
		server.Restart()
		n.awaitReady(http.StatusOK, "ready")
		n.awaitClaims(10)
	})
}

// Redis stands still for as long as readiness waits for it, and goes on: taps made meanwhile are answered, once.
func TestRedisStandsStillForAWhile(t *testing.T) {
	t.Parallel()
	server := testkit.Redis(t)
	playThrough(t, server.URL, 10*time.Second, func(n *liveRound) {
		server.Freeze()
		n.awaitReady(http.StatusServiceUnavailable, "redis: ") // after 2 s
		server.Thaw()
		n.awaitReady(http.StatusOK, "ready")
		n.awaitClaims(10)
	})
}

// Elsewhere a full Redis failed scripts half-way, after they had taken stock, and health checks saw nothing. Here the
// first write is refused, nothing is half done, players hear busy, and readiness says why until there is room again.
func TestRedisIsFullInTheMiddleOfARound(t *testing.T) {
	t.Parallel()
	server := testkit.Redis(t)
	direct := connectRedis(t, server)
	playThrough(t, server.URL, 12*time.Second, func(n *liveRound) {
		if err := direct.ConfigSet(t.Context(), "maxmemory", "1").Err(); err != nil {
			t.Fatal(err)
		}
		n.awaitBusy()
		n.awaitReady(http.StatusServiceUnavailable, "OOM")
		before := readRoundState(t, direct, n.round)
		busy := n.heard(game.Busy)
		testkit.Eventually(t, soon, func() error {
			if heard := n.heard(game.Busy); heard < busy+10 {
				return fmt.Errorf("busy was heard %d times, want 10 more than %d", heard, busy)
			}
			return nil
		})
		if after := readRoundState(t, direct, n.round); after != before {
			t.Errorf("a full Redis went from %s to %s", before, after)
		}
		if err := direct.ConfigSet(t.Context(), "maxmemory", "0").Err(); err != nil {
			t.Fatal(err)
		}
		n.awaitReady(http.StatusOK, "ready")
		n.awaitClaims(10)
	})
}

// readRoundState is what a round's keys hold, as one text to compare. How far the outbox has been read is left out: that goes on.
func readRoundState(t *testing.T, direct *redis.Client, round string) string {
	t.Helper()
	key := func(part string) string { return "redrain:{" + round + "}:" + part }
	var state, claims *redis.MapStringStringCmd
	var board *redis.ZSliceCmd
	var outbox *redis.XMessageSliceCmd
	_, err := direct.Pipelined(t.Context(), func(all redis.Pipeliner) error {
		state, claims = all.HGetAll(t.Context(), key("state")), all.HGetAll(t.Context(), key("claims"))
		board = all.ZRangeWithScores(t.Context(), key("board"), 0, -1)
		outbox = all.XRange(t.Context(), key("outbox"), "-", "+")
		return nil
	})
	if err != nil || len(state.Val()) == 0 || len(outbox.Val()) == 0 {
		t.Fatalf("the round has the state %v and the outbox %v: %v", state, outbox, err)
	}
	return fmt.Sprintln(state.Val(), claims.Val(), board.Val(), outbox.Val())
}

// Elsewhere a SCRIPT FLUSH in the middle of a round made every grab fail with NOSCRIPT. Here no grab fails.
func TestScriptsAreFlushedInTheMiddleOfARound(t *testing.T) {
	t.Parallel()
	server := testkit.Redis(t)
	direct := connectRedis(t, server)
	playThrough(t, server.URL, 20*time.Second, func(n *liveRound) {
		for range 10 {
			if err := direct.ScriptFlush(t.Context()).Err(); err != nil {
				t.Fatal(err)
			}
			n.awaitClaims(2)
		}
		if busy := n.heard(game.Busy); busy > 0 {
			t.Errorf("players heard busy %d times", busy)
		}
	})
}

// Replies of Redis get lost between it and the server: the taps in question are asked again, and each counts once.
func TestLostRepliesCountOnce(t *testing.T) {
	t.Parallel()
	server := testkit.Redis(t)
	proxy := testkit.NewSwallowProxy(t, server.Addr)
	playThrough(t, "redis://"+proxy.Addr, 12*time.Second, func(n *liveRound) {
		for swallowed := range 4 {
			proxy.SwallowReplies(1, "evalsha")
			testkit.Eventually(t, soon, func() error {
				if proxy.Swallowed() <= swallowed {
					return fmt.Errorf("%d replies are lost", proxy.Swallowed())
				}
				return nil
			})
			n.awaitClaims(5)
		}
		if busy := n.heard(game.Busy); busy > 0 {
			t.Errorf("players heard busy %d times: a lost reply is asked for again", busy)
		}
	})
}
