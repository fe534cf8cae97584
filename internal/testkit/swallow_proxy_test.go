package testkit

import (
	"errors"
	"net"
	"os"
	"testing"
	"time"
)

func TestSwallowProxyLosesRepliesNotRequests(t *testing.T) {
	server := Miniredis(t)
	proxy := NewSwallowProxy(t, server.Addr())
	proxy.SwallowReplies(2, "INCR")

	for range 2 {
		conn := dialRedis(t, proxy.Addr)
		conn.want("PING", "+PONG")
		conn.wantSilence("INCR taps")
		conn.wantSilence("PING")
	}
	dialRedis(t, proxy.Addr).want("INCR taps", ":3")
	if got := proxy.Swallowed(); got != 2 {
		t.Errorf("swallowed %d, want 2", got)
	}
}

func TestSwallowProxyLosesAllRepliesUntilHealed(t *testing.T) {
	proxy := NewSwallowProxy(t, Miniredis(t).Addr())
	proxy.SwallowReplies(-1, "")
	dialRedis(t, proxy.Addr).wantSilence("PING")
	proxy.Heal()
	dialRedis(t, proxy.Addr).want("PING", "+PONG")
}

func TestSwallowProxyCutsAndRefuses(t *testing.T) {
	proxy := NewSwallowProxy(t, Miniredis(t).Addr())
	before := dialRedis(t, proxy.Addr)
	before.want("PING", "+PONG")
	proxy.Refuse()
	before.want("PING", "+PONG")
	wantRefused(t, proxy.Addr)
	proxy.Cut()
	before.wantSilence("PING")
	proxy.Heal()
	dialRedis(t, proxy.Addr).want("PING", "+PONG")
}

func TestSwallowProxyResetsWhenTheServerIsGone(t *testing.T) {
	server := Miniredis(t)
	proxy := NewSwallowProxy(t, server.Addr())
	server.Close()
	wantRefused(t, proxy.Addr)
}

// wantRefused fails when a connection lives long enough to be read from. The reset may come before the
// dial is done.
func wantRefused(t *testing.T, addr string) {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
		t.Fatal(err)
	}
	_, err = conn.Read(make([]byte, 1))
	if err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("read: %v, want a reset", err)
	}
}
