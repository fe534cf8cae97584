package api

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/time/rate"
)

// Options are what the HTTP side is made of. All are needed but PublicURL, PlayerSecret, Origins.Allowed, Proxies, Checks,
// Warnings and SettleLag.
type Options struct {
	Rooms   Rooms
	Rounds  Rounds
	Claims  Claims
	Results Results
	Tallies Tallies
	Desk    Desk
	Guests  Guests
	Speaker Speaker
	// Rehearsals are played by bots through this instance's own door.
	Rehearsals Rehearsals
	Money      Money
	Exports    Exports
	Payouts    Payouts
	Sessions   *Sessions
	// Gate takes /ws, with nothing in between.
	Gate http.Handler
	// Pages are the files of package web.
	Pages fs.FS
	// Password is the hosts' password.
	Password string
	// PlayerSecret is what the host's own app signs players' tokens with; empty: none are taken.
	PlayerSecret []byte
	// PublicURL is how the world reaches this site: a scheme and a host. Empty: as each request did.
	PublicURL string
	Origins   Origins
	Proxies   Proxies
	// Checks are asked in order for /readyz.
	Checks []Check
	// Warnings are asked too, and told, but an instance is ready in spite of them.
	Warnings []Check
	// SettleLag is by how much settling was behind when it last booked something; nil where this instance does not settle.
	SettleLag func() time.Duration
	// Unavailable reports that a request failed since the database is away for a while, which is answered as busy.
	Unavailable func(error) bool
	// Metrics gets this package's metrics and is what /metrics shows.
	Metrics *prometheus.Registry
	Logger  *slog.Logger
	Now     func() time.Time
}

// Limits of attempts by one client, in attempts a second and at once. A password may be mistyped a few times; then it is
// one guess in five seconds. Joining is loose, since a whole company sits behind one address and joins in the minute in
// which the QR code is shown: 30 a second and 300 at once seat 2,000 people in a minute, and still keep one client from
// filling the books with players.
const (
	passwordRate, passwordBurst = 0.2, 5
	joinRate, joinBurst         = 30, 300
)

// Server answers HTTP requests. It is safe for concurrent use.
type Server struct {
	Options

	echo      *echo.Echo
	assets    map[string]*asset
	passwords *limiter
	joins     *limiter
	finals    finals
	openings  openings
	skewed    rate.Sometimes // logs that clocks differ
	refusing  atomic.Bool
	underWay  atomic.Int64
}

// New puts the HTTP side together. It fails if the pages are not complete, the password is empty or PublicURL is no URL.
func New(options Options) (*Server, error) {
	public, err := cleanURL(options.PublicURL)
	if err != nil {
		return nil, err
	}
	if options.Password == "" {
		return nil, errors.New("the hosts' password is empty")
	}
	assets, err := loadAssets(options.Pages, public)
	if err != nil {
		return nil, err
	}
	options.PublicURL, options.Origins.Public = public, public
	s := &Server{
		Options: options, echo: echo.New(), assets: assets,
		passwords: newLimiter(passwordRate, passwordBurst, options.Now),
		joins:     newLimiter(joinRate, joinBurst, options.Now),
		openings:  newOpenings(),
		skewed:    rate.Sometimes{Interval: time.Minute},
	}
	s.echo.HTTPErrorHandler = s.refuse
	s.echo.IPExtractor = echo.IPExtractor(options.Proxies.ClientIP())
	if err := s.useMiddleware(); err != nil {
		return nil, err
	}
	s.routePages()
	s.routeAPI()
	return s, nil
}

func cleanURL(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	text = strings.TrimRight(text, "/")
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || !plainHost.MatchString(u.Host) || u.Scheme+"://"+u.Host != text {
		return "", fmt.Errorf("PUBLIC_URL %q must be like https://rain.example.org", text)
	}
	return text, nil
}

// Refuse makes every request from now on hear that this instance is busy, also on connections that are open already. Those
// under way go on.
func (s *Server) Refuse() { s.refusing.Store(true) }

// UnderWay is how many requests are being answered. Upgraded connections do not count.
func (s *Server) UnderWay() int { return int(s.underWay.Load()) }

// ServeHTTP hands sockets to the gate as they came and everything else to Echo. Echo's writer, or a middleware of its own
// like Gzip or Timeout, would break the upgrade.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.underWay.Add(1)
	defer s.underWay.Add(-1)
	switch {
	case s.refusing.Load():
		w.Header().Set("Connection", "close")
		s.refuse(errBusy, s.echo.NewContext(r, w))
	case r.URL.Path == "/ws":
		s.Gate.ServeHTTP(w, r)
	default:
		s.echo.ServeHTTP(w, r)
	}
}

func (s *Server) routePages() {
	get := func(path string, handler echo.HandlerFunc) {
		s.echo.Match([]string{http.MethodGet, http.MethodHead}, path, handler)
	}
	get("/", s.page(pageJoin))
	get("/r/:code", s.roomPage(pagePlayer))
	get("/host", s.page(pageHost))
	get("/screen/:code", s.roomPage(pageScreen))
	get("/assets/*", s.serveAsset)
	get("/healthz", s.healthy)
	get("/readyz", s.ready)
	get("/metrics", echo.WrapHandler(promhttp.HandlerFor(s.Metrics, promhttp.HandlerOpts{DisableCompression: true})))
}

// answerWithin bounds an API request: a database that hangs must not pile up requests.
const answerWithin = 10 * time.Second

// routeAPI gives each route its middleware. A group's would answer 404 where a path is known but not the method.
func (s *Server) routeAPI() {
	deadline := middleware.ContextTimeout(answerWithin)
	anybody := func(method, path string, handler echo.HandlerFunc) {
		s.echo.Add(method, "/api"+path, handler, s.refuseForeignOrigins, deadline)
	}
	host := func(method, path string, handler echo.HandlerFunc) { anybody(method, path, s.hostOnly(handler)) }

	anybody("POST", "/host/session", s.logIn)
	host("DELETE", "/host/session", s.logOut)
	host("POST", "/rooms", s.createRoom)
	host("GET", "/rooms", s.listRooms)
	anybody("GET", "/rooms/:code", s.showRoom)
	anybody("GET", "/rooms/:code/qr.svg", s.showQR)
	anybody("GET", "/rooms/:code/history", s.showHistory)
	anybody("GET", "/rooms/:code/next", s.showNext)
	anybody("POST", "/rooms/:code/players", s.join)
	anybody("GET", "/rooms/:code/players/me", s.showMe)
	host("POST", "/rooms/:code/rounds", s.createRound)
	host("GET", "/rooms/:code/rounds", s.listRounds)
	host("POST", "/rounds/preview", s.previewRound)
	host("POST", "/rounds/:id/start", step(s.Rounds.Start))
	host("POST", "/rounds/:id/stop", step(s.Rounds.Stop))
	host("POST", "/rounds/:id/cancel", step(s.Rounds.Cancel))
	anybody("GET", "/rounds/:id", s.showRound)
	host("GET", "/rounds/:id/claims", s.listClaims)
	anybody("GET", "/rounds/:id/claims/me", s.showMyClaims)
	anybody("GET", "/rounds/:id/result/me", s.showMyResult)
	s.routeHost(anybody, host)
	s.routeMoney(host)
	s.routeExports(host)
	s.routePayouts(host)
}
