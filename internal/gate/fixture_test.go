package gate_test

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"redrain/internal/api"
	"redrain/internal/game"
	"redrain/internal/gate"
	"redrain/internal/grab"
	"redrain/internal/live"
	"redrain/internal/rdb"
	"redrain/internal/testkit"
	"redrain/internal/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const room = "PARTY8"

var errNotYet = errors.New("not yet")

// fixture is what all instances of a test share: one Redis, the books, and what signs sessions.
type fixture struct {
	t        *testing.T
	url      string
	redis    *rdb.Client
	books    *testkit.Books
	sessions *api.Sessions
}

func newSite(t *testing.T) *fixture {
	t.Helper()
	return newSiteOn(t, "redis://"+testkit.Miniredis(t).Addr())
}

func newSiteOn(t *testing.T, url string) *fixture {
	t.Helper()
	sessions, err := api.NewSessions([]byte("0123456789abcdef0123456789abcdef"), "rain in may", time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return &fixture{t: t, url: url, redis: dial(t, url), books: testkit.NewBooks(room), sessions: sessions}
}

func dial(t *testing.T, url string) *rdb.Client {
	t.Helper()
	client, err := rdb.Dial(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Disconnect() })
	return client
}

// instance is one whole server: the HTTP API with the gate in it, and everything live below it.
type instance struct {
	site      *fixture
	url       string
	gate      *gate.Gate
	rooms     *live.Rooms
	committer *grab.Committer
}

// instance starts one more server; change adjusts the gate's limits.
func (s *fixture) instance(change ...func(*gate.Options)) *instance {
	s.t.Helper()
	redis := dial(s.t, s.url)
	i := &instance{site: s}
	i.committer = grab.New(redis, grab.Options{Grabbed: func(room, round string, grabbed game.Grabbed) {
		i.rooms.RecordBatch(room, round, grabbed)
	}})
	subscription := redis.Subscribe(context.Background(), slog.New(slog.DiscardHandler), func(event game.Event) { i.rooms.HandleEvent(event) })
	i.rooms = live.New(live.Options{
		Books: s.books, Pool: redis, Subscription: subscription, Clock: redis.Clock(), Committer: i.committer, TapsPerSecond: 1000, TapBurst: 1000,
	})
	options := gate.Options{
		Rooms: i.rooms, Players: s.books, Sessions: s.sessions, Origins: api.Origins{Allowed: []string{"https://partner.example"}},
		HostCookie: api.HostCookie, PlayerCookie: api.PlayerCookie, Clock: redis,
	}
	for _, do := range change {
		do(&options)
	}
	i.gate = gate.New(options)
	server := s.serve(i.gate)
	i.url = server.URL
	s.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		server.Close()
		for _, stop := range []func() error{
			func() error { return i.committer.Close(ctx) },
			func() error { return i.gate.Close(ctx) },
			func() error { i.rooms.Close(); return subscription.Close() },
		} {
			if err := stop(); err != nil {
				s.t.Errorf("stop an instance: %v", err)
			}
		}
	})
	return i
}

// These stand for parts of the API that are there and that nobody asks here.
type (
	rounds    interface{ api.Rounds }
	money     interface{ api.Money }
	roomAdmin interface{ api.RoomAdmin }
)

// serve puts the gate behind the product's own HTTP server. Its sockets have small buffers, so that a client that stops
// reading is noticed after kilobytes, not megabytes.
func (s *fixture) serve(door http.Handler) *httptest.Server {
	s.t.Helper()
	web, err := api.New(api.Options{
		Rounds: struct{ rounds }{}, Money: struct{ money }{}, RoomAdmin: struct{ roomAdmin }{},
		Sessions: s.sessions, Gate: door, Pages: pages(),
		Metrics: prometheus.NewRegistry(), Logger: slog.New(slog.DiscardHandler), Now: time.Now,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(nil)
	server.Config = api.NewHTTPServer(web, slog.New(slog.DiscardHandler))
	server.Listener = smallBuffers{server.Listener}
	server.Start()
	return server
}

func pages() fs.FS {
	page := &fstest.MapFile{Data: []byte("<!doctype html><title>rain</title>" + strings.Repeat("<p>rain</p>", 50))}
	return fstest.MapFS{"join/index.html": page, "player/index.html": page, "host/index.html": page, "screen/index.html": page}
}

type smallBuffers struct{ net.Listener }

func (l smallBuffers) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if tcp, ok := conn.(*net.TCPConn); ok {
		err = tcp.SetWriteBuffer(64 << 10)
	}
	return conn, err
}

// as is a visit of a player who has just joined.
func (i *instance) as(nickname string) testkit.Visit {
	return i.visit(i.site.books.Join(room, nickname))
}

// visit is another visit of a player.
func (i *instance) visit(player game.Player) testkit.Visit {
	i.site.t.Helper()
	token, err := i.site.sessions.NewPlayerToken(player.Room, player.ID)
	if err != nil {
		i.site.t.Fatal(err)
	}
	return testkit.Visit{URL: i.url, Room: player.Room, Role: wire.RolePlayer, Token: token}
}

func (i *instance) screen() testkit.Visit {
	return testkit.Visit{URL: i.url, Room: room, Role: wire.RoleScreen}
}

func (i *instance) host() testkit.Visit {
	i.site.t.Helper()
	token, err := i.site.sessions.NewHostToken()
	if err != nil {
		i.site.t.Fatal(err)
	}
	return testkit.Visit{URL: i.url, Room: room, Role: wire.RoleHost, Token: token}
}

// rain opens a round that has begun: 100 packets in a burst, 40 drops a second without bombs, two claims a player.
func (s *fixture) rain(change ...func(*game.Settings)) game.Round {
	s.t.Helper()
	settings := game.DefaultSettings()
	settings.Total, settings.Packets, settings.Pace, settings.Cap = 10_000, 100, game.PaceBurst, 2
	settings.Countdown, settings.DropsPerSecond, settings.BombPercent = 0, 40, 0
	for _, do := range change {
		do(&settings)
	}
	round := game.Round{
		ID: uuid.NewString(), Room: room, Settings: settings, Phase: game.Raining, Secret: game.NewSecret(), CreatedAt: time.Now(),
	}
	round.Algorithm, round.Commitment = game.Algorithm, game.Commitment(game.Algorithm, round, round.Secret)
	s.books.Keep(round) // before Redis tells of it
	standing, err := s.redis.Open(s.t.Context(), round, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	round.StartsAt, round.EndsAt = standing.StartsAt, standing.EndsAt
	s.books.Keep(round)
	return round
}

// drops waits for at least n drops of a round to fall as a client sees it, by the server's clock, and returns them.
func drops(t *testing.T, c *testkit.Client, round game.Round, n int) []wire.Drop {
	t.Helper()
	var falling []wire.Drop
	testkit.Eventually(t, 10*time.Second, func() error {
		now := c.Ping(1).Now
		falling = falling[:0]
		seen := append([]wire.Drops{{Round: round.ID, Drops: c.Welcome.Drops}}, testkit.All[wire.Drops](c)...)
		for _, sent := range seen {
			for _, drop := range sent.Drops {
				if sent.Round == round.ID && round.StartsAt+game.Moment(drop.AtMS) <= now {
					falling = append(falling, drop)
				}
			}
		}
		if len(falling) < n {
			return errNotYet
		}
		return nil
	})
	return falling
}
