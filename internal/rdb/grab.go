package rdb

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"redrain/internal/game"
)

// MaxBatch is the most taps that one call of Grab takes.
const MaxBatch = 256

// batches numbers the batches of this process.
var batches atomic.Uint64

// NewBatch names a batch of taps, as no other instance or process does.
func (c *Client) NewBatch() string { return c.instance + "." + strconv.FormatUint(batches.Add(1), 36) }

// Grab tries one batch of 1 to MaxBatch taps on a round of a room. The batch's name comes from NewBatch and stands for these taps
// alone: it is in the reply, so results can never be handed to taps that they do not belong to. game.ErrRefused, game.ErrGone (there is no such round) and
// game.ErrTorn say that nothing was done. Any other error means that the result is unknown; the same taps may be tried
// again under the same name: what was won stays won.
func (c *Client) Grab(ctx context.Context, room, round, batch string, taps []game.Tap) (game.Grabbed, error) {
	args := make([]any, 0, 2+2*len(taps))
	args = append(args, batch, roomChannel(room))
	for _, tap := range taps {
		args = append(args, tap.Player, strconv.Itoa(int(tap.Drop)))
	}
	asked := time.Now()
	r, err := c.call(ctx, grabScript, allKeys(round), args...)
	if NothingDone(err) {
		return game.Grabbed{}, fmt.Errorf("%w: %w", game.ErrRefused, err)
	}
	if err != nil {
		return game.Grabbed{}, err
	}
	if got := r.text(); got != batch {
		return game.Grabbed{}, fmt.Errorf("grab.lua: the reply is for batch %q, not %q: %w", got, batch, errShape)
	}
	if len(r.items) == 1 {
		return game.Grabbed{}, fmt.Errorf("grab.lua: %w", lostKeys(r.text()))
	}
	grabbed, err := readGrabbed(r, len(taps))
	if err != nil {
		return game.Grabbed{}, fmt.Errorf("grab.lua: %w", err)
	}
	c.updateClock(asked, int64(grabbed.Now))
	return grabbed, nil
}

func readGrabbed(r *reply, taps int) (game.Grabbed, error) {
	g := game.Grabbed{Now: game.Moment(r.integer())}
	g.Left = game.Total{Packets: int(r.integer()), Cents: game.Cents(r.integer())}
	letters := r.text()
	if r.err != nil || len(letters) != taps {
		return game.Grabbed{}, errShape
	}
	g.Answers = make([]game.Answer, taps)
	for i := range letters {
		outcome, err := game.OutcomeOfLetter(letters[i])
		if err != nil {
			return game.Grabbed{}, fmt.Errorf("%w: %w", errShape, err)
		}
		g.Answers[i].Outcome = outcome
		if outcome == game.Won || outcome == game.Duplicate {
			g.Answers[i].Cents, g.Answers[i].Number = game.Cents(r.integer()), int(r.integer())
		}
	}
	if r.err != nil || r.more() {
		return game.Grabbed{}, errShape
	}
	return g, nil
}
