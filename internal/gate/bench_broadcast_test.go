package gate_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"

	"redrain/internal/game"
)

const shouts = 15 // messages to all connections in one run

// crowd is how many connections there are: 10,000, or as many as this process may open both ends of.
var crowd = func() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 1000
	}
	return min(10_000, int(limit.Cur)/2-250)
}()

// BenchmarkBroadcast takes 200 bytes to thousands of connections, and measures until the last client has them; beside it the plain
// way of doing so with the same library: two goroutines for each connection, one of which waits at a channel.
func BenchmarkBroadcast(b *testing.B) {
	text := []byte(`{"type":"notice","code":"bench","text":"` + strings.Repeat("x", 200-43) + `"}`)
	for b.Loop() {
		ours := broadcasts(b, text, func(b *testing.B) (func() *benchClient, func([]byte)) {
			pool := newSteadyPool()
			dial, rooms := benchGate(b, pool)
			return dial, func(text []byte) { rooms.HandleEvent(game.Event{Room: room, Notice: text}) }
		})
		plain := broadcasts(b, text, plainHub)
		b.ReportMetric(float64(crowd), "connections")
		b.ReportMetric(float64(ours.Microseconds())/1000, "gate-ms")
		b.ReportMetric(float64(plain.Microseconds())/1000, "plain-ms")
		b.ReportMetric(float64(ours)/float64(plain), "gate/plain")
	}
	b.ReportMetric(0, "ns/op") // says nothing here
}

// broadcasts is the median time from a message's start to its arrival at the last client.
func broadcasts(b *testing.B, text []byte, start func(*testing.B) (func() *benchClient, func([]byte))) time.Duration {
	var times []time.Duration
	dial, shout := start(b)
	var missing atomic.Int64
	all := make(chan struct{})
	var reading sync.WaitGroup
	clients := make([]*benchClient, crowd)
	for i := range clients {
		clients[i] = dial()
		reading.Go(func() {
			for {
				got, err := clients[i].read()
				if err != nil {
					return
				}
				if len(got) == len(text) && missing.Add(-1) == 0 {
					all <- struct{}{}
				}
			}
		})
	}
	for range shouts {
		time.Sleep(100 * time.Millisecond) // until the last one's bustle is over
		missing.Store(int64(crowd))
		began := time.Now()
		shout(text)
		<-all
		times = append(times, time.Since(began))
	}
	for _, client := range clients {
		_ = client.conn.Close()
	}
	reading.Wait()
	slices.Sort(times)
	return times[len(times)/2]
}

// plainHub is a server as the library's chat example has it, without limits or deadlines.
func plainHub(b *testing.B) (func() *benchClient, func([]byte)) {
	var mu sync.Mutex
	var members []chan []byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{CompressionMode: websocket.CompressionDisabled})
		if err != nil {
			return
		}
		defer func() { _ = ws.CloseNow() }()
		messages := make(chan []byte, 16)
		mu.Lock()
		members = append(members, messages)
		mu.Unlock()
		ctx := ws.CloseRead(context.Background()) // the other goroutine
		for {
			select {
			case text := <-messages:
				if err := ws.Write(ctx, websocket.MessageText, text); err != nil {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}))
	b.Cleanup(server.Close)
	dial := func() *benchClient { return upgraded(b, strings.TrimPrefix(server.URL, "http://"), "") }
	return dial, func(text []byte) {
		mu.Lock()
		defer mu.Unlock()
		for _, messages := range members {
			messages <- text
		}
	}
}
