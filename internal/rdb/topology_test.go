package rdb

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"redrain/internal/game"
	"redrain/internal/testkit"
)

// behindClusterProxy is an instance whose cluster of one node says that it is to be reached through a proxy.
func behindClusterProxy(t *testing.T) (*fixture, *testkit.SwallowProxy) {
	server := testkit.Redis(t, "--cluster-enabled", "yes")
	makeCluster(t, server)
	proxy := testkit.NewSwallowProxy(t, server.Addr)
	node := redis.NewClient(&redis.Options{Addr: server.Addr})
	defer node.Close()
	_, port, _ := net.SplitHostPort(proxy.Addr)
	if err := node.ConfigSet(t.Context(), "cluster-announce-port", port).Err(); err != nil {
		t.Fatal(err)
	}
	return newFixture(t, "redis+cluster://"+proxy.Addr), proxy
}

// The cluster client repeated by itself what may have been done. So a tap that won was told at its first try that it had won
// before, and who asked did not know that there had been another try.
func TestAClusterClientRepeatsNothingThatMayBeDone(t *testing.T) {
	t.Parallel()
	behind, proxy := behindClusterProxy(t)
	round := behind.started(nil)
	behind.now.Store(0)
	behind.grab(round, taps("first1")) // the script is there now
	proxy.SwallowReplies(1, "evalsha")
	type result struct {
		grabbed game.Grabbed
		err     error
	}
	results := make(chan result, 1)
	go func() {
		ctx, cancel := context.WithTimeout(t.Context(), soon)
		defer cancel()
		grabbed, err := behind.Grab(ctx, round.Room, round.ID, behind.NewBatch(), taps("ann1"))
		results <- result{grabbed, err}
	}()
	awaitSwallowed(t, proxy)
	proxy.Cut()
	if got := <-results; got.err == nil || NothingDone(got.err) {
		t.Errorf("the reply was lost, and yet: %v, %v", got.grabbed.Answers, got.err)
	}
	behind.expect(round, "ann1", game.Duplicate)
}

// Amounts are pushed in pipelines; a chunk that was pushed twice would be paid twice.
func TestAPipelineOnAClusterIsNotRepeated(t *testing.T) {
	t.Parallel()
	behind, proxy := behindClusterProxy(t)
	proxy.SwallowReplies(1, "rpush")
	failed := make(chan error, 1)
	go func() {
		_, err := behind.redis.Pipelined(t.Context(), func(pipe redis.Pipeliner) error {
			pipe.RPush(t.Context(), "list", "once")
			return nil
		})
		failed <- err
	}()
	awaitSwallowed(t, proxy)
	proxy.Cut()
	if err := <-failed; err == nil {
		t.Error("the reply was lost, and yet there is no error")
	}
	if n, err := behind.redis.LLen(t.Context(), "list").Result(); err != nil || n != 1 {
		t.Errorf("it was pushed %d times, %v", n, err)
	}
}

func awaitSwallowed(t *testing.T, proxy *testkit.SwallowProxy) {
	t.Helper()
	testkit.Eventually(t, soon, func() error {
		if proxy.Swallowed() == 0 {
			return errors.New("no reply was lost yet")
		}
		return nil
	})
}

// resharding moves a round's slot between the two masters of a cluster, step by step.
type resharding struct {
	t        *testing.T
	slot     string
	from, to *redis.Client
	fromID   string
	toID     string
}

func newResharding(t *testing.T, cluster *testkit.RedisCluster, round game.Round) *resharding {
	owner := cluster.Owner(stateKey(round.ID))
	m := &resharding{t: t}
	m.from = redis.NewClient(&redis.Options{Addr: cluster.Masters[owner].Addr})
	m.to = redis.NewClient(&redis.Options{Addr: cluster.Masters[1-owner].Addr})
	t.Cleanup(func() { _ = errors.Join(m.from.Close(), m.to.Close()) })
	m.slot = m.do(m.from, "cluster", "keyslot", stateKey(round.ID))
	m.fromID, m.toID = m.do(m.from, "cluster", "myid"), m.do(m.to, "cluster", "myid")
	return m
}

func (m *resharding) do(node *redis.Client, command ...any) string {
	m.t.Helper()
	answer, err := node.Do(m.t.Context(), command...).Result()
	if err != nil {
		m.t.Fatalf("%v: %v", command, err)
	}
	return fmt.Sprint(answer)
}

func (m *resharding) move(keys ...string) {
	m.t.Helper()
	host, port, _ := net.SplitHostPort(m.to.Options().Addr)
	command := []any{"migrate", host, port, "", 0, 5000, "keys"}
	for _, key := range keys {
		command = append(command, key)
	}
	m.do(m.from, command...)
}

// While a slot moves, and after it has, a round is played on: ASK and MOVED are followed, and TRYAGAIN says that nothing was
// done.
func TestARoundWhoseSlotMovesIsPlayedOn(t *testing.T) {
	t.Parallel()
	cluster := testkit.NewRedisCluster(t, 2)
	client := dial(t, cluster.URL)
	round := newRound(t, dealtEqual) // has a List of amounts, else a key stays missing and says TRYAGAIN to the end
	if _, err := client.Open(t.Context(), round, amountsOf(round)); err != nil {
		t.Fatal(err)
	}
	won := func(batch string) {
		t.Helper()
		grabbed, err := client.Grab(t.Context(), round.Room, round.ID, client.NewBatch(), taps(batch))
		if err != nil || grabbed.Answers[0].Outcome != game.Won {
			t.Errorf("%s: %v, %v", batch, grabbed.Answers, err)
		}
	}
	won("ann1")
	m := newResharding(t, cluster, round)
	m.do(m.to, "cluster", "setslot", m.slot, "importing", m.fromID)
	m.do(m.from, "cluster", "setslot", m.slot, "migrating", m.toID)
	m.move(stateKey(round.ID), claimsKey(round.ID))
	if _, err := client.Grab(t.Context(), round.Room, round.ID, client.NewBatch(), taps("bob1")); !NothingDone(err) || !errors.Is(err, game.ErrTryAgain) || !strings.Contains(err.Error(), "TRYAGAIN") {
		t.Errorf("half moved: %v", err)
	}
	m.move(boardKey(round.ID), outboxKey(round.ID), amountsKey(round.ID))
	won("bob1")
	m.do(m.to, "cluster", "setslot", m.slot, "node", m.toID)
	m.do(m.from, "cluster", "setslot", m.slot, "node", m.toID)
	won("cyd1")
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if claims, err := client.Claims(ctx, round.ID, 0, 10); err != nil || len(claims) != 3 {
		t.Errorf("%d claims, %v", len(claims), err)
	}
}
