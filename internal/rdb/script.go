package rdb

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"redrain/internal/game"
	"redrain/lua"
)

// script is one of lua/*.lua with the names of its keys and arguments, which a test holds against the script's header.
type script struct {
	name string
	keys string
	args string
	// source is the script's own file, whole is what Redis gets.
	source, whole string
	run           *redis.Script
}

// newScript makes a script of its source and the parts that it needs in front.
func newScript(name, source, keys, args string, parts ...string) script {
	whole := strings.Join(append(parts, source), "")
	return script{name: name, keys: keys, args: args, source: source, whole: whole, run: redis.NewScript(whole)}
}

// roundKeys are the keys of a round, in the order of allKeys.
const roundKeys = "state claims board outbox amounts"

var (
	openScript = newScript("open", lua.Open, "state claims outbox amounts staged",
		"round channel group lifetime_ms countdown_ms duration_ms total packets min max split pace cap secret frozen freeze_version")
	grabScript     = newScript("grab", lua.Grab, roundKeys, "batch channel (player drop)...", lua.Fit)
	closeScript    = newScript("close", lua.Close, roundKeys, "reason channel again", lua.Fit)
	snapshotScript = newScript("snapshot", lua.Snapshot, roundKeys, "top latest", lua.Fit)
	reportScript   = newScript("report", lua.Report, "lease reports",
		"instance round online taps lease_ms fresh_ms lifetime_ms arrivals")

	freezeScript    = newScript("freeze", lua.Freeze, "state", "frozen version channel")
	watermarkScript = newScript("watermark", lua.Watermark, roundKeys, "group", lua.Fit)
	retireScript    = newScript("retire", lua.Retire, roundKeys, "round lifetime_ms channel")
	restoreScript   = newScript("restore", lua.Restore, "state target staged", "left")
	dismissScript   = newScript("dismiss", lua.Dismiss, "outbox", "group silent_ms")
	pageScript      = newScript("page", lua.Page, "outbox", "after limit")
)

// errShape is a reply that is not what the script's header says.
var errShape = errors.New("the reply has another shape")

// reply reads a script's answer element by element; the first thing that does not fit stays as its error.
type reply struct {
	items []any
	err   error
}

func (c *Client) call(ctx context.Context, s script, keys []string, args ...any) (*reply, error) {
	items, err := s.run.Run(ctx, c.redis, keys, args...).Slice()
	if err != nil {
		err = unwrapEmbedded(err)
		if passes(err) {
			err = fmt.Errorf("%w: %w", game.ErrTryAgain, err)
		}
		return nil, fmt.Errorf("%s.lua: %w", s.name, err)
	}
	return &reply{items: items}, nil
}

// more reports whether anything is left to read.
func (r *reply) more() bool { return len(r.items) > 0 }

func (r *reply) next() any {
	if r.err != nil || len(r.items) == 0 {
		r.err = errShape
		return nil
	}
	item := r.items[0]
	r.items = r.items[1:]
	return item
}

func (r *reply) integer() int64 {
	n, ok := r.next().(int64)
	if !ok {
		r.err = errShape
	}
	return n
}

func (r *reply) text() string {
	s, ok := r.next().(string)
	if !ok {
		r.err = errShape
	}
	return s
}

// took sets the clock by a call that returned Redis' time.
func (c *Client) updateClock(asked time.Time, now int64) game.Moment {
	c.clock.observe(asked, time.Now(), now)
	return game.Moment(now)
}

// lostKeys is what a script says in one word of a round whose keys are missing: 'gone', or 'torn'.
func lostKeys(word string) error {
	switch word {
	case "gone":
		return game.ErrGone
	case "torn":
		return game.ErrTorn
	}
	return fmt.Errorf("%q: %w", word, errShape)
}

// Redis' refusals before the first write of a script. What passes does so by itself: the server is a replica, loads its data,
// waits for a failover, has another one's slot, or runs another script. Redis checks before a script's first write whether it
// may write at all, so these mean the same when a command inside the script says them.
var (
	lastingRefusals = []string{"WRONGTYPE ", "OOM ", "NOAUTH ", "NOPERM ", "MISCONF ", "CROSSSLOT "}
	passingRefusals = []string{
		"READONLY ", "LOADING ", "CLUSTERDOWN ", "MASTERDOWN ", "TRYAGAIN ", "NOREPLICAS ", "MOVED ", "ASK ", "BUSY ",
		"max number of clients reached",
	}
)

// NothingDone reports whether a script's effects are known: none. Redis refused it before its first write, or it was never sent.
func NothingDone(err error) bool { return passes(err) || refuses(err, lastingRefusals) }

// passes reports whether nothing was done, for a reason that passes by itself.
func passes(err error) bool {
	var op *net.OpError
	unsent := errors.As(err, &op) && op.Op == "dial" // connections are dialled before anything is sent
	return unsent || errors.Is(err, redis.ErrPoolTimeout) || errors.Is(err, redis.ErrPoolExhausted) || refuses(err, passingRefusals)
}

func refuses(err error, refusals []string) bool {
	return slices.ContainsFunc(refusals, func(prefix string) bool { return redis.HasErrorPrefix(err, prefix) })
}
