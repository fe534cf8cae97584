package rdb

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"redrain/internal/game"
)

// spy runs a script with a table of its own in front, which notes every command and its key.
const spy = `
local calls, server = {}, redis
local function note(call) return function(...)
  local command, first, second = ...
  calls[#calls + 1] = command .. ' ' .. tostring(first) .. ' ' .. tostring(second)
  return call(...)
end end
local redis = {sha1hex = server.sha1hex, call = note(server.call), pcall = note(server.pcall)}
local reply = (function()
%s
end)()
return {reply, calls}`

// spied returns the raw reply of a script and the commands that it ran, each with its key.
func (r *fixture) spied(ctx context.Context, s script, keys []string, args ...any) (reply []any, calls [][]string) {
	r.t.Helper()
	both, err := r.redis.Eval(ctx, fmt.Sprintf(spy, s.whole), keys, args...).Slice()
	if err != nil {
		r.t.Fatal(err)
	}
	for _, call := range both[1].([]any) {
		calls = append(calls, strings.SplitN(call.(string), " ", 3))
	}
	return both[0].([]any), calls
}

func grabArgs(round game.Round, batch []game.Tap) (keys []string, args []any) {
	args = []any{"batch", roomChannel(round.Room)}
	for _, tap := range batch {
		args = append(args, tap.Player, strconv.Itoa(int(tap.Drop)))
	}
	for name := range strings.FieldsSeq(grabScript.keys) {
		keys = append(keys, roundKey(round.ID, name))
	}
	return keys, args
}

// commandsOf are the commands without their arguments, sorted.
func commandsOf(calls [][]string) []string {
	names := make([]string, len(calls))
	for i, call := range calls {
		names[i] = call[0]
	}
	slices.Sort(names)
	return names
}

func TestTheNumberOfCommandsDoesNotDependOnTheBatch(t *testing.T) {
	t.Parallel()
	eachSplit(t, func(r *fixture, split func(*game.Settings)) {
		var want []string
		for _, size := range []int{1, 2, MaxBatch} {
			round := newRound(r.t, func(s *game.Settings) { split(s); s.Packets = 1000 })
			r.open(round)
			keys, args := grabArgs(round, crowd("p", size, 1))
			_, calls := r.spied(r.t.Context(), grabScript, keys, args...)
			if got := commandsOf(calls); want == nil {
				want = got
			} else if !slices.Equal(got, want) {
				r.t.Errorf("%d taps took %v, one took %v", size, got, want)
			}
			atMostOneWrite(r.t, round, calls)
			ownKeys(r.t, keys, calls)

			keys, args = grabArgs(round, crowd("p", size, 2))
			_, calls = r.spied(r.t.Context(), grabScript, keys, args...)
			if got := commandsOf(calls); slices.Contains(got, "HSET") || len(got) > 4 {
				r.t.Errorf("%d losing taps took %v", size, got)
			}
		}
	})
}

func atMostOneWrite(t testing.TB, round game.Round, calls [][]string) {
	t.Helper()
	writes := make(map[string]int)
	for _, call := range calls {
		writes[call[0]+" "+call[1]]++
	}
	for _, call := range []string{
		"HSET " + stateKey(round.ID), "HSET " + claimsKey(round.ID), "ZADD " + boardKey(round.ID), "XADD " + outboxKey(round.ID),
		"PUBLISH " + roomChannel(round.Room),
	} {
		if writes[call] != 1 {
			t.Errorf("%s was called %d times", call, writes[call])
		}
	}
	if n := writes["LPOP "+amountsKey(round.ID)]; (n == 1) != (round.Settings.Split == game.SplitDealt) {
		t.Errorf("LPOP was called %d times", n)
	}
	if last := calls[len(calls)-1]; last[0] != "PUBLISH" {
		t.Errorf("the last command is %s, not PUBLISH", last)
	}
}

// ownKeys fails unless every command goes to one of the script's KEYS.
func ownKeys(t testing.TB, keys []string, calls [][]string) {
	t.Helper()
	for _, call := range calls {
		key := call[1]
		if call[0] == "XGROUP" || call[0] == "XINFO" {
			key = strings.Fields(call[2])[0]
		}
		if call[0] != "TIME" && call[0] != "PUBLISH" && !slices.Contains(keys, key) {
			t.Errorf("%v goes to a key that is not in KEYS", call)
		}
	}
}

func TestOtherScriptsUseTheirOwnKeysAndReplyInIntegersAndStrings(t *testing.T) {
	t.Parallel()
	eachSplit(t, func(r *fixture, split func(*game.Settings)) {
		ctx := r.t.Context()
		round := newRound(r.t, split)
		staged := stagedKey(round.ID, "x")
		if err := r.stage(ctx, staged, amountsOf(round)); err != nil {
			r.t.Fatal(err)
		}
		s := round.Settings
		keysOf := func(s script) (keys []string) {
			for name := range strings.FieldsSeq(s.keys) {
				keys = append(keys, roundKey(round.ID, name))
			}
			return keys
		}
		keys := slices.Concat(keysOf(openScript)[:4], []string{staged})
		openArgs := []any{round.ID, "channel", settleGroup, 1_000_000, 0, 30_000, int64(s.Total), s.Packets, 1, 0, string(s.Split),
			string(s.Pace), 1, string(round.Secret), "0", 0, 8, 12_000}
		_, batch := grabArgs(round, taps("ann1 ann1 ann2 bob1"))
		roomKeys := []string{leaseKey("R"), reportsKey("R"), presenceKey("R")}
		report := func(instance string, online, leaseMS int, presence ...any) []any {
			return append([]any{instance, round.ID, online, 2, leaseMS, 3000, 60_000, "1 ann"}, presence...)
		}
		for _, run := range []struct {
			script
			keys []string
			args []any
		}{
			{openScript, keys, openArgs},
			{openScript, keys, openArgs},
			{closeScript, keysOf(closeScript), []any{"time", "channel", "0"}},
			{grabScript, keysOf(grabScript), batch},
			{snapshotScript, keysOf(snapshotScript), []any{10, 10}},
			{freezeScript, keysOf(freezeScript), []any{"1", 1, "channel"}},
			{freezeScript, keysOf(freezeScript), []any{"0", 0, "channel"}},
			{watermarkScript, keysOf(watermarkScript), []any{settleGroup}},
			{closeScript, keysOf(closeScript), []any{"stopped", "channel", "0"}},
			{closeScript, keysOf(closeScript), []any{"time", "channel", "1"}},
			{grabScript, keysOf(grabScript), batch},
			{snapshotScript, keysOf(snapshotScript), []any{0, 0}},
			{reportScript, roomKeys, report("a", 1, 1000, 0, 0, 0, 1, "", "")},
			{reportScript, roomKeys, report("a", 1, 1000, 1, 0, 1, 0, "ann", "")},
			{reportScript, roomKeys, report("b", 2, 1000, 0, 0, 0, 2, "", "")},
			{reportScript, roomKeys, report("b", 2, 1000, 2, 0, 1, 0, "ann bob", "")},
			{reportScript, roomKeys, report("b", 1, 1000, 2, 1, 2, 0, "", "bob")},
			{reportScript, roomKeys, report("b", 0, 0, 2, 2, 2, 0, "", "")},
			{sweepScript, roomKeys[2:], []any{"0", 1000}},
			{reportScript, roomKeys, report("a", 1, 0, 1, 1, 1, 0, "", "")},
		} {
			reply, calls := r.spied(ctx, run.script, run.keys, run.args...)
			ownKeys(r.t, run.keys, calls)
			plain(r.t, run.name, reply)
		}
	})
}

// plain fails unless the reply is of integers and strings.
func plain(t testing.TB, name string, reply []any) {
	t.Helper()
	if len(reply) == 0 {
		t.Errorf("%s.lua replies nothing", name)
	}
	for i, item := range reply {
		switch item.(type) {
		case int64, string:
		default:
			t.Errorf("%s.lua replies with %T %v at %d of %v", name, item, item, i, reply)
		}
	}
}
