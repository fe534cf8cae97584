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

// script is one of lua/*.lua with the names of its keys and arguments. A test compares them with the script's header.
type script struct {
	name string
	keys string
	args string
	// source is the text of the script's own file, whole is what is sent to Redis.
	source, whole string
	run           *redis.Script
}

// newScript makes a script of its source and the shared parts that it needs in front.
func newScript(name, source, keys, args string, parts ...string) script {
	whole := strings.Join(append(parts, source), "")
	return script{name: name, keys: keys, args: args, source: source, whole: whole, run: redis.NewScript(whole)}
}

// roundKeys are the keys of a round, in the order of allKeys.
const roundKeys = "state claims board outbox amounts"

var (
	openScript = newScript("open", lua.Open, "state claims outbox amounts staged",
		"round channel group lifetime_ms countdown_ms duration_ms total packets min max split pace cap secret frozen freeze_version"+
			" drops_per_second drop_life_ms")
	grabScript     = newScript("grab", lua.Grab, roundKeys, "batch channel (player drop)...", lua.Fit)
	closeScript    = newScript("close", lua.Close, roundKeys, "reason channel again", lua.Fit)
	snapshotScript = newScript("snapshot", lua.Snapshot, roundKeys, "top latest", lua.Fit)
	reportScript   = newScript("report", lua.Report, "lease reports presence",
		"instance round online taps lease_ms fresh_ms lifetime_ms arrivals mark since serial unsent joined left")
	sweepScript = newScript("sweep", lua.Sweep, "presence", "cursor page")

	freezeScript          = newScript("freeze", lua.Freeze, "state", "frozen version channel")
	watermarkScript       = newScript("watermark", lua.Watermark, roundKeys, "group", lua.Fit)
	expireScript          = newScript("expire", lua.Expire, roundKeys, "round lifetime_ms channel")
	restoreScript         = newScript("restore", lua.Restore, "state target staged", "left")
	removeConsumersScript = newScript("remove_consumers", lua.RemoveConsumers, "outbox", "group silent_ms")
	pageScript            = newScript("page", lua.Page, "outbox", "after limit")
	readyScript           = newScript("ready", lua.Ready, "ready", "channel message lifetime_ms")
)

// errBadReply is returned for a reply, or a stored value, that does not have the documented format.
var errBadReply = errors.New("the reply has another shape")

// reply reads a script's reply element by element. The first element of the wrong type, or missing, sets err.
type reply struct {
	items []any
	err   error
}

func (c *Client) call(ctx context.Context, s script, keys []string, args ...any) (*reply, error) {
	return s.callOn(ctx, c.redis, keys, args...)
}

// callOn calls the script on one server, which may be a node of a cluster.
func (s script) callOn(ctx context.Context, server redis.Scripter, keys []string, args ...any) (*reply, error) {
	items, err := s.run.Run(ctx, server, keys, args...).Slice()
	if err != nil {
		err = unwrapEmbedded(err)
		if isTransient(err) {
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
		r.err = errBadReply
		return nil
	}
	item := r.items[0]
	r.items = r.items[1:]
	return item
}

func (r *reply) integer() int64 {
	n, ok := r.next().(int64)
	if !ok {
		r.err = errBadReply
	}
	return n
}

func (r *reply) text() string {
	s, ok := r.next().(string)
	if !ok {
		r.err = errBadReply
	}
	return s
}

// updateClock adjusts the clock to a reply with Redis' time, now, to a call that was sent at asked. It returns now.
func (c *Client) updateClock(asked time.Time, now int64) game.Moment {
	c.clock.observe(asked, time.Now(), now)
	return game.Moment(now)
}

// missingKeysError is the error for the status of a script about a round with missing keys: gone, or torn.
func missingKeysError(word string) error {
	switch word {
	case "gone":
		return game.ErrGone
	case "torn":
		return game.ErrTorn
	}
	return fmt.Errorf("%q: %w", word, errBadReply)
}

// Errors with which Redis refuses a script before its first write. A transient one goes away by itself: the server is a replica,
// loads its data, waits for a failover, does not own the slot, or runs another script. Redis checks before a script's first write
// whether it may write, so these errors mean the same if a command inside the script returns them.
var (
	permanentRefusals = []string{"WRONGTYPE ", "OOM ", "NOAUTH ", "NOPERM ", "MISCONF ", "CROSSSLOT "}
	transientRefusals = []string{
		"READONLY ", "LOADING ", "CLUSTERDOWN ", "MASTERDOWN ", "TRYAGAIN ", "NOREPLICAS ", "MOVED ", "ASK ", "BUSY ",
		"max number of clients reached",
	}
)

// NothingDone reports whether it is certain that a script changed nothing: Redis refused it before its first write, or it was never
// sent.
func NothingDone(err error) bool { return isTransient(err) || hasAnyPrefix(err, permanentRefusals) }

// isTransient reports whether a script changed nothing, for a reason that goes away by itself.
func isTransient(err error) bool {
	var op *net.OpError
	unsent := errors.As(err, &op) && op.Op == "dial" // connections are dialled before anything is sent
	return unsent || errors.Is(err, redis.ErrPoolTimeout) || errors.Is(err, redis.ErrPoolExhausted) || hasAnyPrefix(err, transientRefusals)
}

func hasAnyPrefix(err error, refusals []string) bool {
	return slices.ContainsFunc(refusals, func(prefix string) bool { return redis.HasErrorPrefix(err, prefix) })
}
