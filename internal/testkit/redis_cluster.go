package testkit

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// clusterStartTimeout is until a started cluster must serve all slots, with its replicas in step.
const clusterStartTimeout = 30 * time.Second

// RedisCluster is a real Redis Cluster of one test. Its methods are for the test's own goroutine.
type RedisCluster struct {
	Masters  []*RedisServer
	Replicas []*RedisServer // Replicas[i] replicates Masters[i]
	URL      string         // redis+cluster://host:port of the first master

	t testing.TB
}

// NewRedisCluster starts a cluster of n masters with one replica each, whose node timeout is one second: a replica takes over
// about three seconds after its master died. Further arguments are those of redis-server.
func NewRedisCluster(t testing.TB, n int, args ...string) *RedisCluster {
	t.Helper()
	c := &RedisCluster{t: t}
	start := func() *RedisServer {
		// The port of the bus is the server's and 10000 by default, which may be beyond 65535.
		return Redis(t, append([]string{
			"--cluster-enabled", "yes", "--cluster-node-timeout", "1000", "--cluster-port", strconv.Itoa(FreePort(t)),
		}, args...)...)
	}
	for range n {
		c.Masters = append(c.Masters, start())
		c.Replicas = append(c.Replicas, start())
	}
	c.URL = "redis+cluster://" + c.Masters[0].Addr
	c.join()
	return c
}

// join makes one cluster of servers that do not know each other.
func (c *RedisCluster) join() {
	c.t.Helper()
	n := len(c.Masters)
	for i, master := range c.Masters {
		c.mustRunCommand(master, "cluster", "set-config-epoch", i+1)
		c.mustRunCommand(master, "cluster", "addslotsrange", 16384*i/n, 16384*(i+1)/n-1)
	}
	host, port, _ := net.SplitHostPort(c.Masters[0].Addr)
	bus := c.Masters[0].arg("--cluster-port")
	for _, node := range c.allNodes() {
		c.mustRunCommand(node, "cluster", "meet", host, port, bus)
	}
	Eventually(c.t, clusterStartTimeout, func() error {
		return c.checkNodes(c.allNodes(), "cluster", "info", fmt.Sprintf("cluster_known_nodes:%d\r", 2*n))
	})
	for i, master := range c.Masters {
		id := c.mustRunCommand(master, "cluster", "myid")
		Eventually(c.t, clusterStartTimeout, func() error { // once it has heard of its master
			_, err := c.runCommand(c.Replicas[i], "cluster", "replicate", id)
			return err
		})
	}
	Eventually(c.t, clusterStartTimeout, func() error { return c.checkNodes(c.allNodes(), "cluster", "info", "cluster_state:ok") })
	Eventually(c.t, clusterStartTimeout, func() error { return c.checkNodes(c.Replicas, "info", "replication", "master_link_status:up") })
	Eventually(c.t, clusterStartTimeout, func() error { return c.checkNodes(c.Masters, "info", "replication", "state=online") })
	Eventually(c.t, clusterStartTimeout, func() error { return c.checkReplicasKnown() })
}

// checkReplicasKnown is nil once every node knows every replica as one: then no client is sent to where nothing is.
func (c *RedisCluster) checkReplicasKnown() error {
	for _, node := range c.allNodes() {
		text, err := c.runCommand(node, "cluster", "nodes")
		if err != nil {
			return err
		}
		if got := strings.Count(text, "slave"); got != len(c.Replicas) {
			return fmt.Errorf("%s knows %d replicas", node.Addr, got)
		}
	}
	return nil
}

func (c *RedisCluster) allNodes() []*RedisServer {
	return append(append([]*RedisServer{}, c.Masters...), c.Replicas...)
}

// checkNodes is nil when all nodes answer a command, of two words, with the given text somewhere.
func (c *RedisCluster) checkNodes(nodes []*RedisServer, command, sub, want string) error {
	for _, node := range nodes {
		text, err := c.runCommand(node, command, sub)
		if err != nil {
			return err
		}
		if !strings.Contains(text, want) {
			return fmt.Errorf("%s: %s %s has no %q", node.Addr, command, sub, want)
		}
	}
	return nil
}

// Owner returns which pair of a master and a replica has a key's slot, as the cluster was made.
func (c *RedisCluster) Owner(key string) int {
	c.t.Helper()
	slot, err := strconv.Atoi(c.mustRunCommand(c.Masters[0], "cluster", "keyslot", key))
	if err != nil {
		c.t.Fatal(err)
	}
	for i := range c.Masters {
		if slot < 16384*(i+1)/len(c.Masters) {
			return i
		}
	}
	panic("no such slot")
}

// AwaitMaster waits until a node says that it is a master, and returns about when it did first.
func (c *RedisCluster) AwaitMaster(node *RedisServer, within time.Duration) time.Time {
	c.t.Helper()
	Eventually(c.t, within, func() error {
		role, err := c.runCommand(node, "role")
		if err == nil && !strings.HasPrefix(role, "[master") {
			err = fmt.Errorf("%s is still %.20s", node.Addr, role)
		}
		return err
	})
	return time.Now()
}

func (c *RedisCluster) mustRunCommand(node *RedisServer, command ...any) string {
	c.t.Helper()
	text, err := c.runCommand(node, command...)
	if err != nil {
		c.t.Fatalf("%v on %s: %v", command, node.Addr, err)
	}
	return text
}

func (c *RedisCluster) runCommand(node *RedisServer, command ...any) (string, error) {
	client := redis.NewClient(&redis.Options{Addr: node.Addr, MaxRetries: -1, Protocol: 2})
	defer client.Close()
	ctx, cancel := context.WithTimeout(c.t.Context(), redisReplyTimeout)
	defer cancel()
	answer, err := client.Do(ctx, command...).Result()
	return fmt.Sprint(answer), err
}

// arg is the value of one of the server's arguments.
func (r *RedisServer) arg(name string) string {
	for i, arg := range r.args {
		if arg == name {
			return r.args[i+1]
		}
	}
	return ""
}
