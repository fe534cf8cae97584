package rdb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"redrain/internal/game"
)

// boardSize is how many players the board holds, as in grab.lua.
const boardSize = 100

// Repair restores the keys of a round that Redis has lost, from those that it still has, and returns their names. Every claim is both
// in the claims Hash and in the outbox, and all other keys follow from the claims and from the round in the ledger. Nothing is
// granted while keys are missing, and any number of processes may repair at once. A restored outbox has all claims again, not
// acknowledged; booking those that are booked already changes nothing.
//
// game.ErrTorn: the keys left are not enough, or contradict each other. game.ErrGone: none is left. It holds all claims of the
// round in memory, about 100 bytes each.
func (c *Client) Repair(ctx context.Context, round game.Round) (restored []string, err error) {
	r := &repair{Client: c, round: round}
	if err := r.read(ctx); err != nil {
		return nil, fmt.Errorf("repair round %s: %w", round.ID, err)
	}
	for _, part := range r.missing() {
		if err := part.restore(ctx); err != nil {
			return restored, fmt.Errorf("restore the %s of round %s: %w", part.name, round.ID, err)
		}
		restored = append(restored, part.name)
	}
	if len(restored) > 0 {
		err = c.redis.Publish(ctx, roomChannel(round.Room), "round "+round.ID).Err()
	}
	return restored, err
}

// repair is one repair of a round's keys.
type repair struct {
	*Client
	round game.Round

	state                                    map[string]string
	hasState, hasClaims, hasBoard, hasOutbox bool
	amounts                                  int64 // in the List
	grouped                                  bool
	claims                                   []game.Claim // by their numbers
	refund                                   *game.Refund // of a closed round
	packetsLeft                              int
	rest, refunded                           game.Cents
}

// missingKey is one key to restore, or the consumer group.
type missingKey struct {
	name    string
	restore func(context.Context) error
}

// missing lists what to restore, in an order in which each finds what it depends on.
func (r *repair) missing() []missingKey {
	claimed := len(r.claims) > 0
	var parts []missingKey
	add := func(missing bool, name string, restore func(context.Context) error) {
		if missing {
			parts = append(parts, missingKey{name, restore})
		}
	}
	add(!r.hasState, "state", r.restoreState)
	add(claimed && !r.hasClaims, "claims", r.restoreClaims)
	add(claimed && !r.hasBoard, "board", r.restoreBoard)
	add(!r.hasOutbox, "outbox", r.restoreOutbox)
	add(r.hasOutbox && !r.grouped, "group", r.restoreGroup)
	add(r.round.Settings.Split == game.SplitDealt && r.packetsLeft > 0 && r.amounts == 0, "amounts", r.restoreAmounts)
	return parts
}

// read reads which keys are there, and what the round has granted.
func (r *repair) read(ctx context.Context) error {
	if err := r.readKeys(ctx); err != nil {
		return err
	}
	if !r.hasState && !r.hasClaims && !r.hasOutbox {
		return game.ErrGone
	}
	var held, sent []game.Claim
	var err error
	if r.hasClaims {
		if held, err = r.readClaims(ctx); err != nil {
			return err
		}
	}
	if r.hasOutbox {
		if sent, err = r.readOutbox(ctx); err != nil {
			return err
		}
	}
	r.claims = held
	if !r.hasClaims {
		r.claims = sent
	}
	if r.hasState {
		return r.checkState()
	}
	return r.deduceState(held, sent)
}

func (r *repair) readKeys(ctx context.Context) error {
	id := r.round.ID
	var state *redis.MapStringStringCmd
	var found []*redis.IntCmd
	_, err := r.redis.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		state = pipe.HGetAll(ctx, stateKey(id))
		for _, key := range []string{claimsKey(id), boardKey(id), outboxKey(id)} {
			found = append(found, pipe.Exists(ctx, key))
		}
		found = append(found, pipe.LLen(ctx, amountsKey(id)))
		return nil
	})
	if err != nil {
		return fmt.Errorf("read its keys: %w", err)
	}
	r.state, r.hasState = state.Val(), len(state.Val()) > 0
	r.hasClaims, r.hasBoard, r.hasOutbox = found[0].Val() == 1, found[1].Val() == 1, found[2].Val() == 1
	r.amounts = found[3].Val()
	if !r.hasOutbox {
		return nil
	}
	groups, err := r.redis.XInfoGroups(ctx, outboxKey(id)).Result()
	if err != nil {
		return fmt.Errorf("read the groups of its outbox: %w", err)
	}
	r.grouped = slices.ContainsFunc(groups, func(g redis.XInfoGroup) bool { return g.Name == settleGroup })
	return nil
}

// readClaims reads the whole claims Hash.
func (r *repair) readClaims(ctx context.Context) ([]game.Claim, error) {
	var claims []game.Claim
	for cursor := uint64(0); ; {
		fields, next, err := r.redis.HScan(ctx, claimsKey(r.round.ID), cursor, "", claimsChunk).Result()
		if err != nil {
			return nil, fmt.Errorf("read its claims: %w", err)
		}
		for i := 0; i+1 < len(fields); i += 2 {
			held, err := parseHeldClaims(fields[i], fields[i+1])
			if err != nil {
				return nil, errors.Join(game.ErrTorn, err)
			}
			claims = append(claims, held...)
		}
		if cursor = next; cursor == 0 {
			return sortByNumber(claims), nil
		}
	}
}

// readOutbox reads all of the outbox: its claims, and the refund if there is one.
func (r *repair) readOutbox(ctx context.Context) ([]game.Claim, error) {
	var claims []game.Claim
	for from := "-"; ; {
		messages, err := r.redis.XRangeN(ctx, outboxKey(r.round.ID), from, "+", claimsChunk).Result()
		if err != nil {
			return nil, fmt.Errorf("read its outbox: %w", err)
		}
		for _, entry := range parseEntries(r.round.ID, messages) {
			claims = append(claims, entry.Claims...)
			if entry.Refund != nil {
				r.refund = entry.Refund
			}
		}
		if len(messages) < claimsChunk {
			return sortByNumber(claims), nil
		}
		from = "(" + messages[len(messages)-1].ID
	}
}

// sortByNumber sorts claims by their numbers; one that a Hash showed twice while it was read counts once.
func sortByNumber(claims []game.Claim) []game.Claim {
	slices.SortFunc(claims, func(a, b game.Claim) int { return a.Number - b.Number })
	return slices.Compact(claims)
}

// checkState compares the claims with what was granted according to the state.
func (r *repair) checkState() error {
	number := func(field string) int64 {
		n, err := strconv.ParseInt(r.state[field], 10, 64)
		if err != nil {
			return -1
		}
		return n
	}
	r.packetsLeft = int(number("left"))
	r.rest, r.refunded = game.Cents(number("rest")), game.Cents(number("refunded"))
	granted := game.Total{
		Packets: r.round.Settings.Packets - r.packetsLeft, Cents: r.round.Settings.Total - r.rest - r.refunded,
	}
	if r.state["phase"] == "closed" && r.refund == nil {
		r.refund = &game.Refund{Reason: game.CloseReason(r.state["reason"]), At: r.Now(), Claimed: granted, Cents: r.refunded}
	}
	return r.checkGranted(granted)
}

// deduceState works out the lost state. It needs both claims and outbox, with the same claims in them.
func (r *repair) deduceState(held, sent []game.Claim) error {
	if !r.hasOutbox || !slices.Equal(held, sent) || r.round.StartsAt == 0 {
		return game.ErrTorn
	}
	granted := game.Total{Packets: len(held)}
	for _, claim := range held {
		granted.Cents += claim.Cents
	}
	r.packetsLeft = r.round.Settings.Packets - granted.Packets
	r.rest = r.round.Settings.Total - granted.Cents
	if r.refund != nil {
		r.rest, r.refunded = 0, r.rest
	}
	return r.checkGranted(granted)
}

// checkGranted returns game.ErrTorn unless the claims are all that was granted, numbered without a gap.
func (r *repair) checkGranted(granted game.Total) error {
	var sum game.Cents
	for i, claim := range r.claims {
		if claim.Number != i+1 {
			return fmt.Errorf("%w: claim %d is missing", game.ErrTorn, i+1)
		}
		sum += claim.Cents
	}
	if len(r.claims) != granted.Packets || sum != granted.Cents {
		return fmt.Errorf("%w: %d claims of %d cents are left, and %d of %d were granted",
			game.ErrTorn, len(r.claims), sum, granted.Packets, granted.Cents)
	}
	return nil
}

// restoreState makes the Hash that open.lua made, as it stands now.
func (r *repair) restoreState(ctx context.Context) error {
	s := r.round.Settings
	phase, reason := "open", ""
	if r.refund != nil {
		phase, reason = "closed", string(r.refund.Reason)
	}
	expires := int64(r.round.EndsAt) + lifetime.Milliseconds()
	staged := stagedKey(r.round.ID, uuid.NewString())
	_, err := r.redis.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
		pipe.HSet(ctx, staged, "round", r.round.ID, "phase", phase, "reason", reason, "frozen", boolArg(r.round.Frozen),
			"freeze_version", r.round.FreezeVersion, "starts_at", int64(r.round.StartsAt), "ends_at", int64(r.round.EndsAt),
			"expires_at", expires, "total", int64(s.Total), "packets", s.Packets, "left", r.packetsLeft, "rest", int64(r.rest),
			"refunded", int64(r.refunded), "min", int64(s.Min), "max", int64(s.Max), "split", string(s.Split), "pace", string(s.Pace),
			"duration_ms", int64(s.Duration), "cap", s.Cap, "secret", string(r.round.Secret),
			"drops_per_second", s.DropsPerSecond, "drop_life_ms", int64(game.DropStays+game.DropGrace))
		pipe.PExpireAt(ctx, staged, time.UnixMilli(expires))
		return nil
	})
	if err != nil {
		return err //nolint:wrapcheck // the caller says what it was for
	}
	kept, err := r.redis.RenameNX(ctx, staged, stateKey(r.round.ID)).Result()
	if err == nil && !kept { // somebody else restored it
		err = r.redis.Del(ctx, staged).Err()
	}
	return err //nolint:wrapcheck // as above
}

func (r *repair) restoreClaims(ctx context.Context) error {
	type holding struct {
		count int
		total game.Cents
		text  strings.Builder
	}
	held := make(map[string]*holding)
	for _, claim := range r.claims {
		h := held[claim.Player]
		if h == nil {
			h = new(holding)
			held[claim.Player] = h
		}
		h.count++
		h.total += claim.Cents
		fmt.Fprintf(&h.text, " %d:%d:%d", claim.Drop, int64(claim.Cents), claim.Number)
	}
	fields := make([]any, 0, 2*len(held))
	for player, h := range held {
		fields = append(fields, player, fmt.Sprintf("%d %d%s", h.count, int64(h.total), h.text.String()))
	}
	return r.restore(ctx, claimsKey(r.round.ID), len(fields)/2, func(pipe redis.Pipeliner, staged string, from, to int) {
		pipe.HSet(ctx, staged, fields[2*from:2*to]...)
	})
}

// restoreBoard restores the best players, by their totals and then by the claims that reached them.
func (r *repair) restoreBoard(ctx context.Context) error {
	ranks := make(map[string]*game.Rank)
	for _, claim := range r.claims {
		rank := ranks[claim.Player]
		if rank == nil {
			rank = &game.Rank{Player: claim.Player}
			ranks[claim.Player] = rank
		}
		rank.Cents += claim.Cents
		rank.Number = claim.Number
	}
	rows := make([]redis.Z, 0, len(ranks))
	for _, rank := range ranks {
		rows = append(rows, redis.Z{Score: -float64(rank.Cents), Member: fmt.Sprintf("%07d:%s", rank.Number, rank.Player)})
	}
	slices.SortFunc(rows, func(a, b redis.Z) int {
		if a.Score != b.Score {
			return int(a.Score - b.Score)
		}
		return strings.Compare(a.Member.(string), b.Member.(string)) //nolint:forcetypeassert // made above
	})
	rows = rows[:min(len(rows), boardSize)]
	return r.restore(ctx, boardKey(r.round.ID), len(rows), func(pipe redis.Pipeliner, staged string, from, to int) {
		pipe.ZAdd(ctx, staged, rows[from:to]...)
	})
}

// restoreOutbox writes all claims again in entries as grab.lua makes them, and the refund of a closed round.
func (r *repair) restoreOutbox(ctx context.Context) error {
	at := int64(r.Now())
	var entries [][]any
	for some := range slices.Chunk(r.claims, MaxBatch) {
		rows := make([]string, len(some))
		for i, claim := range some {
			rows[i] = fmt.Sprintf("%s %d %d %d", claim.Player, claim.Drop, int64(claim.Cents), claim.Number)
		}
		entries = append(entries, []any{"kind", "claims", "round", r.round.ID, "at", at, "claims", strings.Join(rows, ";")})
	}
	if f := r.refund; f != nil {
		entries = append(entries, []any{"kind", "refund", "round", r.round.ID, "at", int64(f.At), "reason", string(f.Reason),
			"claims", f.Claimed.Packets, "claimed_cents", int64(f.Claimed.Cents), "refund_cents", int64(f.Cents)})
	}
	return r.restore(ctx, outboxKey(r.round.ID), len(entries), func(pipe redis.Pipeliner, staged string, from, to int) {
		if from == 0 {
			pipe.XGroupCreateMkStream(ctx, staged, settleGroup, "0")
		}
		for _, values := range entries[from:to] {
			pipe.XAdd(ctx, &redis.XAddArgs{Stream: staged, Values: values})
		}
	})
}

// restoreGroup makes the group of settlers again, from the beginning of the stream.
func (r *repair) restoreGroup(ctx context.Context) error {
	err := r.redis.XGroupCreate(ctx, outboxKey(r.round.ID), settleGroup, "0").Err()
	if redis.HasErrorPrefix(err, "BUSYGROUP") { // somebody else made it
		return nil
	}
	return err //nolint:wrapcheck // the caller says what it was for
}

// restoreAmounts deals the amounts again from the round's secret, and leaves out those that were won.
func (r *repair) restoreAmounts(ctx context.Context) error {
	amounts := game.DealtAmounts(r.round.Settings, r.round.Secret)[len(r.claims):]
	var sum game.Cents
	for _, amount := range amounts {
		sum += amount
	}
	if sum != r.rest+r.refunded {
		return fmt.Errorf("%w: the amounts left are %d cents, and not %d", game.ErrTorn, sum, r.rest+r.refunded)
	}
	return r.restore(ctx, amountsKey(r.round.ID), len(amounts), func(pipe redis.Pipeliner, staged string, from, to int) {
		values := make([]any, 0, to-from)
		for _, amount := range amounts[from:to] {
			values = append(values, int64(amount))
		}
		pipe.RPush(ctx, staged, values...)
	})
}

// restore fills a staged key in chunks, and puts it in the place of the lost one in one step. A first chunk comes together with
// the key's time to live; there is one even if there is nothing to fill in.
func (r *repair) restore(ctx context.Context, target string, count int, fill func(pipe redis.Pipeliner, staged string, from, to int)) error {
	staged := stagedKey(r.round.ID, uuid.NewString())
	for from := 0; from == 0 || from < count; from += stageChunk {
		_, err := r.redis.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
			fill(pipe, staged, from, min(from+stageChunk, count))
			pipe.PExpire(ctx, staged, stageLifetime)
			return nil
		})
		if err != nil {
			return err //nolint:wrapcheck // the caller says what it was for
		}
	}
	reply, err := r.call(ctx, restoreScript, []string{stateKey(r.round.ID), target, staged}, r.packetsLeft)
	if err != nil {
		return err
	}
	if status := reply.text(); status == "changed" || reply.err != nil {
		return fmt.Errorf("%w: the round has changed since it was read", game.ErrBusy)
	}
	return nil
}
