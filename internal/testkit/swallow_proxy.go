package testkit

import (
	"bytes"
	"net"
	"sync"
	"testing"
	"time"
)

// SwallowProxy stands between a client and a TCP server, and misbehaves when told: it makes replies
// vanish although the server did the work, delays them, stalls or cuts connections, or turns new ones
// away. It is safe for concurrent use.
type SwallowProxy struct {
	Addr string // where clients connect, host:port

	upstream string
	listener net.Listener
	running  sync.WaitGroup

	mu       sync.Mutex
	links    map[*link]struct{}
	needle   []byte // a request with these bytes loses its reply
	left     int    // how many still do; below zero: until Heal
	lost     int
	refusing bool
	delay    time.Duration
}

// link is one connection of a client with its own connection to the server.
type link struct {
	client, server net.Conn
	hung           bool // guarded by SwallowProxy.mu: nothing reaches the client any more
}

// NewSwallowProxy listens on a free loopback port, passes everything on to upstream (host:port), and
// ends with the test.
func NewSwallowProxy(t testing.TB, upstream string) *SwallowProxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("start proxy: %v", err)
	}
	p := &SwallowProxy{
		Addr: listener.Addr().String(), upstream: upstream, listener: listener,
		links: map[*link]struct{}{},
	}
	p.running.Go(p.accept)
	t.Cleanup(func() {
		p.Refuse()
		_ = listener.Close()
		p.Cut()
		p.running.Wait()
	})
	return p
}

// SwallowReplies makes the replies to the next n requests that contain the given bytes vanish, to all
// that follow when n is negative. The server gets the request; the client's connection hangs from then
// on, as after a lost reply nothing else can arrive in its place. Bytes are compared within one read, so
// name something near the start of a request, such as "evalsha", in the client's spelling.
func (p *SwallowProxy) SwallowReplies(n int, to string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left, p.needle = n, []byte(to)
}

// Stall makes every connection there is hang from now on: it stays open, and nothing comes from the
// server any more. New ones work.
func (p *SwallowProxy) Stall() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		l.hung = true
	}
}

// Delay makes every piece of a reply arrive so much later, until Heal. Pieces of one connection wait one after the other.
func (p *SwallowProxy) Delay(by time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay = by
}

// Swallowed is the number of replies that have vanished so far.
func (p *SwallowProxy) Swallowed() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lost
}

// Refuse resets every new connection until Heal; those that exist go on.
func (p *SwallowProxy) Refuse() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refusing = true
}

// Heal ends all misbehaviour for what comes; connections that hang stay so, until their client or Cut
// closes them.
func (p *SwallowProxy) Heal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left, p.refusing, p.delay = 0, false, 0
}

// Cut closes every connection there is, hanging ones too.
func (p *SwallowProxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.links {
		l.close()
	}
}

func (p *SwallowProxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return // the listener is closed
		}
		p.running.Go(func() { p.serve(client) })
	}
}

func (p *SwallowProxy) serve(client net.Conn) {
	server, err := net.Dial("tcp", p.upstream)
	if err != nil {
		reset(client)
		return
	}
	l := &link{client: client, server: server}
	if !p.admit(l) {
		reset(client)
		_ = server.Close()
		return
	}
	p.running.Go(func() { l.pass(client, server, p.onRequest) })
	l.pass(server, client, p.onReply)
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.links, l)
}

func (p *SwallowProxy) admit(l *link) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.refusing {
		p.links[l] = struct{}{}
	}
	return !p.refusing
}

// onRequest hangs the link before the request goes on, so that its reply cannot slip through. Requests
// always go on.
func (p *SwallowProxy) onRequest(l *link, request []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.left != 0 && bytes.Contains(request, p.needle) {
		l.hung = true
		p.left--
		p.lost++
	}
	return true
}

func (p *SwallowProxy) onReply(l *link, _ []byte) bool {
	p.mu.Lock()
	delay := p.delay
	p.mu.Unlock()
	time.Sleep(delay)
	p.mu.Lock()
	defer p.mu.Unlock()
	return !l.hung
}

// pass copies until either end closes, and then closes both; what passes says no to is dropped.
func (l *link) pass(from, to net.Conn, passes func(*link, []byte) bool) {
	defer l.close()
	chunk := make([]byte, 64<<10)
	for {
		n, err := from.Read(chunk)
		if n > 0 && passes(l, chunk[:n]) {
			if _, err := to.Write(chunk[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (l *link) close() {
	_ = l.client.Close()
	_ = l.server.Close()
}

// reset closes with an RST instead of an orderly end.
func reset(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}
