package rdb

import (
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"redrain/internal/game"
	"redrain/internal/probe"
	"redrain/internal/testkit"
)

// awaitHealthy waits until the subscription receives its echoes.
func (l *listener) awaitHealthy() {
	l.t.Helper()
	l.awaitProbe("", "")
}

// awaitMissed waits until an event with Missed has arrived for each of the rooms, and returns how long that took.
func (l *listener) awaitMissed(within time.Duration, rooms ...string) time.Duration {
	l.t.Helper()
	began, missing := time.Now(), make(map[string]bool)
	for _, room := range rooms {
		missing[room] = true
	}
	for len(missing) > 0 {
		select {
		case heard := <-l.heard:
			if heard.Missed {
				delete(missing, heard.Room)
			}
		case <-time.After(time.Until(began.Add(within))):
			l.t.Fatalf("within %v nothing was lost in %v", within, missing)
		}
	}
	return time.Since(began)
}

// A connection stays open, but nothing arrives any more. go-redis only checks that it can write a PING, so without echoes that would
// never be noticed.
func TestAStalledSubscriptionIsReplacedWithinFiveSeconds(t *testing.T) {
	t.Parallel()
	behind, straight, proxy := behindProxy(t)
	l := behind.listen(t)
	for _, room := range []string{"ONE", "TWO", "THREE"} {
		l.add(room)
	}
	l.awaitHealthy()
	if err := l.UnsubscribeRoom(t.Context(), "THREE"); err != nil {
		t.Fatal(err)
	}
	proxy.SwallowReplies(-1, "subscribe") // the next ones stall as well
	proxy.Stall()
	l.awaitProbe(probe.Unheard, "does not hear what it publishes")
	proxy.Heal()
	l.awaitMissed(2*soon, "ONE", "TWO")
	l.awaitHealthy()
	if err := straight.PublishTally(t.Context(), "THREE", []byte("{}")); err != nil {
		t.Fatal(err)
	}
	if err := straight.PublishTally(t.Context(), "TWO", []byte("{}")); err != nil {
		t.Fatal(err)
	}
	l.next(game.Event{Room: "TWO", Tally: []byte("{}")})
}

// Only the subscription's own connection stalls.
func TestAStalledSubscriptionReadsAgainWithinFiveSeconds(t *testing.T) {
	t.Parallel()
	behind, _, proxy := behindProxy(t)
	l := behind.listen(t)
	l.add("ONE")
	l.awaitHealthy()
	proxy.Stall()
	if took := l.awaitMissed(soon, "ONE"); took > 5*time.Second {
		t.Errorf("the room was read again after %v", took)
	}
	l.awaitHealthy()
}

// The node of a cluster that a subscription is connected to stalls. The next connection is to another node.
func TestASubscriptionLeavesANodeThatStalls(t *testing.T) {
	t.Parallel()
	cluster := testkit.NewRedisCluster(t, 3)
	l := newFixture(t, cluster.URL).listen(t)
	l.add("ONE")
	l.awaitHealthy()
	node := subscribedTo(t, cluster, roomChannel("ONE"))
	node.Freeze()
	defer node.Thaw()
	t.Logf("read again after %v", l.awaitMissed(2*soon, "ONE"))
	l.awaitHealthy()
}

// subscribedTo is the node that a channel's subscriber is connected to.
func subscribedTo(t *testing.T, cluster *testkit.RedisCluster, channel string) *testkit.RedisServer {
	t.Helper()
	for _, node := range append(cluster.Masters, cluster.Replicas...) {
		client := redis.NewClient(&redis.Options{Addr: node.Addr})
		subscribers, err := client.PubSubNumSub(t.Context(), channel).Result()
		_ = client.Close()
		if err != nil {
			t.Fatal(err)
		}
		if subscribers[channel] > 0 {
			return node
		}
	}
	t.Fatal("nobody is subscribed")
	return nil
}

// A user without rights on channels plays, and nobody hears of it: that instance was said to be ready. Neither is one who may not run
// scripts. The channels of rooms are enough.
func TestAUserWithoutChannelsDoesNotHear(t *testing.T) {
	t.Parallel()
	server := testkit.Redis(t)
	r := newFixture(t, server.URL)
	for name, rules := range map[string][]any{
		"mute": {"on", "nopass", "allkeys", "+@all", "resetchannels"},
		"deaf": {"on", "nopass", "allkeys", "allchannels", "+@all", "-subscribe"},
		"idle": {"on", "nopass", "allkeys", "allchannels", "+@all", "-@scripting"},
		"poor": {"on", "nopass", "~redrain:*", "resetchannels", "&redrain:room:*", "+@all"},
	} {
		if err := r.redis.Do(t.Context(), append([]any{"ACL", "SETUSER", name}, rules...)...).Err(); err != nil {
			t.Fatal(err)
		}
		l := newFixture(t, fmt.Sprintf("redis://%s:any@%s", name, server.Addr)).listen(t)
		if name == "poor" {
			l.awaitProbe("", "")
		} else {
			l.awaitProbe(probe.NoRights, "")
		}
	}
	l := r.listen(t)
	l.awaitHealthy()
}
