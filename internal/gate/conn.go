package gate

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
	"golang.org/x/time/rate"

	"redrain/internal/live"
	"redrain/internal/wire"
)

// closing is what a close frame says.
type closing struct {
	code   websocket.StatusCode
	reason string
}

func closingOf(code wire.CloseCode) closing {
	return closing{websocket.StatusCode(code), code.String()}
}

var (
	closeGoingAway     = closingOf(wire.CloseGoingAway)
	closeSlowConsumer  = closingOf(wire.CloseSlowConsumer)
	closeFault         = closingOf(wire.CloseFault)
	closePingTimeout   = closingOf(wire.ClosePingTimeout)
	closeTooManyErrors = closingOf(wire.CloseTooManyErrors)
	closeBlocked       = closingOf(wire.CloseBlocked)
	closeSessionEnded  = closingOf(wire.CloseSessionEnded)
	closeBinary        = closing{websocket.StatusUnsupportedData, "text frames only"}
	closeNotUTF8       = closing{websocket.StatusInvalidFramePayloadData, "not valid UTF-8"}
	closeOver          = closing{websocket.StatusNormalClosure, ""}
)

// closeTimeout is how long a close frame may take to go out and be answered.
const closeTimeout = time.Second

// conn is one connection: one goroutine reads, and one writes while there is something to write.
type conn struct {
	gate    *Gate
	ws      *websocket.Conn
	socket  *socket
	room    *live.Room
	guest   identity
	session *live.PlayerSession // of a player
	unwatch func()              // of a host: the end of the session is of no concern any more

	refused *rate.Limiter // frames that were answered with an error; nil until one was
	ping    *time.Timer
	heard   atomic.Uint32 // frames so far, which wraps around
	answers *roundAnswers // of the round that was tapped last
	out     outbox
}

func newConn(g *Gate, ws *websocket.Conn, socket *socket, room *live.Room, in identity) *conn {
	c := &conn{gate: g, ws: ws, socket: socket, room: room, guest: in}
	c.out.init(c)
	return c
}

// serve joins the room and starts to read. Joining goes deep into Redis' client and leaves a large stack behind,
// so reading, which mostly waits, gets a goroutine of its own: half of the memory of a connection.
func (c *conn) serve() {
	if err := c.joinRoom(); err != nil {
		c.gate.opts.Log.Warn("cannot let a player join", "room", c.room.Code(), "error", err)
		c.end(closeFault)
		return
	}
	go c.play()
}

// play reads frames until the connection ends, and then leaves the room.
func (c *conn) play() {
	c.ping = time.AfterFunc(c.gate.opts.PingEvery, c.check)
	why := c.readFrames()
	c.ping.Stop()
	c.leaveRoom()
	c.end(why)
}

func (c *conn) end(why closing) {
	if c.unwatch != nil {
		c.unwatch()
	}
	c.closeWith(why)
	c.out.done()
	c.closeNow()
	c.gate.leave(c.room, c.guest)
	c.gate.unregister(c)
}

func (c *conn) joinRoom() error {
	if c.guest.role != wire.RolePlayer {
		c.room.Subscribe(c.guest.role, c)
		return nil
	}
	ctx, cancel := context.WithTimeout(c.gate.ending, enterWithin)
	defer cancel()
	session, err := c.room.Join(ctx, c.guest.player, c.guest.nickname, c)
	c.session = session
	return err //nolint:wrapcheck // says itself what it is
}

func (c *conn) leaveRoom() {
	if c.session == nil {
		c.room.Unsubscribe(c)
		return
	}
	c.room.Leave(c.session, c)
}

// check pings the client and cuts the connection if nothing comes back. Whoever sends frames is alive even if the answer is
// late: a busy machine must not throw out the players that keep it busy. It runs in a goroutine of the timer's.
func (c *conn) check() {
	before := c.heard.Load()
	ctx, cancel := context.WithTimeout(context.Background(), c.gate.opts.PongWithin)
	defer cancel()
	err := c.ws.Ping(ctx)
	switch {
	case err == nil, errors.Is(err, context.DeadlineExceeded) && c.heard.Load() != before:
		c.ping.Reset(c.gate.opts.PingEvery)
	case errors.Is(err, context.DeadlineExceeded):
		c.closeWith(closePingTimeout)
	}
}

// closeWith ends the connection with a close frame, after what is being written right now. What waits is given up, unless this
// instance goes away: then it is written first.
func (c *conn) closeWith(why closing) { c.out.close(why) }

// DisconnectBlocked closes the connection because its player is blocked.
func (c *conn) DisconnectBlocked() { c.closeWith(closeBlocked) }

// closeNow ends the connection at once, without a word, under whoever reads or writes.
func (c *conn) closeNow() {
	_ = c.socket.Close() // it may be closed already
}

// sendClose sends a close frame and closes the socket, answered or not.
func (c *conn) sendClose(why closing) {
	impatient := time.AfterFunc(closeTimeout, c.closeNow)
	defer impatient.Stop()
	defer c.closeNow()
	// It fails when the client is gone already, which is what is wanted.
	_ = c.ws.Close(why.code, why.reason)
}
