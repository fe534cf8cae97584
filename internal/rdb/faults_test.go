package rdb

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"redrain/internal/game"
	"redrain/internal/testkit"
)

// scriptCall is one script through its method of Client, with the keys that it touches for a round with claims.
type scriptCall struct {
	keys map[string]string // by name
	run  func(ctx context.Context, r *fixture, round game.Round) error
}

func scriptCalls(round game.Round) map[string]scriptCall {
	ofRound := func(names string) map[string]string {
		keys := make(map[string]string)
		for name := range strings.FieldsSeq(names) {
			keys[name] = roundKey(round.ID, name)
		}
		return keys
	}
	return map[string]scriptCall{
		"open": {ofRound("state"), func(ctx context.Context, r *fixture, round game.Round) error {
			_, err := r.Open(ctx, round, nil)
			return err
		}},
		"grab": {ofRound(grabScript.keys), func(ctx context.Context, r *fixture, round game.Round) error {
			_, err := r.Grab(ctx, round.Room, round.ID, r.NewBatch(), taps("ann3 zoe1"))
			return err
		}},
		"close": {ofRound("state outbox amounts"), func(ctx context.Context, r *fixture, round game.Round) error {
			_, err := r.Close(ctx, round, game.Stopped)
			return err
		}},
		"snapshot": {ofRound("state board outbox amounts"), func(ctx context.Context, r *fixture, round game.Round) error {
			_, err := r.Snapshot(ctx, round.ID, 10, 10)
			return err
		}},
		"report": {
			map[string]string{
				"lease": leaseKey(round.Room), "reports": reportsKey(round.Room), "presence": presenceKey(round.Room),
			},
			func(ctx context.Context, r *fixture, round game.Round) error {
				_, err := r.Report(ctx, round.Room, game.Report{Round: round.ID, Online: 2, Taps: 5}, time.Second)
				return err
			},
		},
	}
}

// busyRound has claims, in a List of amounts, and a lease.
func busyRound(r *fixture) game.Round {
	round := r.started(func(s *game.Settings) { dealtEqual(s); s.Cap = 3 })
	r.expect(round, "ann1 bob1 ann2", game.Won, game.Won, game.Won)
	if _, err := r.Report(r.t.Context(), round.Room, game.Report{Round: round.ID}, time.Second); err != nil {
		r.t.Fatal(err)
	}
	return round
}

// A script must check key types before its first write: a failure after it would take a packet without a claim. The error says what
// is wrong.
func TestKeyOfTheWrongTypeChangesNothing(t *testing.T) {
	t.Parallel()
	testkit.EachRedis(t, func(t *testing.T, url string) {
		r := newFixture(t, url)
		for name, call := range scriptCalls(busyRound(r)) {
			for part := range call.keys {
				t.Run(name+" "+part, func(t *testing.T) { wrongType(t, r, name, part) })
			}
		}
	})
}

func wrongType(t *testing.T, r *fixture, name, part string) {
	round := busyRound(r)
	call := scriptCalls(round)[name]
	if err := r.redis.Set(t.Context(), call.keys[part], "of the wrong type", time.Hour).Err(); err != nil {
		t.Fatal(err)
	}
	before := r.contents()
	err := call.run(t.Context(), r, round)
	if err == nil || !strings.Contains(err.Error(), name+".lua: WRONGTYPE ") {
		t.Fatalf("error is %v", err)
	}
	if strings.Contains(err.Error(), "traceback") {
		t.Errorf("%v: has a stack trace", err)
	}
	if !NothingDone(err) {
		t.Errorf("%v: is not known to have done nothing", err)
	}
	same(t, before, r.contents())
}

// A Redis out of memory refuses the first write of a script, so that no script is left half done.
func TestRedisOutOfMemoryChangesNothing(t *testing.T) {
	t.Parallel()
	r := newFixture(t, testkit.Redis(t).URL)
	round := busyRound(r)
	setMemory := func(limit string) {
		if err := r.redis.ConfigSet(t.Context(), "maxmemory", limit).Err(); err != nil {
			t.Fatal(err)
		}
	}
	calls := scriptCalls(round)
	calls["open anew"] = scriptCall{run: func(ctx context.Context, r *fixture, _ game.Round) error {
		_, err := r.Open(ctx, newRound(t, nil), nil)
		return err
	}}
	for _, name := range []string{"grab", "close", "report", "open anew"} {
		setMemory("1")
		before := r.contents()
		err := calls[name].run(t.Context(), r, round)
		if err == nil || !strings.Contains(err.Error(), "OOM") || !NothingDone(err) {
			t.Errorf("%s: error is %v, nothing done: %t", name, err, NothingDone(err))
		}
		same(t, before, r.contents())
		r.expect(round, "ann1", game.Duplicate) // what needs no memory goes on
		setMemory("0")
	}
	r.expect(round, "ann3 zoe1", game.Won, game.Won)
	if closed := r.close(round, game.Stopped); closed.Left.Packets != 15 {
		t.Errorf("left %v, want 15 packets", closed.Left)
	}
}

func TestNothingDoneNeedsARefusalByRedis(t *testing.T) {
	t.Parallel()
	r := newFixture(t, testkit.Redis(t).URL)
	half := r.redis.Eval(t.Context(), "redis.call('SET', KEYS[1], 1) return redis.call('NOSUCH')", []string{"k"}).Err()
	for _, err := range []error{nil, half, context.DeadlineExceeded, redis.Nil, game.ErrBusy} {
		if NothingDone(fmt.Errorf("wrapped: %w", err)) {
			t.Errorf("%v: is said to have done nothing", err)
		}
	}
}

// After a SCRIPT FLUSH Redis replies NOSCRIPT, and the client must send the script again.
func TestScriptFlushInTheMiddleOfARoundFailsNoGrab(t *testing.T) {
	t.Parallel()
	testkit.EachRedis(t, func(t *testing.T, url string) {
		r := newFixture(t, url)
		round := r.started(nil)
		r.now.Store(0) // the real thing: EVALSHA, and EVAL when the script is not there
		for drop := range game.DropID(5) {
			if err := r.redis.ScriptFlush(t.Context()).Err(); err != nil {
				t.Fatal(err)
			}
			if n := count(r.grab(round, crowd(fmt.Sprintf("p%d-", drop), 4, drop))); n[game.Won] != 4 {
				t.Errorf("outcomes %v", n)
			}
		}
	})
}

// Redis may refuse PUBLISH (by ACL) without failing a grab: instances catch up without the message.
func TestRefusedPublishFailsNothing(t *testing.T) {
	t.Parallel()
	server := testkit.Redis(t)
	r := newFixture(t, server.URL)
	err := r.redis.Do(t.Context(), "ACL", "SETUSER", "mute", "on", "nopass", "allkeys", "+@all", "resetchannels").Err()
	if err != nil {
		t.Fatal(err)
	}
	mute := newFixture(t, "redis://mute:any@"+server.Addr)
	round := mute.started(nil)
	mute.expect(round, "ann1 ann1", game.Won, game.Duplicate)
	if entries := mute.unsettled(round); len(entries) != 1 {
		t.Errorf("the outbox has %v", entries)
	}
	if closed := mute.close(round, game.Stopped); closed.Phase != game.Closed {
		t.Errorf("the round is %s", closed.Phase)
	}
	if err := mute.PublishTally(t.Context(), round.Room, []byte("{}")); err == nil {
		t.Error("this user may publish after all, so the test shows nothing")
	}
}
