package gate_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"redrain/internal/api"
	"redrain/internal/game"
	"redrain/internal/gate"
	"redrain/internal/grab"
	"redrain/internal/live"
	"redrain/internal/testkit"
)

// BenchmarkTap is what one tap costs the gate, the room and the group commit, in time and allocations: 64 clients that
// allocate nothing, over real sockets, and a pool that takes as long as Redis.
func BenchmarkTap(b *testing.B) {
	for _, path := range []struct {
		name string
		drop int
	}{{"asks-the-pool", 1}, {"answered-from-memory", 1 << 19}} {
		b.Run(path.name, func(b *testing.B) {
			pool := newSteadyPool()
			dial, _ := benchGate(b, pool)
			frame := maskedText(fmt.Sprintf(`{"type":"tap","round":"%s","drop":%d}`, pool.round.ID, path.drop))
			const clients = 64
			idle := make(chan *benchClient, clients)
			for range clients {
				idle <- dial()
			}
			b.SetParallelism(clients / runtime.GOMAXPROCS(0))
			b.ReportAllocs()
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				client := <-idle
				for pb.Next() {
					if err := client.tap(frame); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}

// steadyPool is a round in which everything is claimed by somebody else, so that every tap is capped.
type steadyPool struct {
	round game.Round
}

func newSteadyPool() *steadyPool {
	settings := game.DefaultSettings()
	settings.Total, settings.Packets, settings.Pace, settings.BombPercent = 10_000, 100, game.PaceBurst, 0
	settings.Duration = game.MaxDuration
	now := game.Moment(time.Now().UnixMilli())
	return &steadyPool{round: game.Round{
		ID: uuid.NewString(), Room: room, Settings: settings, Phase: game.Raining, Secret: game.NewSecret(),
		StartsAt: now - 10_000, EndsAt: now + game.Moment(game.MaxDuration),
	}}
}

func (p *steadyPool) Grab(_ context.Context, _, _, _ string, taps []game.Tap) (game.Grabbed, error) {
	time.Sleep(100 * time.Microsecond) // about what Redis takes for a batch, so that batches form
	answers := make([]game.Answer, len(taps))
	for i := range answers {
		answers[i].Outcome = game.Capped
	}
	return game.Grabbed{Left: game.Total{Packets: 50, Cents: 5000}, Answers: answers}, nil
}

func (p *steadyPool) NewBatch() string { return "" }

func (p *steadyPool) GrantedIn(context.Context, string, int) (batch string, first, last int, err error) {
	return "", 0, 0, game.ErrNotFound
}

func (p *steadyPool) Snapshot(context.Context, string, int, int) (game.Standing, error) {
	return game.Standing{
		Round: p.round.ID, Phase: game.Raining, StartsAt: p.round.StartsAt, EndsAt: p.round.EndsAt,
		Now: game.Moment(time.Now().UnixMilli()), Left: game.Total{Packets: 50, Cents: 5000},
	}, nil
}

func (p *steadyPool) ClaimsOf(context.Context, string, ...string) (map[string][]game.Claim, error) {
	return nil, nil
}

func (p *steadyPool) Report(context.Context, string, game.Report, time.Duration) (game.Reports, error) {
	return game.Reports{}, nil
}
func (p *steadyPool) Sweep(context.Context, string, string) (game.Swept, error) {
	return game.Swept{Cursor: "0"}, nil
}
func (p *steadyPool) PublishTally(context.Context, string, []byte) error { return nil }
func (p *steadyPool) SubscribeRoom(context.Context, string) error        { return nil }
func (p *steadyPool) UnsubscribeRoom(context.Context, string) error      { return nil }
func (p *steadyPool) Now() game.Moment                                   { return game.Moment(time.Now().UnixMilli()) }
func (p *steadyPool) Spread() int64                                      { return 1 }

// benchGate starts a gate over a pool and returns what dials it: each connection is a player's, who has heard the welcome.
func benchGate(b *testing.B, pool *steadyPool) (func() *benchClient, *live.Rooms) {
	books := testkit.NewBooks(room)
	books.Keep(pool.round)
	sessions, err := api.NewSessions([]byte("0123456789abcdef0123456789abcdef"), "rain in may", time.Now)
	if err != nil {
		b.Fatal(err)
	}
	answered := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "x_seconds", Buckets: prometheus.ExponentialBuckets(.0001, 2, 14), NativeHistogramBucketFactor: 1.1,
	}, []string{"answered_by"})
	committer := grab.New(pool, grab.Options{Answered: answered.WithLabelValues("script")})
	rooms := live.New(live.Options{
		Books: books, Pool: pool, Subscription: pool, Clock: pool, Committer: committer, TapsPerSecond: 1e9, TapBurst: 1e9,
	})
	door := gate.New(gate.Options{
		Rooms: rooms, Players: books, Sessions: sessions, Origins: api.Origins{}, HostCookie: api.HostCookie,
		PlayerCookie: api.PlayerCookie, Clock: pool, FramesPerSecond: 1e9,
		Answered: answered.WithLabelValues("memory"),
	})
	server := httptest.NewServer(door)
	var conns []net.Conn
	b.Cleanup(func() {
		for _, conn := range conns {
			_ = conn.Close()
		}
		server.Close()
		_ = committer.Close(context.Background())
		_ = door.Close(context.Background())
		rooms.Close()
	})
	return func() *benchClient {
		player := books.Join(room, "小明")
		token, err := sessions.NewPlayerToken(room, player.ID)
		if err != nil {
			b.Fatal(err)
		}
		client := upgraded(b, strings.TrimPrefix(server.URL, "http://"), token)
		conns = append(conns, client.conn)
		return client
	}, rooms
}

// benchClient is a connection whose client allocates nothing.
type benchClient struct {
	conn   net.Conn
	reader *bufio.Reader
}

// upgraded is a connection that was upgraded and has heard the welcome.
func upgraded(b *testing.B, address, token string) *benchClient {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		b.Fatal(err)
	}
	_, _ = fmt.Fprintf(conn, "GET /ws?room=%s&role=player&token=%s HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n", room, token)
	reader := bufio.NewReaderSize(conn, 8<<10)
	response, err := http.ReadResponse(reader, nil)
	if err != nil || response.StatusCode != http.StatusSwitchingProtocols {
		b.Fatalf("not upgraded: %v %v", response, err)
	}
	return &benchClient{conn, reader}
}

// tap taps and reads up to the result.
func (c *benchClient) tap(frame []byte) error {
	if _, err := c.conn.Write(frame); err != nil {
		return err
	}
	for {
		text, err := c.read()
		if err != nil || bytes.HasPrefix(text, []byte(`{"type":"result"`)) {
			return err
		}
	}
}

// read returns the payload of the next frame, until the next read.
func (c *benchClient) read() ([]byte, error) {
	head, err := c.reader.Peek(2)
	if err != nil {
		return nil, err
	}
	size, header := int(head[1]), 2
	if size == 126 {
		if head, err = c.reader.Peek(4); err != nil {
			return nil, err
		}
		size, header = int(binary.BigEndian.Uint16(head[2:])), 4
	}
	frame, err := c.reader.Peek(header + size)
	if err != nil {
		return nil, err
	}
	_, err = c.reader.Discard(len(frame))
	return frame[header:], err
}

// maskedText frames a short text as a client must; the mask is zero.
func maskedText(text string) []byte {
	return append([]byte{fin | opText, 0x80 | byte(len(text)), 0, 0, 0, 0}, text...)
}
