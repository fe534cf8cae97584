package api

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"syscall"
	"testing"
)

// fakeConn is a connection of an address; it keeps what is written to it.
type fakeConn struct {
	net.Conn

	address string
	written bytes.Buffer
	closed  bool
}

func newFakeConn(address string) *fakeConn {
	pipe, _ := net.Pipe()
	return &fakeConn{Conn: pipe, address: address}
}

func (c *fakeConn) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(c.address))
}
func (c *fakeConn) Write(text []byte) (int, error) { return c.written.Write(text) }
func (c *fakeConn) Close() error                   { c.closed = true; return c.Conn.Close() }

// crowd opens connections at a server.
type crowd struct {
	connections *Connections
	server      *http.Server
	log         bytes.Buffer
}

func newCrowd(files int) *crowd {
	c := &crowd{server: new(http.Server)}
	c.connections = NewConnections(files, Proxies{netip.MustParsePrefix("10.0.0.0/8")}, slog.New(slog.NewTextHandler(&c.log, nil)))
	c.connections.Watch(c.server)
	return c
}

func (c *crowd) open(address string) *fakeConn {
	conn := newFakeConn(address)
	c.server.ConnState(conn, http.StateNew)
	return conn
}

// With 1024 open files, 128 are the process's own and 128 the reserve.
func TestAReserveOfConnectionsIsKept(t *testing.T) {
	c := newCrowd(1024)
	sockets := 0
	c.connections.Upgraded = func() int { return sockets }
	for n := range 768 {
		conn := c.open(fmt.Sprintf("203.0.113.%d:1000", n%2))
		if conn.closed || c.connections.Scarce() {
			t.Fatalf("connection %d is refused, or nothing is left", n)
		}
		c.server.ConnState(conn, http.StateHijacked)
		sockets++
	}
	for range maxFromAddress {
		if conn := c.open("203.0.113.1:2000"); conn.closed || !c.connections.Scarce() {
			t.Fatal("the reserve is closed, or nobody knows that it began")
		}
	}
	greedy := c.open("203.0.113.1:3000")
	if !greedy.closed || !strings.HasPrefix(greedy.written.String(), "HTTP/1.1 503 ") || !strings.Contains(greedy.written.String(), `"code":"full"`) {
		t.Errorf("one address takes the reserve; it hears %q", greedy.written.String())
	}
	c.server.ConnState(greedy, http.StateClosed)
	for _, address := range []string{"127.0.0.1:1", "10.1.2.3:1"} {
		for range 2 * maxFromAddress {
			if conn := c.open(address); conn.closed {
				t.Fatalf("%s is refused", address)
			}
		}
	}
	if n := strings.Count(c.log.String(), "connections are refused"); n != 1 {
		t.Errorf("%d warnings", n)
	}
	sockets = 0
	if c.connections.Scarce() {
		t.Error("still scarce")
	}
}

func TestEverythingIsRefusedBeforeTheLastFile(t *testing.T) {
	c := newCrowd(1024)
	refused := 0
	for n := range 2000 {
		if conn := c.open(fmt.Sprintf("203.0.%d.%d:1", n/256, n%256)); conn.closed {
			refused++
			c.server.ConnState(conn, http.StateClosed)
		}
	}
	if open := len(c.connections.addresses); open != 896 || refused != 2000-896 {
		t.Errorf("%d are open and %d were refused", open, refused)
	}
}

// failingListener fails as one does without file descriptors.
type failingListener struct{ net.Listener }

func (failingListener) Accept() (net.Conn, error) {
	return nil, &net.OpError{Op: "accept", Err: syscall.EMFILE}
}

func TestAcceptErrorsAreLoggedOnceASecond(t *testing.T) {
	var log bytes.Buffer
	listener := LogAcceptErrors(failingListener{}, slog.New(slog.NewTextHandler(&log, nil)))
	for range 100 {
		if _, err := listener.Accept(); !errors.Is(err, syscall.EMFILE) {
			t.Fatalf("the HTTP server gets %v", err)
		}
	}
	if lines := strings.Count(log.String(), "level=WARN"); lines != 1 {
		t.Errorf("%d lines: %s", lines, log.String())
	}
}
