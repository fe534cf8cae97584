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
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"redrain/internal/api"
	"redrain/internal/bots"
	"redrain/internal/game"
	"redrain/internal/gate"
	"redrain/internal/grab"
	"redrain/internal/ledger"
	"redrain/internal/live"
	"redrain/internal/payout"
	"redrain/internal/probe"
	"redrain/internal/rdb"
	"redrain/internal/rounds"
	"redrain/internal/settle"
	"redrain/web"
)

// app is one running instance of the server.
type app struct {
	config *serveCommand
	log    *slog.Logger

	books          *ledger.Ledger
	embedded       *rdb.Embedded // nil with an external Redis
	unlockDatabase func() error  // releases the exclusive lock on the database, which an instance with an embedded Redis holds
	redis          *rdb.Client
	rounds         *rounds.Service
	committer      *grab.Committer
	settler        *settle.Settler // runs unless NO_SETTLE is set
	lossDetector   *settle.LossDetector
	payouts        *payout.Sender // nil if payouts are not configured, or other instances send them
	rooms          *live.Rooms
	subscription   *rdb.Subscription
	probes         []*probe.Probe // of what this instance needs to be ready
	gate           *gate.Gate
	instruments    *instruments
	sessions       *api.Sessions
	// rehearsals connect to this instance by HTTP, like players.
	rehearsals   *bots.Rehearsals
	web          *api.Server
	http         *http.Server
	debug        *http.Server // nil unless DEBUG_ADDR is set
	operators    *http.Server // nil unless METRICS_ADDR is set
	address      net.Addr
	requestsDone chan error // while stopping: the result of waiting for active requests

	serving          sync.WaitGroup // the HTTP server, and the keepers of rounds
	settling         sync.WaitGroup
	paying           sync.WaitGroup
	stopKeeping      context.CancelFunc
	stopSettling     context.CancelFunc
	stopPayouts      context.CancelFunc
	fatal            chan error  // why the instance must stop: the HTTP server failed, or the exclusive lock on the database was lost
	lostDatabaseLock atomic.Bool // the lock was lost
}

// start starts an instance: ledger, Redis, payouts, rounds and rooms, and the HTTP server last, so that no request arrives before
// everything else is ready. If a step fails, all that was started is stopped again.
func start(ctx context.Context, config *serveCommand, log *slog.Logger) (_ *app, err error) {
	if err := config.check(); err != nil {
		return nil, err
	}
	a := &app{config: config, log: log, instruments: newInstruments(), fatal: make(chan error, 2)}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.stop(context.WithoutCancel(ctx)))
		}
	}()
	for _, step := range []func(context.Context) error{a.openLedger, a.openRedis, a.openPayouts, a.openSessions, a.openRooms, a.openHTTP} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return a, nil
}

func (a *app) openLedger(ctx context.Context) (err error) {
	a.books, err = a.config.openLedger(ctx, a.log, a.config.ledgerOptions()...)
	return err
}

func (a *app) openRedis(ctx context.Context) (err error) {
	address := a.config.RedisURL
	if address == "" {
		if err := a.lockDatabaseExclusively(ctx); err != nil {
			return err
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

// lockDatabaseExclusively keeps other instances with an embedded Redis from using the database. If the lock is lost, this instance
// stops.
func (a *app) lockDatabaseExclusively(ctx context.Context) (err error) {
	a.unlockDatabase, err = a.books.LockExclusively(ctx, func(why error) {
		a.lostDatabaseLock.Store(true)
		a.log.Error("stopping: an instance with an embedded Redis must be alone on its database", "error", why)
		a.fatal <- fmt.Errorf("stopped, wins that are not in the books yet are lost with the embedded Redis: %w", why)
	})
	if errors.Is(err, game.ErrBusy) {
		return fmt.Errorf("another instance uses this database with an embedded Redis of its own, set REDIS_URL for both: %w", err)
	}
	return err
}

// openRooms starts the services of rounds, the group commit of taps, the subscription to Redis, and the rooms.
func (a *app) openRooms(context.Context) error {
	a.rounds = rounds.New(a.books, a.redis, rounds.Options{Embedded: a.embedded != nil, Log: a.log})
	a.openSettler()
	a.committer = grab.New(a.redis, grab.Options{Batch: a.config.GrabBatch, Senders: a.config.GrabSenders, Log: a.log, Answered: a.instruments.tapSeconds.WithLabelValues(byScript), Grabbed: func(room, round string, grabbed game.Grabbed) {
		a.rooms.RecordBatch(room, round, grabbed)
		a.recordGrants(room, round, grabbed)
	}})
	a.subscription = a.redis.Subscribe(context.Background(), a.log, a.handleEvent)
	a.rooms = live.New(live.Options{
		Books: a.books, Pool: a.redis, Subscription: a.subscription, Clock: a.redis.Clock(), Committer: a.committer, SoldOut: a.rounds.SoldOut, Blocked: a.books.Blocked,
		TapsPerSecond: rate.Limit(a.config.TapsPerSecond), TapBurst: 2 * a.config.TapsPerSecond, Log: a.log, LeaseChanges: a.instruments.leaseChanges,
	})
	keeping, end := context.WithCancel(context.Background())
	a.stopKeeping = end
	a.serving.Go(func() { a.rounds.Keep(keeping) })
	a.serving.Go(func() { a.sessions.Keep(keeping, a.log) })
	a.startProbes(keeping)
	a.serving.Go(func() { a.lossDetector.Run(keeping, nil) })
	return nil
}

// openHTTP starts the HTTP server, with the API, the pages and the WebSocket gate.
func (a *app) openHTTP(ctx context.Context) error {
	a.openRehearsals()
	if err := a.openDebug(ctx); err != nil {
		return err
	}
	proxies, err := a.config.proxies()
	if err != nil {
		return err
	}
	origins := api.Origins{Public: a.config.PublicURL, Allowed: a.config.AllowedOrigins}
	connections := api.NewConnections(maxOpenFiles(), proxies, a.log)
	guesses := api.NewRoomGuesses(proxies, a.config.clock())
	a.gate = gate.New(gate.Options{
		Rooms: a.rooms, Players: a.books, Sessions: a.sessions, Origins: origins, HostCookie: api.HostCookie,
		PlayerCookie: api.PlayerCookie, Clock: a.redis, FramesPerSecond: rate.Limit(max(50, 4*a.config.TapsPerSecond)), Log: a.log,
		Bounds: a.config.socketBounds(), Network: api.Proxies(proxies).ClientNetwork(), Scarce: connections.Scarce, RoomGuessed: guesses.Wait,
		Answered: a.instruments.tapSeconds.WithLabelValues(byMemory),
	})
	connections.Upgraded = a.gate.Connections
	durable, warnings := a.durabilityChecks()
	a.web, err = api.New(api.Options{
		Rooms: a.books, Rounds: roundsAndBooks{a.rounds, a.books}, Claims: claimsReader{a.redis, a.books}, Money: moneyService{a.settler, a.books}, Exports: a.books, Payouts: a.books, Results: a.books, Tallies: a.rooms,
		RoomAdmin: a.books, Guests: a.books, Publisher: a.redis, Rehearsals: a.rehearsals, PlayerSecret: []byte(a.config.PlayerSecret),
		Sessions: a.sessions, Gate: a.gate, Pages: web.Files, PublicURL: a.config.PublicURL, LANHosts: func() []string { return lanHosts(a.address) }, Origins: origins,
		RoomGuesses: guesses, JoinsPerHour: a.config.JoinsPerAddress, PlayersPerRoom: a.config.PlayersPerRoom,
		Proxies: proxies, Checks: append(a.checks(), durable...), Warnings: warnings,
		SettleLag: a.settleLag(), Unavailable: unavailable, Metrics: a.metrics(), OperatorListener: a.config.MetricsAddr != "", Logger: a.log, Now: a.config.clock(),
	})
	if err != nil {
		return err
	}
	if err := a.openOperators(ctx); err != nil {
		return err
	}
	listening, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(a.config.Host, strconv.Itoa(a.config.Port)))
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	a.address = listening.Addr()
	a.http = api.NewHTTPServer(a.web, a.log)
	connections.Watch(a.http)
	a.serving.Go(func() {
		if err := a.http.Serve(api.LogAcceptErrors(listening, a.log)); !errors.Is(err, http.ErrServerClosed) {
			a.fatal <- fmt.Errorf("serve: %w", err)
		}
	})
	return nil
}

// roundsAndBooks implements api.Rounds: the service changes rounds, the ledger reads them.
type roundsAndBooks struct {
	*rounds.Service
	*ledger.Ledger
}

// readSettingTimeout bounds what is read about sessions at the start.
const readSettingTimeout = 10 * time.Second

// openSessions makes the sessions, signed with SESSION_SECRET or with a secret that all instances share in the database. Hosts' sessions
// end on all instances.
func (a *app) openSessions(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, readSettingTimeout)
	defer cancel()
	secret := a.config.SessionSecret
	if secret == "" {
		if secret, err = a.books.Setting(ctx, "session_secret", rand.Text()+rand.Text()); err != nil {
			return fmt.Errorf("read the session secret: %w", err)
		}
	}
	if a.sessions, err = api.NewSessions([]byte(secret), a.config.HostPassword, a.config.clock()); err != nil {
		return err
	}
	if err := a.sessions.Share(ctx, a.books); err != nil {
		return fmt.Errorf("share the hosts' sessions: %w", err)
	}
	return nil
}

func (a *app) port() int {
	if tcp, ok := a.address.(*net.TCPAddr); ok {
		return tcp.Port
	}
	return 0
}
