package api

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// pipeListener is a listener without a network, so that its deadlines follow the fake time of synctest.
type pipeListener chan net.Conn

func (p pipeListener) Accept() (net.Conn, error) {
	conn, open := <-p
	if !open {
		return nil, net.ErrClosed
	}
	return conn, nil
}

func (p pipeListener) Close() error   { return nil }
func (p pipeListener) Addr() net.Addr { return &net.TCPAddr{} }

// serveWithFakeTime runs a server over pipes in a synctest bubble, and passes the client's end of one connection to the test.
func serveWithFakeTime(t *testing.T, handler http.HandlerFunc, test func(client net.Conn)) {
	synctest.Test(t, func(t *testing.T) {
		server, listener := NewHTTPServer(handler, slog.New(slog.DiscardHandler)), make(pipeListener)
		served := make(chan error)
		go func() { served <- server.Serve(listener) }()
		client, accepted := net.Pipe()
		listener <- accepted
		test(client)
		client.Close()
		close(listener)
		if err := <-served; !errors.Is(err, net.ErrClosed) {
			t.Errorf("the server ended with %v", err)
		}
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestSlowHeadersTimeOut(t *testing.T) {
	serveWithFakeTime(t, func(http.ResponseWriter, *http.Request) { t.Error("half a request was served") }, func(client net.Conn) {
		began := time.Now()
		fmt.Fprint(client, "GET / HTTP/1.1\r\nHost: x\r\n")
		_, err := io.ReadAll(client)
		if lasted := time.Since(began); err != nil || lasted > 6*time.Second {
			t.Errorf("half a header was waited for %v, %v", lasted, err)
		}
	})
}

func TestUpgradedConnectionsHaveNoTimeout(t *testing.T) {
	echo := func(w http.ResponseWriter, _ *http.Request) {
		conn, buffered, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = io.Copy(conn, buffered)
	}
	serveWithFakeTime(t, echo, func(client net.Conn) {
		fmt.Fprint(client, "GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
		synctest.Wait()
		time.Sleep(time.Hour) // the bubble's clock
		go fmt.Fprint(client, "still here\n")
		if line, err := bufio.NewReader(client).ReadString('\n'); err != nil || line != "still here\n" {
			t.Errorf("after an hour: got %q, %v", line, err)
		}
	})
}
