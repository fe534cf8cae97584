package gate

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/coder/websocket"
	"golang.org/x/time/rate"

	"redrain/internal/game"
	"redrain/internal/live"
	"redrain/internal/wire"
)

// maxFrame is the largest frame that a client may send, in bytes.
const maxFrame = 1024

const (
	// enterWithin bounds what must be read before somebody is in a room.
	enterWithin = 5 * time.Second
	// knownWithin bounds what SQL is asked about who and what is mostly known already: a player who comes back, and the round of
	// a tap.
	knownWithin = time.Second
)

// refusal is why a request is not upgraded.
type refusal struct {
	status  int
	code    string
	message string
}

func (r *refusal) Error() string { return r.message }

// identity is who was admitted. It lives as long as the connection, so nothing in it is a part of the request's text.
type identity struct {
	role     wire.Role
	player   string // its id, of a player
	nickname string
	host     *game.HostSession // of a host
	network  string            // the address that it counts towards
}

// ServeHTTP upgrades a request that may come in. It returns at once; the connection lives on its own.
func (g *Gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	code, guest, err := g.admit(r)
	if err != nil {
		g.refuse(w, r, err)
		return
	}
	guest.network = g.opts.Network(r)
	room, err := g.enter(r, code, guest)
	if err != nil {
		g.refuse(w, r, err)
		return
	}
	taken := &hijacked{ResponseWriter: w, within: g.opts.WriteFor, framesPerSecond: g.opts.FramesPerSecond}
	ws, err := websocket.Accept(taken, r, &websocket.AcceptOptions{
		// admit has checked the origin, by a rule that knows this site's public address and treats its absence on its own.
		InsecureSkipVerify: true,
		CompressionMode:    websocket.CompressionDisabled, // small frames gain nothing, and a bomb has nothing to unpack
	})
	if err != nil {
		g.leave(room, guest)
		g.refuse(w, r, &refusal{taken.refused, "bad_request", "this address takes WebSocket upgrades of version 13 only"})
		return
	}
	ws.SetReadLimit(maxFrame)
	c := newConn(g, ws, taken.socket, room, guest)
	if !g.register(c) {
		g.leave(room, guest)
		go c.sendClose(closeGoingAway)
		return
	}
	if guest.host != nil {
		c.unwatch = g.opts.Sessions.WatchHost(*guest.host, func() { c.closeWith(closeSessionEnded) })
	}
	// Neither this handler nor its request's context outlives the upgrade; the connection has a goroutine and a context of
	// its own, and the memory that the handler held is free.
	go c.serve()
}

// enter finds a place for a connection and acquires its room; leave gives both back.
func (g *Gate) enter(r *http.Request, code string, guest identity) (*live.Room, error) {
	if guest.role != wire.RoleHost && g.opts.Scarce() {
		return nil, errServerFull
	}
	if err := g.places.take(code, guest); err != nil {
		return nil, err
	}
	room, err := g.opts.Rooms.Acquire(r.Context(), code)
	if err == nil || errors.Is(err, game.ErrNotFound) {
		if refused := g.waitForGuess(r, code, guest, err == nil); refused != nil {
			if err == nil {
				g.leave(room, guest)
				return nil, refused
			}
			err = refused
		}
	}
	if err != nil {
		g.places.leave(code, guest)
	}
	return room, err //nolint:wrapcheck // says itself what it is
}

// waitForGuess waits for the turn of who may be guessing codes: a player's or a host's session proves that they are not.
func (g *Gate) waitForGuess(r *http.Request, code string, guest identity, found bool) error {
	if guest.role != wire.RoleScreen {
		return nil
	}
	return g.opts.RoomGuessed(r, code, found)
}

func (g *Gate) leave(room *live.Room, guest identity) {
	g.opts.Rooms.Release(room)
	g.places.leave(room.Code(), guest)
}

// hijacked hands the library a connection that the gate can write to, and end, by itself. A refusal of the library's own, in
// plain text, is kept back so that it can be said in JSON.
type hijacked struct {
	http.ResponseWriter
	socket          *socket
	within          time.Duration // see socket
	framesPerSecond rate.Limit
	refused         int // its status
}

// WriteHeader lets only the upgrade through.
func (h *hijacked) WriteHeader(status int) {
	if status >= http.StatusBadRequest {
		h.refused = status
		return
	}
	h.ResponseWriter.WriteHeader(status)
}

// Write drops the text of a refusal: an upgrade has none.
func (h *hijacked) Write(text []byte) (int, error) { return len(text), nil }

// The library's buffers: its reader takes small frames, and its writer only control frames.
const (
	readBuffer  = 128
	writeBuffer = 128
)

// Hijack does what the wrapped writer does. The server's own buffers of 4 KiB each are left to the garbage collector; what
// the client sent early is the first that the socket reads.
func (h *hijacked) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffers, err := http.NewResponseController(h.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err //nolint:wrapcheck // for the library
	}
	h.socket = &socket{Conn: conn, within: h.within, in: conn, budget: newBudget(h.framesPerSecond)}
	if early, _ := buffers.Peek(buffers.Reader.Buffered()); len(early) > 0 {
		h.socket.in = io.MultiReader(bytes.NewReader(bytes.Clone(early)), conn)
	}
	return h.socket, bufio.NewReadWriter(bufio.NewReaderSize(h.socket, readBuffer), bufio.NewWriterSize(h.socket, writeBuffer)), nil
}

// admit checks everything that can be checked before the upgrade; code is the room's.
func (g *Gate) admit(r *http.Request) (code string, in identity, err error) {
	query := r.URL.Query()
	code, ok := game.CleanCode(query.Get("room"))
	if !ok {
		return "", identity{}, &refusal{http.StatusNotFound, "room_not_found", "there is no such room"}
	}
	present, allowed := g.opts.Origins.Check(r)
	if present && !allowed {
		return "", identity{}, &refusal{http.StatusForbidden, "origin_refused", "pages of this origin may not connect: set PUBLIC_URL to it, or have the proxy pass the Host header on with its port"}
	}
	token := func(cookie string) string {
		if token := query.Get("token"); token != "" || !present {
			return token // without an Origin a cookie proves nothing: browsers add it unasked
		}
		if c, err := r.Cookie(cookie); err == nil {
			return c.Value
		}
		return ""
	}
	switch wire.Role(query.Get("role")) {
	case wire.RoleScreen:
		return code, identity{role: wire.RoleScreen}, nil
	case wire.RoleHost:
		session, err := g.opts.Sessions.Host(token(g.opts.HostCookie))
		if err != nil {
			return "", identity{}, unproven(err, "log in as the host first")
		}
		return code, identity{role: wire.RoleHost, host: &session}, nil
	case wire.RolePlayer:
		id, err := g.opts.Sessions.Player(token(g.opts.PlayerCookie), code)
		if err != nil {
			return "", identity{}, unproven(err, "join the room first")
		}
		player, err := g.player(r.Context(), code, id)
		return code, identity{role: wire.RolePlayer, player: player.ID, nickname: player.Nickname}, err
	default:
		return "", identity{}, &refusal{http.StatusBadRequest, "bad_request", "role must be player, host or screen"}
	}
}

// unproven is the refusal of who has no session; one that cannot be judged right now is not told that.
func unproven(err error, instead string) error {
	if errors.Is(err, game.ErrBusy) {
		return err
	}
	return &refusal{http.StatusUnauthorized, "unauthorized", instead}
}

// player reads who a player is. One who comes back while SQL does not answer is let in as the room knows them.
func (g *Gate) player(ctx context.Context, code, id string) (game.Player, error) {
	nickname, inRoom := g.opts.Rooms.SessionNickname(code, id)
	within := enterWithin
	if inRoom {
		within = knownWithin
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	player, err := g.opts.Players.Player(ctx, id)
	switch {
	case errors.Is(err, game.ErrNotFound):
		return game.Player{}, &refusal{http.StatusUnauthorized, "unauthorized", "join the room first"}
	case err != nil && inRoom:
		g.opts.Log.WarnContext(ctx, "cannot read a player who comes back, the room knows them", "room", code, "error", err)
		return game.Player{ID: id, Room: code, Nickname: nickname}, nil
	case err != nil:
		return game.Player{}, fmt.Errorf("read the player: %w", err)
	case player.Blocked:
		return game.Player{}, &refusal{http.StatusForbidden, "blocked", "the host has blocked this player"}
	}
	return player, nil
}

func (g *Gate) refuse(w http.ResponseWriter, r *http.Request, err error) {
	var why *refusal
	switch {
	case errors.As(err, &why):
	case errors.Is(err, game.ErrTooMany):
		why = &refusal{http.StatusTooManyRequests, "too_many_requests", "too many requests, try again later"}
	case errors.Is(err, game.ErrNotFound):
		why = &refusal{http.StatusNotFound, "room_not_found", "there is no such room"}
	default:
		g.opts.Log.WarnContext(r.Context(), "cannot let a connection in", "error", err)
		why = &refusal{http.StatusServiceUnavailable, "not_ready", "the server cannot take connections right now"}
	}
	g.metrics.recordRefusal(why.code)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(why.status)
	_, _ = fmt.Fprintf(w, `{"error":{"code":%q,"message":%q}}`, why.code, why.message) // the client may be gone
}
