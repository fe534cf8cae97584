package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"net/url"
	"time"
	"unicode/utf8"

	"redrain/internal/gate"
	"redrain/internal/ledger"
	"redrain/internal/rdb"
)

// databaseConfig configures the database, for all commands that need one.
type databaseConfig struct {
	DatabaseURL string `env:"DATABASE_URL" default:"sqlite:redrain.db" placeholder:"URL" help:"Database: sqlite:PATH, postgres:// or mysql://. By default a file in the working directory."`
}

// settleConfig configures settling.
type settleConfig struct {
	KeysRetention  time.Duration `env:"KEYS_RETENTION" default:"24h" placeholder:"TIME" help:"How long Redis keeps a settled round."`
	RequireDurable bool          `name:"require-durable-redis" env:"REQUIRE_DURABLE_REDIS" help:"Do not start, and do not be ready, over a Redis that would lose money: one that evicts keys or keeps no append-only file. Without it that is a warning."`
}

// serveCommand is the configuration of the server; each flag has its environment variable.
type serveCommand struct {
	databaseConfig
	settleConfig
	payoutConfig

	Host              string   `env:"HOST" default:"" placeholder:"ADDRESS" help:"Address to listen on; all by default."`
	Port              int      `env:"PORT" default:"8080" help:"Port to listen on; 0 takes a free one."`
	RedisURL          string   `env:"REDIS_URL" placeholder:"URL" help:"Redis 7 or later: redis://, rediss:// or redis+cluster://. None: the embedded one, for one instance, whose open rounds end with the process."`
	HostPassword      string   `env:"HOST_PASSWORD" placeholder:"TEXT" help:"Password of the control page, of at least 10 characters. None: one is made and printed."`
	SessionSecret     string   `env:"SESSION_SECRET" placeholder:"TEXT" help:"At least 32 bytes that sign sessions. None: one is made and kept in the database."`
	PlayerSecret      string   `name:"player-jwt-secret" env:"PLAYER_JWT_SECRET" placeholder:"TEXT" help:"At least 32 bytes with which your own app signs its players' tokens (HS256). None: players come in by nickname only."`
	PublicURL         string   `env:"PUBLIC_URL" placeholder:"URL" help:"How players reach this site, for QR codes and cookies, like https://rain.example.org. None: as each request did."`
	AllowedOrigins    []string `env:"ALLOWED_ORIGINS" placeholder:"URL" help:"Further web origins whose pages may connect."`
	TrustedProxies    []string `env:"TRUSTED_PROXIES" placeholder:"CIDR" help:"Networks of the proxies in front, whose X-Forwarded-For is believed."`
	TapsPerSecond     int      `env:"TAPS_PER_SECOND" default:"10" help:"Taps that one player may make a second, over all their tabs at each instance; bursts of twice that."`
	SocketsPerAddress int      `env:"SOCKETS_PER_ADDRESS" default:"10000" help:"WebSockets that one network address may have open at each instance; all guests of a hall may share one. 0: no bound."`
	SocketsPerRoom    int      `env:"SOCKETS_PER_ROOM" default:"50000" help:"WebSockets that may be open to one room at each instance. 0: no bound."`
	ScreensPerAddress int      `env:"SCREENS_PER_ADDRESS" default:"50" help:"Of these, big screens of one network address, which anybody can open. 0: no bound."`
	ScreensPerRoom    int      `env:"SCREENS_PER_ROOM" default:"500" help:"Of these, big screens of one room. 0: no bound."`
	JoinsPerAddress   int      `env:"JOINS_PER_ADDRESS" default:"5000" help:"Players that may join from one network address at once, and again within each hour, at each instance. 0: no bound."`
	PlayersPerRoom    int      `env:"PLAYERS_PER_ROOM" default:"20000" help:"Players that one room may have; the host sees how many joined, and can lock the room. 0: no bound."`
	NoSettle          bool     `env:"NO_SETTLE" help:"Leave settling to instances without this, or to server settle; needs REDIS_URL."`
	GrabBatch         int      `env:"GRAB_BATCH" default:"256" hidden:"" help:"Most taps in one script call, 1 to 256; less is for comparison only."`
	GrabSenders       int      `env:"GRAB_SENDERS" default:"2" hidden:"" help:"Script calls of one round under way at once; more is for comparison only."`
	DebugAddr         string   `env:"DEBUG_ADDR" placeholder:"ADDRESS" help:"Serve profiles (pprof) to the host's session on this loopback address. None: do not."`
	MetricsAddr       string   `env:"METRICS_ADDR" placeholder:"ADDRESS" help:"Serve /metrics, and /readyz with reasons, on this address, like 10.0.0.5:9090, and nowhere else. None: to programs on this machine that come without a proxy."`
	LogLevel          string   `env:"LOG_LEVEL" default:"info" enum:"debug,info,warn,error" help:"One of debug, info, warn, error."`

	now func() time.Time // this machine's clock; nil: time.Now
}

func (c *serveCommand) clock() func() time.Time {
	if c.now == nil {
		return time.Now
	}
	return c.now
}

func (c *serveCommand) logger(to *console) *slog.Logger { return newLogger(c.LogLevel, to) }

func newLogger(name string, to *console) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(name)) // the flag takes only names of levels
	return slog.New(slog.NewTextHandler(to.err, &slog.HandlerOptions{Level: level}))
}

// minPassword is the shortest password of the host's page, in characters.
const minPassword = 10

// check validates what the parser of flags cannot.
func (c *serveCommand) check() error {
	switch {
	case c.Port < 0 || c.Port > 65535:
		return fmt.Errorf("PORT must be between 0 and 65535, not %d", c.Port)
	case c.TapsPerSecond < 1 || c.TapsPerSecond > 100_000:
		return fmt.Errorf("TAPS_PER_SECOND must be between 1 and 100000, not %d", c.TapsPerSecond)
	case min(c.SocketsPerAddress, c.SocketsPerRoom, c.ScreensPerAddress, c.ScreensPerRoom, c.JoinsPerAddress, c.PlayersPerRoom) < 0:
		return errors.New("SOCKETS_PER_ADDRESS, SOCKETS_PER_ROOM, SCREENS_PER_ADDRESS, SCREENS_PER_ROOM, JOINS_PER_ADDRESS and PLAYERS_PER_ROOM must be 0 or more")
	case c.NoSettle && c.RedisURL == "":
		return errors.New("NO_SETTLE needs REDIS_URL: nobody else could settle what the embedded Redis holds")
	case c.RequireDurable && c.RedisURL == "":
		return errors.New("REQUIRE_DURABLE_REDIS needs REDIS_URL: the embedded Redis keeps nothing")
	case c.GrabBatch < 1 || c.GrabBatch > rdb.MaxBatch || c.GrabSenders < 1 || c.GrabSenders > 256:
		return errors.New("GRAB_BATCH and GRAB_SENDERS must be between 1 and 256")
	case c.HostPassword != "" && utf8.RuneCountInString(c.HostPassword) < minPassword:
		return fmt.Errorf("HOST_PASSWORD must have at least %d characters: guests can reach the page that asks for it, and guess", minPassword)
	case c.SessionSecret != "" && len(c.SessionSecret) < 32:
		return errors.New("SESSION_SECRET must have at least 32 bytes")
	case c.PlayerSecret != "" && len(c.PlayerSecret) < 32:
		return errors.New("PLAYER_JWT_SECRET must have at least 32 bytes")
	}
	for _, origin := range c.AllowedOrigins {
		if u, err := url.Parse(origin); err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			return fmt.Errorf("ALLOWED_ORIGINS: %q is not like https://example.org", origin)
		}
	}
	_, err := c.proxies()
	return errors.Join(err, c.settleConfig.check())
}

func (c *settleConfig) check() error {
	if c.KeysRetention < time.Minute || c.KeysRetention > 30*24*time.Hour {
		return fmt.Errorf("KEYS_RETENTION must be between 1m and 720h, not %v", c.KeysRetention)
	}
	return nil
}

func (c *serveCommand) proxies() ([]netip.Prefix, error) {
	var networks []netip.Prefix
	for _, text := range c.TrustedProxies {
		network, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, fmt.Errorf("TRUSTED_PROXIES: %q is not a network like 10.0.0.0/8", text)
		}
		networks = append(networks, network)
	}
	return networks, nil
}

// openLedger opens the database and brings its tables up to date.
func (c *databaseConfig) openLedger(ctx context.Context, log *slog.Logger, options ...ledger.Option) (*ledger.Ledger, error) {
	books, err := ledger.Open(ctx, c.DatabaseURL, append(options, ledger.WithLog(log))...)
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	if err := books.Migrate(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("migrate the database: %w", err), books.Close())
	}
	return books, nil
}

type migrateCommand struct{ databaseConfig }

// Run brings the tables up to date; it may be repeated, and run beside other instances.
func (c *migrateCommand) Run(ctx context.Context, to *console) error {
	books, err := c.openLedger(ctx, newLogger("info", to))
	if err != nil {
		return &startError{err}
	}
	return books.Close()
}

// tabsPerPlayer is how many connections one player may have: phones that lost theirs without a word count for half a minute.
const tabsPerPlayer = 20

func (c *serveCommand) socketBounds() gate.Bounds {
	return gate.Bounds{
		PerAddress: c.SocketsPerAddress, PerRoom: c.SocketsPerRoom, PerPlayer: tabsPerPlayer,
		ScreensPerAddress: c.ScreensPerAddress, ScreensPerRoom: c.ScreensPerRoom,
	}
}
