package rdb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"redrain/internal/game"
)

// maxPlayerText bounds a player's id in an outbox entry; ids are UUIDs.
const maxPlayerText = 64

// ReadNew reads up to count entries of a round's outbox that were delivered to no settler yet (XREADGROUP >). They are pending at this
// process until Acknowledge. game.ErrGone: there is no outbox.
func (c *Client) ReadNew(ctx context.Context, round string, count int) ([]game.Entry, error) {
	return c.readGroup(ctx, round, ">", count)
}

// ReadPending reads up to count entries that were delivered to this process before and are not acknowledged, in order, starting after
// an entry's id; "0" for the first.
func (c *Client) ReadPending(ctx context.Context, round, after string, count int) ([]game.Entry, error) {
	return c.readGroup(ctx, round, after, count)
}

func (c *Client) readGroup(ctx context.Context, round, from string, count int) ([]game.Entry, error) {
	streams, err := c.redis.XReadGroup(ctx, &redis.XReadGroupArgs{
		Group: settleGroup, Consumer: c.instance, Streams: []string{outboxKey(round), from}, Count: int64(count), Block: -1,
	}).Result()
	switch {
	case errors.Is(err, redis.Nil):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read the outbox: %w", translateNoGroup(err))
	}
	var entries []game.Entry
	for _, stream := range streams {
		entries = append(entries, parseEntries(round, stream.Messages)...)
	}
	return entries, nil
}

// ClaimStale takes over up to count entries that were delivered to another settler at least idle ago and not acknowledged (XAUTOCLAIM),
// from an id on; "0" for the first. next is the id to continue from, "0-0" at the end.
func (c *Client) ClaimStale(ctx context.Context, round, from string, idle time.Duration, count int) (entries []game.Entry, next string, err error) {
	messages, next, err := c.redis.XAutoClaim(ctx, &redis.XAutoClaimArgs{
		Stream: outboxKey(round), Group: settleGroup, Consumer: c.instance, MinIdle: idle, Start: from, Count: int64(count),
	}).Result()
	if err != nil {
		return nil, "", fmt.Errorf("claim stale entries of the outbox: %w", translateNoGroup(err))
	}
	return parseEntries(round, messages), next, nil
}

// Acknowledge marks entries as booked in the ledger. They are never delivered again, but stay in the stream.
func (c *Client) Acknowledge(ctx context.Context, round string, entries ...string) error {
	if err := c.redis.XAck(ctx, outboxKey(round), settleGroup, entries...).Err(); err != nil {
		return fmt.Errorf("acknowledge: %w", err)
	}
	return nil
}

func translateNoGroup(err error) error {
	if redis.HasErrorPrefix(err, "NOGROUP") {
		return errors.Join(game.ErrGone, err)
	}
	return err
}

func parseEntries(round string, messages []redis.XMessage) []game.Entry {
	entries := make([]game.Entry, len(messages))
	for i, message := range messages {
		entries[i] = parseEntry(round, message)
	}
	return entries
}

func parseEntry(round string, message redis.XMessage) game.Entry {
	entry, err := decodeEntry(round, message.Values)
	if err != nil {
		entry = game.Entry{Fault: err.Error(), Raw: encodeRaw(message.Values)}
	}
	entry.ID = message.ID
	return entry
}

// encodeRaw encodes the fields of an entry that does not parse as JSON.
func encodeRaw(values map[string]any) string {
	raw, err := json.Marshal(values)
	if err != nil {
		return fmt.Sprint(values)
	}
	return string(raw)
}

// ReadRaw returns the fields of one outbox entry as JSON. game.ErrNotFound: there is none with this id.
func (c *Client) ReadRaw(ctx context.Context, round, id string) (string, error) {
	messages, err := c.redis.XRange(ctx, outboxKey(round), id, id).Result()
	if err != nil {
		return "", fmt.Errorf("read an entry of the outbox: %w", err)
	}
	if len(messages) == 0 {
		return "", fmt.Errorf("read an entry of the outbox: %w", game.ErrNotFound)
	}
	return encodeRaw(messages[0].Values), nil
}

// ParseRaw parses the fields of an outbox entry from JSON, as ReadRaw returns them and dead letters keep them.
func (*Client) ParseRaw(round, id, raw string) game.Entry {
	var values map[string]any
	if err := json.Unmarshal([]byte(raw), &values); err != nil {
		return game.Entry{ID: id, Raw: raw, Fault: "not JSON: " + err.Error()}
	}
	return parseEntry(round, redis.XMessage{ID: id, Values: values})
}

func decodeEntry(round string, values map[string]any) (game.Entry, error) {
	f := fields{values: values}
	kind, of, at := f.text("kind"), f.text("round"), game.Moment(f.number("at"))
	if f.err == nil && of != round {
		return game.Entry{}, fmt.Errorf("it is of round %q", of)
	}
	entry := game.Entry{At: at}
	switch kind {
	case "claims":
		claims, err := parseClaims(f.text("claims"))
		if err == nil {
			err = checkClaims(claims)
		}
		if err != nil {
			return game.Entry{}, err
		}
		entry.Claims = claims
	case "refund":
		entry.Refund = &game.Refund{
			Reason: game.CloseReason(f.text("reason")), At: at,
			Claimed: game.Total{Packets: int(f.number("claims")), Cents: game.Cents(f.number("claimed_cents"))},
			Cents:   game.Cents(f.number("refund_cents")),
		}
	default:
		return game.Entry{}, fmt.Errorf("it is of kind %q", kind)
	}
	return entry, f.err
}

// checkClaims rejects claims with values that grab.lua never grants and that the ledger may not be able to store.
func checkClaims(claims []game.Claim) error {
	for _, c := range claims {
		switch {
		case c.Player == "" || len(c.Player) > maxPlayerText:
			return fmt.Errorf("claim %d has a player's id of %d bytes", c.Number, len(c.Player))
		case c.Number < 1 || c.Number > game.MaxPackets || c.Cents < 1 || c.Cents > game.MaxTotal || c.Drop < 0:
			return fmt.Errorf("claim %d of %d cents for drop %d is out of bounds", c.Number, c.Cents, c.Drop)
		}
	}
	return nil
}

// fields reads the values of an entry. The first value that is missing, or is not a number, sets err.
type fields struct {
	values map[string]any
	err    error
}

func (f *fields) text(name string) string {
	text, ok := f.values[name].(string)
	if !ok && f.err == nil {
		f.err = fmt.Errorf("it has no %s", name)
	}
	return text
}

// number reads a decimal of 0 or more.
func (f *fields) number(name string) int64 {
	text := f.text(name)
	n, err := strconv.ParseInt(text, 10, 64)
	if (err != nil || n < 0) && f.err == nil {
		f.err = fmt.Errorf("its %s is %q", name, text)
	}
	return n
}

// Watermark returns, for one moment, what a round has granted and how far its outbox is delivered and acknowledged. game.ErrGone: no
// keys. game.ErrTorn: some keys, or the consumer group, are missing.
func (c *Client) Watermark(ctx context.Context, round string) (game.Watermark, error) {
	asked := time.Now()
	r, err := c.call(ctx, watermarkScript, allKeys(round), settleGroup)
	if err != nil {
		return game.Watermark{}, err
	}
	mark := game.Watermark{Now: c.updateClock(asked, r.integer())}
	phase := r.text()
	if len(r.items) == 0 {
		return game.Watermark{}, fmt.Errorf("watermark.lua: %w", missingKeysError(phase))
	}
	if mark.Phase = game.Raining; phase == "closed" {
		mark.Phase = game.Closed
	}
	mark.Frozen, mark.FreezeVersion = r.integer() == 1, r.integer()
	mark.Claimed = game.Total{Packets: int(r.integer()), Cents: game.Cents(r.integer())}
	mark.Rest, mark.Refunded = game.Cents(r.integer()), game.Cents(r.integer())
	mark.ExpiresAt = game.Moment(r.integer())
	mark.Last, mark.Delivered = r.text(), r.text()
	mark.Pending, mark.FirstPending = int(r.integer()), r.text()
	if r.err != nil || r.more() {
		return game.Watermark{}, fmt.Errorf("watermark.lua: %w", errBadReply)
	}
	return mark, nil
}

// SetFrozen sets the frozen flag in Redis to the round's; while it is set nothing is granted. It changes nothing if the round's
// FreezeVersion is lower than that in Redis, because then the round was read before a later freeze or release. game.ErrGone: no keys.
func (c *Client) SetFrozen(ctx context.Context, round game.Round) error {
	r, err := c.call(ctx, freezeScript, []string{stateKey(round.ID)}, boolArg(round.Frozen), round.FreezeVersion, roomChannel(round.Room))
	if err != nil {
		return err
	}
	switch status := r.text(); status {
	case "done", "older":
		return r.err
	case "gone":
		return fmt.Errorf("freeze.lua: %w", game.ErrGone)
	default:
		return fmt.Errorf("freeze.lua: status %q: %w", status, errBadReply)
	}
}

// boolArg encodes a bool for a script.
func boolArg(set bool) string {
	if set {
		return "1"
	}
	return "0"
}

// ExpireKeys gives the keys of a settled round their final time to live, and publishes a round event.
func (c *Client) ExpireKeys(ctx context.Context, round game.Round, lifetime time.Duration) error {
	_, err := c.call(ctx, expireScript, allKeys(round.ID), round.ID, lifetime.Milliseconds(), roomChannel(round.Room))
	return err
}

// RemoveIdleConsumers removes settlers from a round's consumer group that have been idle for so long and have nothing pending.
func (c *Client) RemoveIdleConsumers(ctx context.Context, round string, idle time.Duration) (int, error) {
	r, err := c.call(ctx, removeConsumersScript, []string{outboxKey(round)}, settleGroup, idle.Milliseconds())
	if err != nil {
		return 0, err
	}
	return int(r.integer()), r.err
}
