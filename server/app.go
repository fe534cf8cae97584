package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"golang.org/x/time/rate"

	"redrain/internal/api"
	"redrain/internal/bots"
	"redrain/internal/game"
	"redrain/internal/gate"
	"redrain/internal/grab"
	"redrain/internal/ledger"
	"redrain/internal/live"
	"redrain/internal/payout"
	"redrain/internal/rdb"
	"redrain/internal/rounds"
	"redrain/internal/settle"
	"redrain/web"
)

// app is one running instance.
type app struct {
	config *serveCommand
	log    *slog.Logger

	books     *ledger.Ledger
	embedded  *rdb.Embedded // nil with a Redis of its own
	leave     func() error  // gives the database up that an embedded Redis needs for itself
	redis     *rdb.Client
	rounds    *rounds.Service
	committer *grab.Committer
	settler   *settle.Settler // works unless others settle
	witness   *settle.Witness // of what Redis may forget
	payouts   *payout.Sender  // nil where nothing is paid out, or by others
	rooms     *live.Rooms
	ear       *rdb.Subscription
	gate      *gate.Gate
	sessions  *api.Sessions
	// rehearsals come and go by this instance's own door.
	rehearsals *bots.Rehearsals
	http       *http.Server
	debug      *http.Server // nil unless wanted
	address    net.Addr

	background  sync.WaitGroup
	endKeeping  context.CancelFunc
	endSettling context.CancelFunc
	endPayouts  context.CancelFunc
	failed      chan error // the web server ended by itself
}

// start brings an instance up from the ground: books, Redis, what moves rounds, what is live, and the doors last, so that
// nobody comes in before everything stands. What was started is stopped again when a later step fails.
func start(ctx context.Context, config *serveCommand, log *slog.Logger) (_ *app, err error) {
	if err := config.check(); err != nil {
		return nil, err
	}
	a := &app{config: config, log: log, failed: make(chan error, 1)}
	defer func() {
		if err != nil {
			stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopWithin)
			defer cancel()
			err = errors.Join(err, a.stop(stopping))
		}
	}()
	for _, step := range []func(context.Context) error{a.openBooks, a.openRedis, a.openPayouts, a.openRooms, a.openDoors} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return a, nil
}

func (a *app) openBooks(ctx context.Context) (err error) {
	a.books, err = a.config.openLedger(ctx, a.config.ledgerOptions()...)
	return err
}

func (a *app) openRedis(ctx context.Context) (err error) {
	address := a.config.RedisURL
	if address == "" {
		if a.leave, err = a.books.Alone(ctx); err != nil {
			return fmt.Errorf("another instance uses this database with an embedded Redis of its own, set REDIS_URL for both: %w", err)
		}
		if a.embedded, err = rdb.StartEmbedded(); err != nil {
			return err
		}
		address = a.embedded.URL()
	}
	rdb.LogDriver(a.log)
	if a.redis, err = rdb.Dial(ctx, address); err != nil {
		return fmt.Errorf("REDIS_URL: %w", err)
	}
	if a.embedded != nil {
		return nil
	}
	return a.config.checkDurable(ctx, a.redis, a.log)
}

// openRooms puts together what plays: rounds, group commit and the rooms that hear from Redis.
func (a *app) openRooms(context.Context) error {
	a.rounds = rounds.New(a.books, a.redis, rounds.Options{Embedded: a.embedded != nil, Log: a.log})
	a.openSettler()
	a.committer = grab.New(a.redis, grab.Options{Batch: a.config.GrabBatch, Senders: a.config.GrabSenders, Log: a.log, Grabbed: func(room, round string, grabbed game.Grabbed) {
		a.rooms.Grabbed(room, round, grabbed)
		a.sawGranted(room, round, grabbed)
	}})
	a.ear = a.redis.Subscribe(context.Background(), a.log, a.hear)
	a.rooms = live.New(live.Options{
		Books: a.books, Pool: a.redis, Ear: a.ear, Clock: a.redis.Clock(), Committer: a.committer, SoldOut: a.rounds.SoldOut, Blocked: a.books.Blocked,
		TapsPerSecond: rate.Limit(a.config.TapsPerSecond), TapBurst: 2 * a.config.TapsPerSecond, Log: a.log,
	})
	keeping, end := context.WithCancel(context.Background())
	a.endKeeping = end
	a.background.Go(func() { a.rounds.Keep(keeping) })
	a.background.Go(func() { a.redis.KeepProbing(keeping, a.log) })
	a.background.Go(func() { a.witness.Run(keeping, nil) })
	return nil
}

// openDoors lets people in.
func (a *app) openDoors(ctx context.Context) error {
	var err error
	if a.sessions, err = a.openSessions(ctx); err != nil {
		return err
	}
	a.openRehearsals()
	if err := a.openDebug(ctx); err != nil {
		return err
	}
	proxies, err := a.config.proxies()
	if err != nil {
		return err
	}
	origins := api.Origins{Public: a.config.PublicURL, Allowed: a.config.AllowedOrigins}
	a.gate = gate.New(gate.Options{
		Rooms: a.rooms, Players: a.books, Sessions: a.sessions, Origins: origins, HostCookie: api.HostCookie,
		PlayerCookie: api.PlayerCookie, Clock: a.redis, FramesPerSecond: rate.Limit(max(50, 4*a.config.TapsPerSecond)), Log: a.log,
	})
	durable, warnings := a.durabilityChecks()
	web, err := api.New(api.Options{
		Rooms: a.books, Rounds: roundsAndBooks{a.rounds, a.books}, Claims: granted{a.redis, a.books}, Money: money{a.settler, a.books}, Exports: a.books, Payouts: a.books, Results: a.books, Tallies: a.rooms,
		Desk: a.books, Guests: a.books, Speaker: a.redis, Rehearsals: a.rehearsals, PlayerSecret: []byte(a.config.PlayerSecret),
		Sessions: a.sessions, Gate: a.gate, Pages: web.Files, Password: a.config.HostPassword, PublicURL: a.config.PublicURL, Origins: origins,
		Proxies: proxies, Checks: append(a.checks(), durable...), Warnings: warnings,
		SettleLag: a.settleLag(), Metrics: a.metrics(), Logger: a.log, Now: time.Now,
	})
	if err != nil {
		return err
	}
	a.http = api.NewHTTPServer(web, a.log)
	listening, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(a.config.Host, strconv.Itoa(a.config.Port)))
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	a.address = listening.Addr()
	a.background.Go(func() {
		if err := a.http.Serve(listening); !errors.Is(err, http.ErrServerClosed) {
			a.failed <- fmt.Errorf("serve: %w", err)
		}
	})
	return nil
}

// checks are what this instance needs to play. Redis is proven in the background, however often anybody asks.
func (a *app) checks() []api.Check {
	return []api.Check{
		{Name: "redis", Ask: a.redis.CheckReady, Took: a.redis.ProbeTook},
		{Name: "redis pub/sub", Ask: a.ear.Check, Took: a.ear.EchoTook},
		{Name: "database", Ask: a.books.Ping},
	}
}

// roundsAndBooks joins what moves rounds with where they are read.
type roundsAndBooks struct {
	*rounds.Service
	*ledger.Ledger
}

// openSessions signs with the configured secret, or with one that all instances share through the database.
func (a *app) openSessions(ctx context.Context) (*api.Sessions, error) {
	secret := a.config.SessionSecret
	if secret == "" {
		made, err := a.books.Setting(ctx, "session_secret", rand.Text()+rand.Text())
		if err != nil {
			return nil, fmt.Errorf("read the session secret: %w", err)
		}
		secret = made
	}
	return api.NewSessions([]byte(secret), time.Now)
}

func (a *app) metrics() *prometheus.Registry {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "redrain_connections", Help: "Open WebSocket connections of this instance.",
		}, func() float64 { return float64(a.gate.Connections()) }))
	registry.MustRegister(settleMetrics(a.settler)...)
	if a.payouts != nil {
		registry.MustRegister(payoutMetrics(a.payouts)...)
	}
	return registry
}

func (a *app) port() int {
	if tcp, ok := a.address.(*net.TCPAddr); ok {
		return tcp.Port
	}
	return 0
}

// stop goes from the doors down, so that each part can still use those below it:
//
//  0. bots give up what they rehearse;
//  1. no new requests; requests under way finish;
//  2. taps that wait get their answers, new ones hear busy;
//  3. connections are told to come back later, which the answers reach before;
//  4. rooms give their leases back, and rounds are left to the other instances' keepers, or to the next start;
//  5. what the embedded Redis holds is closed and settled, for it ends with this process; settling ends, and payouts, of
//     which those under way are waited for;
//  6. Redis and the books close last.
func (a *app) stop(ctx context.Context) error {
	var errs []error
	if a.rehearsals != nil {
		a.rehearsals.Close()
	}
	if a.http != nil {
		errs = append(errs, a.http.Shutdown(ctx))
	}
	if a.debug != nil {
		errs = append(errs, a.debug.Close())
	}
	if a.committer != nil {
		errs = append(errs, a.committer.Close(ctx))
	}
	if a.gate != nil {
		warnAbout(a.log, "wait for all connections to end", a.gate.Close(ctx))
	}
	if a.rooms != nil {
		a.rooms.Close()
		errs = append(errs, a.ear.Close())
		a.endKeeping()
	}
	if a.endSettling != nil {
		errs = append(errs, a.settleEmbedded(ctx))
		a.endSettling()
	}
	if a.endPayouts != nil {
		a.endPayouts()
	}
	a.background.Wait()
	if a.redis != nil {
		errs = append(errs, a.redis.Disconnect())
	}
	if a.embedded != nil {
		a.embedded.Close()
	}
	if a.leave != nil {
		errs = append(errs, a.leave())
	}
	if a.books != nil {
		errs = append(errs, a.books.Close())
	}
	return errors.Join(errs...)
}
