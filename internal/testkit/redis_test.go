package testkit

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// redisConn speaks commands without spaces in their words, and one line a reply: all these tests need.
type redisConn struct {
	t      *testing.T
	conn   net.Conn
	reader *bufio.Reader
}

func dialRedis(t *testing.T, addr string) *redisConn {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &redisConn{t, conn, bufio.NewReader(conn)}
}

// ask returns the first line of the reply, or the error when there is none in time.
func (c *redisConn) ask(command string, within time.Duration) (string, error) {
	c.t.Helper()
	if err := c.conn.SetDeadline(time.Now().Add(within)); err != nil {
		c.t.Fatal(err)
	}
	words := strings.Fields(command)
	request := fmt.Sprintf("*%d\r\n", len(words))
	for _, word := range words {
		request += fmt.Sprintf("$%d\r\n%s\r\n", len(word), word)
	}
	if _, err := io.WriteString(c.conn, request); err != nil {
		return "", err
	}
	line, err := c.reader.ReadString('\n')
	return strings.TrimSpace(line), err
}

func (c *redisConn) want(command, reply string) {
	c.t.Helper()
	if got, err := c.ask(command, 5*time.Second); got != reply || err != nil {
		c.t.Fatalf("%s: %q, %v; want %q", command, got, err, reply)
	}
}

// wantSilence fails when a reply comes; a fifth of a second is ages for one on loopback.
func (c *redisConn) wantSilence(command string) {
	c.t.Helper()
	if got, err := c.ask(command, 200*time.Millisecond); err == nil {
		c.t.Fatalf("%s: %q, want no reply", command, got)
	}
}

func TestEachRedisAnswersOnBothKinds(t *testing.T) {
	seen := map[string]bool{}
	EachRedis(t, func(t *testing.T, url string) {
		conn := dialRedis(t, strings.TrimPrefix(url, "redis://"))
		conn.want("SET greeting hello", "+OK")
		conn.want("STRLEN greeting", ":5")
		seen[url] = true
	})
	if len(seen) != 2 && os.Getenv("CI") == "true" {
		t.Errorf("ran on %v, want two servers", seen)
	}
}

func TestMiniredisKeepsAPlainClock(t *testing.T) {
	server := Miniredis(t)
	dialRedis(t, server.Addr()).want("SET short v PX 50", "+OK")
	server.FastForward(51 * time.Millisecond)
	if server.Exists("short") {
		t.Error("the key outlived its TTL")
	}
}

func TestRedisStoresNothingUnlessTold(t *testing.T) {
	forgetful, stored := Redis(t), Redis(t, "--appendonly", "yes", "--appendfsync", "always")
	for _, server := range []*RedisServer{forgetful, stored} {
		dialRedis(t, server.Addr).want("SET kept 1", "+OK")
		server.Kill()
		if conn, err := net.Dial("tcp", server.Addr); err == nil {
			conn.Close()
			t.Error("a killed server takes connections")
		}
		server.Restart()
	}
	dialRedis(t, forgetful.Addr).want("EXISTS kept", ":0")
	dialRedis(t, stored.Addr).want("EXISTS kept", ":1")
}

func TestFrozenRedisAnswersOnlyOnceThawed(t *testing.T) {
	server := Redis(t)
	conn := dialRedis(t, server.Addr)
	conn.want("PING", "+PONG")
	server.Freeze()
	conn.wantSilence("PING")
	server.Thaw()
	conn.want("INCR counter", "+PONG") // the answer that was due
	conn.want("PING", ":1")
}

func TestRedisNoticesATakenPort(t *testing.T) {
	server := Redis(t)
	taken := &RedisServer{t: t, dir: t.TempDir(), port: server.port}
	if err := taken.start(); err == nil || !strings.Contains(err.Error(), "redis-server exited") {
		t.Errorf("a second server on the same port: %v", err)
	}
}

// holdVariable turns the test below into a program that starts a server and waits to be killed.
const holdVariable = "REDRAIN_TESTKIT_HOLD"

func TestRedisDiesWithAKilledTestBinary(t *testing.T) {
	if os.Getenv(holdVariable) != "" {
		fmt.Printf("listening on %s\n", Redis(t).Addr)
		select {}
	}
	Redis(t) // skips where there is none
	holder := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	holder.Env = append(os.Environ(), holdVariable+"=1", "TMPDIR="+t.TempDir())
	out, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	child, err := startProcess(holder)
	if err != nil {
		t.Fatal(err)
	}
	var addr string
	if _, err := fmt.Fscanf(out, "listening on %s\n", &addr); err != nil {
		t.Errorf("read the address: %v", err)
	}
	if err := child.signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-child.exited
	Eventually(t, 5*time.Second, func() error {
		if conn, err := net.Dial("tcp", addr); err == nil {
			conn.Close()
			return fmt.Errorf("%s still listens", addr)
		}
		return nil
	})
}
