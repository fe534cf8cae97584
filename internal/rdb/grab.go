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

// NewBatch returns a name for a batch of taps that is unique over all processes.
func (c *Client) NewBatch() string { return c.instance + "." + strconv.FormatUint(batches.Add(1), 36) }

// Grab tries one batch of 1 to MaxBatch taps on a round of a room. The batch's name is from NewBatch and used for
// these taps only. The reply contains it, so results can never be given to other taps. game.ErrRefused, game.ErrGone (there is no
// such round) and game.ErrTorn mean that nothing was done. Any other error means that the result is unknown: the same taps may be
// sent again under the same name, and what they won stays won.
func (c *Client) Grab(ctx context.Context, room, round, batch string, taps []game.Tap) (game.Grabbed, error) {
	args := make([]any, 0, 2+2*len(taps))
	args = append(args, batch, roomChannel(room))
	for _, tap := range taps {
		args = append(args, tap.Player, dropArg(tap))
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
		return game.Grabbed{}, fmt.Errorf("grab.lua: the reply is for batch %q, not %q: %w", got, batch, errBadReply)
	}
	if len(r.items) == 1 {
		return game.Grabbed{}, fmt.Errorf("grab.lua: %w", missingKeysError(r.text()))
	}
	grabbed, err := readGrabbed(r, len(taps))
	if err != nil {
		return game.Grabbed{}, fmt.Errorf("grab.lua: %w", err)
	}
	c.updateClock(asked, int64(grabbed.Now))
	return grabbed, nil
}

func dropArg(tap game.Tap) string {
	drop := strconv.Itoa(int(tap.Drop))
	if tap.Bomb {
		return "b" + drop
	}
	return drop
}

func readGrabbed(r *reply, taps int) (game.Grabbed, error) {
	g := game.Grabbed{Now: game.Moment(r.integer())}
	g.Left = game.Total{Packets: int(r.integer()), Cents: game.Cents(r.integer())}
	letters := r.text()
	if r.err != nil || len(letters) != taps {
		return game.Grabbed{}, errBadReply
	}
	g.Answers = make([]game.Answer, taps)
	for i := range letters {
		outcome, err := game.OutcomeOfLetter(letters[i])
		if err != nil {
			return game.Grabbed{}, fmt.Errorf("%w: %w", errBadReply, err)
		}
		g.Answers[i].Outcome = outcome
		if outcome == game.Won || outcome == game.Duplicate {
			g.Answers[i].Cents, g.Answers[i].Number = game.Cents(r.integer()), int(r.integer())
		}
	}
	if r.err != nil || r.more() {
		return game.Grabbed{}, errBadReply
	}
	return g, nil
}
