package gate

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"
	"golang.org/x/time/rate"

	"redrain/internal/game"
	"redrain/internal/live"
	"redrain/internal/wire"
)

// frameBuffers hold frames while they are acted on: most connections wait most of the time, and need none then. They have
// room for one byte more than the library lets through, so that a read always has room.
var frameBuffers = sync.Pool{New: func() any { return new([maxFrame + 1]byte) }}

// readFrames takes the client's frames until the connection ends, and returns what to tell the client then.
func (c *conn) readFrames() closing {
	for {
		kind, reader, err := c.ws.Reader(context.Background())
		if err != nil {
			return closingAfter(err)
		}
		if kind != websocket.MessageText {
			return closeBinary
		}
		if why := c.readFrame(reader); why != nil {
			return *why
		}
	}
}

// closingAfter is what to tell the client when it cannot be read any more. Nothing if the client or the network has ended the
// connection, or if the library has said it already, as when a frame is too large.
func closingAfter(err error) closing {
	if errors.Is(err, errOverBudget) {
		return closeTooManyErrors
	}
	return closeOver
}

// readFrame takes one frame; it returns why the connection must end, or nil.
func (c *conn) readFrame(reader io.Reader) *closing {
	buffer, _ := frameBuffers.Get().(*[maxFrame + 1]byte)
	defer frameBuffers.Put(buffer)
	n, err := readAll(reader, buffer[:])
	c.heard.Add(1)
	frame := buffer[:n]
	switch {
	case err != nil:
		why := closingAfter(err)
		return &why
	case !utf8.Valid(frame):
		return &closeNotUTF8
	case !c.take(frame):
		return &closeTooManyErrors
	}
	return nil
}

func readAll(reader io.Reader, buffer []byte) (int, error) {
	n := 0
	for {
		m, err := reader.Read(buffer[n:])
		n += m
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err //nolint:wrapcheck // only whether it failed matters
		}
	}
}

// take acts on one frame; false when this connection has sent too many that had to be refused.
func (c *conn) take(frame []byte) bool {
	var round string
	if c.answers != nil {
		round = c.answers.round
	}
	if tap, ok := wire.UsualTap(frame, round); ok && c.session != nil {
		return c.tap(tap)
	}
	message, err := wire.Decode(frame)
	if err != nil {
		return c.refuse(wire.CodeBadFrame, err.Error())
	}
	switch m := message.(type) {
	case wire.Ping:
		c.Send(wire.Encode(wire.Pong{Sent: m.Sent, Now: c.gate.opts.Clock.Now()}))
	case wire.Tap:
		if c.session == nil {
			return c.refuse(wire.CodeNotAPlayer, "only players can tap")
		}
		return c.tap(m)
	}
	return true
}

func (c *conn) refuse(code, message string) bool {
	c.Send(wire.Encode(wire.Error{Code: code, Message: message}))
	if c.refused == nil {
		c.refused = rate.NewLimiter(1, 20)
	}
	return c.refused.Allow()
}

func (c *conn) tap(tap wire.Tap) bool {
	if c.answers == nil || c.answers.round != tap.Round {
		c.answers = &roundAnswers{conn: c, round: tap.Round}
	}
	since := time.Now()
	answer, status := c.session.Tap(tap.Round, tap.Drop, c, c.answers)
	if status == live.OtherRound {
		return c.tapOther(tap)
	}
	if status == live.Answered {
		c.answer(resultFrame(tap.Round, tap.Drop, answer))
		c.gate.metrics.fromMemory[answer.Outcome].Inc()
		c.gate.opts.Answered.Observe(time.Since(since).Seconds())
	}
	return true
}

// tapOther takes a tap for a round that is not the room's current one, as far as this instance knows.
func (c *conn) tapOther(tap wire.Tap) bool {
	ctx, cancel := context.WithTimeout(c.gate.ending, knownWithin)
	defer cancel()
	answer, err := c.room.TapOtherRound(ctx, c.session, tap.Round, tap.Drop, c.answers)
	switch {
	case errors.Is(err, game.ErrNotFound):
		return c.refuse(wire.CodeUnknownRound, "this room has no such round")
	case err != nil:
		c.gate.opts.Log.Warn("cannot look up the round of a tap", "room", c.room.Code(), "error", err)
		answer.Outcome = game.Busy
	}
	if answer.Outcome != "" {
		c.Send(resultFrame(tap.Round, tap.Drop, answer))
		c.gate.metrics.fromMemory[answer.Outcome].Inc()
	}
	return true
}

// roundAnswers is the handler of the answers to taps on one round. It sends them to the connection that tapped.
type roundAnswers struct {
	conn  *conn
	round string
}

// HandleAnswer queues the result; it does not block.
func (a *roundAnswers) HandleAnswer(tap game.Tap, answer game.Answer) {
	a.conn.Send(resultFrame(a.round, tap.Drop, answer))
	a.conn.gate.metrics.fromScript[answer.Outcome].Inc()
}

func resultFrame(round string, drop game.DropID, answer game.Answer) []byte {
	const usual = 128 // bytes
	return wire.AppendResult(make([]byte, 0, usual), wire.Result{
		Round: round, Drop: drop, Outcome: answer.Outcome, Cents: answer.Cents, Number: answer.Number,
	})
}
