package api

import (
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
	"golang.org/x/time/rate"
)

// Options are the dependencies and settings of a Server. All are required except PublicURL, PlayerSecret, Origins.Allowed,
// Proxies, RoomGuesses, JoinsPerHour, PlayersPerRoom, Checks, Warnings, SettleLag and OperatorListener.
type Options struct {
	Rooms     Rooms
	Rounds    Rounds
	Claims    Claims
	Results   Results
	Tallies   Tallies
	RoomAdmin RoomAdmin
	Guests    Guests
	Publisher Publisher
	// Rehearsals plays rehearsals with bots that connect to this instance.
	Rehearsals Rehearser
	Money      Money
	Exports    Exports
	Payouts    Payouts
	Sessions   *Sessions
	// Gate handles /ws, without any middleware.
	Gate http.Handler
	// Pages are the files of package web.
	Pages fs.FS
	// PlayerSecret is the key with which the host's own app signs players' tokens; empty: such tokens are refused.
	PlayerSecret []byte
	// PublicURL is the scheme and host at which players reach this site. Empty: those of each request.
	PublicURL string
	// LANHosts returns where other devices of this machine's networks reach this server, as HOST:PORT, the most likely one first; nil:
	// nowhere. It may be nil.
	LANHosts func() []string
	Origins  Origins
	Proxies  Proxies
	// RoomGuesses limits the search for rooms; the gate may share it.
	RoomGuesses *RoomGuesses
	// JoinsPerHour is how many players may join from one address within an hour, and PlayersPerRoom how many a room may have. 0: no bound.
	JoinsPerHour, PlayersPerRoom int
	// Checks must succeed for /readyz. They run in order.
	Checks []Check
	// Warnings are checks whose failures /readyz shows to operators although the instance is ready.
	Warnings []Check
	// SettleLag returns the lag of settling when it last booked something; nil if this instance does not settle.
	SettleLag func() time.Duration
	// Unavailable reports whether an error means that the database or Redis does not work right now, such as with a full disk, which is
	// answered as busy.
	Unavailable func(error) bool
	// Metrics is the registry for this package's metrics, and is served to operators at /metrics.
	Metrics *prometheus.Registry
	// OperatorListener says that operators have a listener of their own, which serves Server.Operators: here they are nobody special.
	OperatorListener bool
	Logger           *slog.Logger
	Now              func() time.Time
}

// Server answers HTTP requests. It is safe for concurrent use.
type Server struct {
	Options

	echo           *echo.Echo
	assets         *assetFiles
	guesses        *guessLimiter
	joins          *joinLimits
	ranksCache     ranksCache
	claimsCache    claimsCache
	clockSkewLog   rate.Sometimes // limits the log of sessions from the future
	originLog      rate.Sometimes // limits the log of pages that were refused
	refusing       atomic.Bool
	activeRequests atomic.Int64
}

// New returns a server. It fails if a page is missing or PublicURL is no URL.
func New(options Options) (*Server, error) {
	public, err := parsePublicURL(options.PublicURL)
	if err != nil {
		return nil, err
	}
	assets, err := loadAssets(options.Pages, public)
	if err != nil {
		return nil, err
	}
	options.PublicURL, options.Origins.Public = public, public
	if options.RoomGuesses == nil {
		options.RoomGuesses = NewRoomGuesses(options.Proxies, options.Now)
	}
	s := &Server{
		Options: options, echo: echo.New(), assets: assets,
		guesses:      newGuessLimiter(options.Now),
		claimsCache:  newClaimsCache(),
		clockSkewLog: rate.Sometimes{Interval: time.Minute},
		originLog:    rate.Sometimes{Interval: time.Minute},
	}
	s.joins = s.newJoinLimits()
	s.echo.HTTPErrorHandler = s.handleError
	s.echo.IPExtractor = echo.IPExtractor(options.Proxies.ClientIP())
	if err := s.useMiddleware(); err != nil {
		return nil, err
	}
	s.routePages()
	s.routeAPI()
	return s, nil
}

func parsePublicURL(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	text = strings.TrimRight(text, "/")
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || !hostPattern.MatchString(u.Host) || u.Scheme+"://"+u.Host != text {
		return "", fmt.Errorf("PUBLIC_URL %q must be like https://rain.example.org", text)
	}
	return text, nil
}

// RefuseRequests makes the server answer every new request with busy, also on open connections. Requests that were already
// received are still handled.
func (s *Server) RefuseRequests() { s.refusing.Store(true) }

// ActiveRequests returns how many requests are being handled. Upgraded connections do not count.
func (s *Server) ActiveRequests() int { return int(s.activeRequests.Load()) }

// ServeHTTP passes WebSocket upgrades to the gate unchanged, and everything else to Echo. The upgrade would fail with Echo's
// response writer, or with middleware like Gzip or Timeout.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.activeRequests.Add(1)
	defer s.activeRequests.Add(-1)
	switch {
	case s.refusing.Load():
		w.Header().Set("Connection", "close")
		s.handleError(errBusy, s.echo.NewContext(r, w))
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
	get("/host/", s.page(pageHost))
	get("/screen/:code", s.roomPage(pageScreen))
	get("/assets/*", s.serveAsset)
	get("/healthz", s.showLiveness)
	get("/readyz", s.showReadiness)
	get("/metrics", s.showMetrics())
}

// requestTimeout bounds an API request, so that requests do not accumulate while the database hangs.
const requestTimeout = 10 * time.Second

// routeAPI adds the routes of the API. Each has its own middleware, since an Echo group answers 404 instead of 405 if only the
// method is unknown.
func (s *Server) routeAPI() {
	deadline := middleware.ContextTimeout(requestTimeout)
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
	anybody("GET", "/rooms/:code/address", s.showJoinAddress)
	anybody("GET", "/rooms/:code/history", s.showHistory)
	anybody("GET", "/rooms/:code/next", s.showNext)
	anybody("POST", "/rooms/:code/players", s.join)
	anybody("GET", "/rooms/:code/players/me", s.showMyself)
	host("POST", "/rooms/:code/rounds", s.createRound)
	host("GET", "/rooms/:code/rounds", s.listRounds)
	host("POST", "/rounds/preview", s.previewRound)
	host("POST", "/rounds/:id/start", changeRound(s.Rounds.Start))
	host("POST", "/rounds/:id/stop", changeRound(s.Rounds.Stop))
	host("POST", "/rounds/:id/cancel", changeRound(s.Rounds.Cancel))
	anybody("GET", "/rounds/:id", s.showRound)
	host("GET", "/rounds/:id/claims", s.listClaims)
	anybody("GET", "/rounds/:id/claims/me", s.showMyClaims)
	anybody("GET", "/rounds/:id/result/me", s.showMyResult)
	s.routeHost(anybody, host)
	s.routeMoney(host)
	s.routeExports(host)
	s.routePayouts(host)
}

// NewHTTPServer returns a server with limits against slow or hostile clients: timeouts for headers, bodies and responses, and a
// maximum size of headers. They do not apply to a WebSocket after its upgrade, since hijacking a connection clears its deadlines.
func NewHTTPServer(handler http.Handler, logger *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       15 * time.Second,
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
	}
}
