package api

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	// maxOwnFiles is how many open files a process keeps for itself, at most: databases, Redis, webhooks, logs.
	maxOwnFiles = 128
	// maxReserve is how many connections are kept for hosts and operators, at most.
	maxReserve = 256
	// maxFromAddress is how many connections one address may have within the reserve, so that it is not used up by one either.
	maxFromAddress = 16
)

// Connections counts the connections of a server, which are bounded by the process's limit of open files. The last of them are a
// reserve: players and screens are refused there (Scarce), and requests get a connection only for one answer. So a host who logs in
// and programs that ask for readiness and metrics are always served. Safe for concurrent use.
type Connections struct {
	// Upgraded returns how many connections have become WebSockets; they are counted elsewhere.
	Upgraded func() int

	most, reserve int
	proxies       Proxies
	logger        *slog.Logger

	mu        sync.Mutex
	addresses map[net.Conn]string
	counts    map[string]int // connections of each address, without those that were upgraded
	keepAlive rate.Sometimes // limits how often idle connections are closed
	closing   bool           // keep-alive is off
	refusals  rate.Sometimes // limits the log
}

// NewConnections returns a counter for a process that may have as many open files; 0: there is no limit.
func NewConnections(files int, proxies Proxies, logger *slog.Logger) *Connections {
	return &Connections{
		Upgraded: func() int { return 0 },
		most:     files - min(maxOwnFiles, files/4), reserve: min(maxReserve, files/8), proxies: proxies, logger: logger,
		addresses: make(map[net.Conn]string), counts: make(map[string]int),
		keepAlive: rate.Sometimes{Interval: time.Second}, refusals: rate.Sometimes{Interval: time.Second},
	}
}

// Watch counts the connections of a server.
func (c *Connections) Watch(server *http.Server) {
	server.ConnState = func(conn net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			if !c.add(conn) {
				c.refuse(conn)
			}
		case http.StateHijacked, http.StateClosed:
			c.remove(conn)
		case http.StateActive, http.StateIdle:
			return
		}
		c.switchKeepAlive(server)
	}
}

// Scarce reports whether only the reserve is left.
func (c *Connections) Scarce() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.scarce()
}

// scarce needs mu.
func (c *Connections) scarce() bool {
	return c.most > 0 && len(c.addresses)+c.Upgraded() > c.most-c.reserve
}

// add counts a connection, and reports whether it may stay.
func (c *Connections) add(conn net.Conn) bool {
	address := peerAddress(conn)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.addresses[conn] = clientNetwork(address.String())
	c.counts[c.addresses[conn]]++
	switch {
	case !c.scarce():
		return true
	case len(c.addresses)+c.Upgraded() > c.most:
		return false
	}
	return address.IsLoopback() || c.proxies.contain(address) || c.counts[c.addresses[conn]] <= maxFromAddress
}

func (c *Connections) remove(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	address, known := c.addresses[conn]
	if !known {
		return
	}
	delete(c.addresses, conn)
	if c.counts[address]--; c.counts[address] == 0 {
		delete(c.counts, address)
	}
}

// switchKeepAlive closes idle connections, and lets none become idle, for as long as connections are scarce.
func (c *Connections) switchKeepAlive(server *http.Server) {
	c.mu.Lock()
	scarce, closing := c.scarce(), c.closing
	c.closing = scarce
	c.mu.Unlock()
	switch {
	case scarce && closing:
		c.keepAlive.Do(func() { server.SetKeepAlivesEnabled(false) })
	case scarce != closing:
		server.SetKeepAlivesEnabled(!scarce)
	}
}

// refuse answers a connection on which nothing was read yet, and closes it.
func (c *Connections) refuse(conn net.Conn) {
	c.refusals.Do(func() {
		c.logger.Warn("connections are refused: too many are open; raise the limit of open files (ulimit -n), or lower the bounds of sockets",
			"most", c.most, "address", conn.RemoteAddr())
	})
	body := fmt.Sprintf(`{"error":{"code":%q,"message":%q}}`, errFull.code, errFull.message)
	_ = conn.SetWriteDeadline(time.Now().Add(time.Second)) // a new connection's buffer has room for this
	_, _ = fmt.Fprintf(conn, "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nCache-Control: no-store\r\n"+
		"Retry-After: 5\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", errFull.status, http.StatusText(errFull.status), len(body), body)
	_ = conn.Close() // the server notices
}

func peerAddress(conn net.Conn) netip.Addr {
	peer, err := netip.ParseAddrPort(conn.RemoteAddr().String())
	if err != nil {
		return netip.Addr{}
	}
	return peer.Addr().Unmap()
}

// acceptLogger is a listener that logs why it could not accept connections, at most once a second.
type acceptLogger struct {
	net.Listener

	logger *slog.Logger
	log    rate.Sometimes
}

// LogAcceptErrors returns a listener that logs why connections could not be accepted, such as for want of file descriptors, at most once
// a second. The HTTP server itself tries again and tells nobody.
func LogAcceptErrors(listener net.Listener, logger *slog.Logger) net.Listener {
	return &acceptLogger{Listener: listener, logger: logger, log: rate.Sometimes{Interval: time.Second}}
}

// Accept does what the listener does.
func (l *acceptLogger) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil && !errors.Is(err, net.ErrClosed) {
		l.log.Do(func() { l.logger.Warn("cannot accept connections", "error", err) })
	}
	return conn, err //nolint:wrapcheck // for the HTTP server, which looks at it
}
