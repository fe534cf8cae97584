package rdb

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"redrain/internal/game"
)

func TestMain(m *testing.M) {
	LogDriver(slog.New(slog.DiscardHandler))
	goleak.VerifyTestMain(m)
}

// fixture is a client of one server for one test. While now is set, scripts get it as Redis' time, so a test can set
// Redis' clock to the millisecond. Every call is checked against the names that the script declares.
type fixture struct {
	*Client
	t   testing.TB
	now atomic.Int64 // ms; 0: the server's own time
}

func newFixture(t testing.TB, url string) *fixture {
	t.Helper()
	client, err := Dial(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Disconnect() })
	r := &fixture{Client: client, t: t}
	client.redis.AddHook(clockHook{r})
	return r
}

// clockHook puts a redis table of its own in front of each script.
type clockHook struct{ fixture *fixture }

// timeTable answers TIME with a constant and passes on everything else. The microseconds make a script that rounds wrong.
const timeTable = `local redis = {sha1hex = redis.sha1hex, pcall = redis.pcall, call = function(command, ...)
  if command == 'TIME' then return {'%d', '%06d'} end
  return redis.call(command, ...)
end}
`

func (h clockHook) DialHook(next redis.DialHook) redis.DialHook { return next }

func (h clockHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (h clockHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if cmd.Name() == "evalsha" {
			args := cmd.Args()
			s := h.check(args)
			if now := h.fixture.now.Load(); now != 0 {
				args[0], args[1] = "eval", fmt.Sprintf(timeTable, now/1000, now%1000*1000+999)+s.whole
			}
		}
		return next(ctx, cmd)
	}
}

// check finds the script of a call, and counts its keys and arguments.
func (h clockHook) check(args []any) script {
	at := slices.IndexFunc(allScripts, func(s script) bool { return s.run.Hash() == args[1] })
	if at < 0 {
		h.fixture.t.Errorf("a script that is not in allScripts was called")
		return script{}
	}
	s := allScripts[at]
	keys, names := len(strings.Fields(s.keys)), len(strings.Fields(s.args))
	given := len(args) - 3 - keys
	if strings.HasSuffix(s.args, "...") {
		names = given - given%2 // a batch, a channel, and pairs
	}
	if args[2] != keys || given != names {
		h.fixture.t.Errorf("%s.lua got %v keys and %d arguments: %v", s.name, args[2], given, args[2:])
	}
	return s
}

// fixedSecret is a secret that is the same in every run.
func fixedSecret(n int) game.Secret {
	sum := sha256.Sum256([]byte(strconv.Itoa(n)))
	return game.Secret(hex.EncodeToString(sum[:]))
}

// newRound is a round of 20 packets of 100.00 in all, which starts at once and lasts 30 s, unless edit says otherwise.
func newRound(t testing.TB, edit func(*game.Settings)) game.Round {
	t.Helper()
	s := game.DefaultSettings()
	s.Total, s.Packets, s.Pace, s.Countdown = 10_000, 20, game.PaceBurst, 0
	if edit != nil {
		edit(&s)
	}
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	return game.Round{ID: uuid.NewString(), Room: "R" + uuid.NewString()[:5], Settings: s, Secret: fixedSecret(1)}
}

func dealtEqual(s *game.Settings) { s.Split, s.Deal = game.SplitDealt, game.DealEqual }

// amountsOf are the amounts to open a round with.
func amountsOf(round game.Round) []game.Cents {
	if round.Settings.Split == game.SplitDealt {
		return game.DealtAmounts(round.Settings, round.Secret)
	}
	return nil
}

// open opens the round and stops Redis' clock at its start.
func (r *fixture) open(round game.Round) game.Standing {
	r.t.Helper()
	standing, err := r.Open(r.t.Context(), round, amountsOf(round))
	if err != nil {
		r.t.Fatal(err)
	}
	r.now.Store(int64(standing.StartsAt))
	return standing
}

// started opens a new round with edited settings.
func (r *fixture) started(edit func(*game.Settings)) game.Round {
	r.t.Helper()
	round := newRound(r.t, edit)
	r.open(round)
	return round
}

// taps reads 'ann1 bob2': players' names, each with the number of a drop at its end.
func taps(text string) []game.Tap {
	var all []game.Tap
	for word := range strings.FieldsSeq(text) {
		at := len(strings.TrimRight(word, "0123456789"))
		drop, err := strconv.Atoi(word[at:])
		if err != nil {
			panic(err)
		}
		all = append(all, game.Tap{Player: strings.TrimSuffix(word[:at], "!"), Drop: game.DropID(drop), Bomb: strings.HasSuffix(word[:at], "!")})
	}
	return all
}

// crowd is one tap each of n players, who are called prefix0, prefix1, ….
func crowd(prefix string, n int, drop game.DropID) []game.Tap {
	all := make([]game.Tap, n)
	for i := range all {
		all[i] = game.Tap{Player: prefix + strconv.Itoa(i), Drop: drop}
	}
	return all
}

func (r *fixture) grab(round game.Round, batch []game.Tap) game.Grabbed {
	r.t.Helper()
	grabbed, err := r.Grab(r.t.Context(), round.Room, round.ID, r.NewBatch(), batch)
	if err != nil {
		r.t.Fatal(err)
	}
	return grabbed
}

// expect grabs and compares the outcomes, which it returns with their cents.
func (r *fixture) expect(round game.Round, batch string, outcomes ...game.Outcome) game.Grabbed {
	r.t.Helper()
	grabbed := r.grab(round, taps(batch))
	for i, answer := range grabbed.Answers {
		if i >= len(outcomes) || answer.Outcome != outcomes[i] {
			r.t.Fatalf("taps %q came to %v, want %v", batch, grabbed.Answers, outcomes)
		}
	}
	return grabbed
}

func (r *fixture) close(round game.Round, reason game.CloseReason) game.Standing {
	r.t.Helper()
	standing, err := r.Close(r.t.Context(), round, reason)
	if err != nil {
		r.t.Fatal(err)
	}
	return standing
}

// at moves Redis' clock to ms after the start of a round.
func (r *fixture) at(round game.Round, ms int64) {
	r.t.Helper()
	standing, err := r.Standing(r.t.Context(), round.ID)
	if err != nil {
		r.t.Fatal(err)
	}
	r.now.Store(int64(standing.StartsAt) + ms)
}

// freeze sets the flag as an operator's intervention will.
func (r *fixture) freeze(round game.Round) {
	r.t.Helper()
	if err := r.redis.HSet(r.t.Context(), stateKey(round.ID), "frozen", "1").Err(); err != nil {
		r.t.Fatal(err)
	}
}

// contents is everything that the server holds, as text by key, to compare before and after.
func (r *fixture) contents() map[string]string {
	r.t.Helper()
	all := make(map[string]string)
	for _, key := range r.allKeys() {
		all[key] = fmt.Sprint(r.contentOf(key))
	}
	return all
}

func (r *fixture) allKeys() []string {
	r.t.Helper()
	keys, err := r.redis.Keys(r.t.Context(), "*").Result()
	if err != nil {
		r.t.Fatal(err)
	}
	return keys
}

func (r *fixture) contentOf(key string) (content any, err error) {
	ctx := r.t.Context()
	kind, err := r.redis.Type(ctx, key).Result()
	if err != nil {
		return nil, err
	}
	switch kind {
	case "hash":
		return r.redis.HGetAll(ctx, key).Result() // fmt prints maps in the order of their keys
	case "list":
		return r.redis.LRange(ctx, key, 0, -1).Result()
	case "zset":
		return r.redis.ZRangeWithScores(ctx, key, 0, -1).Result()
	case "stream":
		return r.redis.XRange(ctx, key, "-", "+").Result()
	default:
		return r.redis.Get(ctx, key).Result()
	}
}

// unsettled reads the outbox as the settler's group would: every entry that was delivered to nobody yet, as field and value.
func (r *fixture) unsettled(round game.Round) []map[string]any {
	r.t.Helper()
	streams, err := r.redis.XReadGroup(r.t.Context(), &redis.XReadGroupArgs{
		Group: settleGroup, Consumer: "test", Streams: []string{outboxKey(round.ID), ">"}, Count: 1000, Block: -1,
	}).Result()
	if err != nil && err != redis.Nil { //nolint:errorlint // go-redis returns it bare
		r.t.Fatal(err)
	}
	var entries []map[string]any
	for _, stream := range streams {
		for _, entry := range stream.Messages {
			entries = append(entries, entry.Values)
		}
	}
	return entries
}

// soon bounds what a test waits for.
const soon = 10 * time.Second
