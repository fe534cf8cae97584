package live

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"
	"go.uber.org/goleak"
	"golang.org/x/time/rate"

	"redrain/internal/game"
	"redrain/internal/testkit"
	"redrain/internal/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const code = "PARTY8"

// fakeClock is the estimate of Redis' clock. It is the bubble's clock plus step, by which it is wrong.
type fakeClock struct {
	spread int64
	step   atomic.Int64 // ms
}

func (c *fakeClock) Now() game.Moment { return now() + game.Moment(c.step.Load()) }
func (c *fakeClock) Spread() int64    { return c.spread }

// fakeCommitter keeps submitted taps until a test answers them.
type fakeCommitter struct {
	mu        sync.Mutex
	full      bool
	submitted []submittedTap
}

type submittedTap struct {
	round   string
	tap     game.Tap
	handler game.AnswerHandler
}

func (c *fakeCommitter) Submit(_, round string, tap game.Tap, handler game.AnswerHandler) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.full {
		return false
	}
	c.submitted = append(c.submitted, submittedTap{round, tap, handler})
	return true
}

// answerNext answers the oldest submitted tap.
func (c *fakeCommitter) answerNext(t *testing.T, answer game.Answer) {
	t.Helper()
	c.mu.Lock()
	if len(c.submitted) == 0 {
		t.Fatal("no tap was submitted")
	}
	oldest := c.submitted[0]
	c.submitted = c.submitted[1:]
	c.mu.Unlock()
	oldest.handler.HandleAnswer(oldest.tap, answer)
}

// answerRecorder is an answer handler that keeps all answers.
type answerRecorder struct {
	mu  sync.Mutex
	all []game.Answer
}

func (a *answerRecorder) HandleAnswer(_ game.Tap, answer game.Answer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all = append(a.all, answer)
}

// recordingClient is a client that keeps all frames that it was sent.
type recordingClient struct {
	mu     sync.Mutex
	frames []frame
}

type frame struct {
	kind       string
	text       []byte
	latestOnly bool
	at         time.Time
}

func (c *recordingClient) Send(text []byte)       { c.record(text, false) }
func (c *recordingClient) SendLatest(text []byte) { c.record(text, true) }

func (c *recordingClient) record(text []byte, latestOnly bool) {
	kind, _, _ := strings.Cut(strings.TrimPrefix(string(text), `{"type":"`), `"`)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.frames = append(c.frames, frame{kind, text, latestOnly, time.Now()})
}

func (c *recordingClient) all() []frame {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.frames)
}

// receivedMessages returns all messages of one type that a client was sent, in order.
func receivedMessages[M any](t *testing.T, m *recordingClient, kind string) []M {
	t.Helper()
	var all []M
	for _, f := range m.all() {
		if f.kind != kind {
			continue
		}
		var message M
		if err := json.Unmarshal(f.text, &message, json.RejectUnknownMembers(true)); err != nil {
			t.Fatalf("%s: %v", f.text, err)
		}
		all = append(all, message)
	}
	return all
}

func welcomes(t *testing.T, m *recordingClient) []wire.Welcome {
	return receivedMessages[wire.Welcome](t, m, "welcome")
}
func roundChanges(t *testing.T, m *recordingClient) []wire.RoundChanged {
	return receivedMessages[wire.RoundChanged](t, m, "round")
}
func claimMessages(t *testing.T, m *recordingClient) []wire.ClaimMade {
	return receivedMessages[wire.ClaimMade](t, m, "claim")
}
func tallies(t *testing.T, m *recordingClient) []wire.Tally {
	return receivedMessages[wire.Tally](t, m, "tally")
}
func dropMessages(t *testing.T, m *recordingClient) []wire.Drops {
	return receivedMessages[wire.Drops](t, m, "drops")
}

// instance is one instance's Rooms over a fakeRedis.
type instance struct {
	t         *testing.T
	books     *testkit.Books
	pool      *fakePool
	clock     *fakeClock
	committer *fakeCommitter
	rooms     *Rooms
	soldOut   []time.Time
	closes    bool // SoldOut closes the round
	// logLines is how many lines were logged.
	logLines atomic.Int64
}

// Write counts a line of the log.
func (i *instance) Write(line []byte) (int, error) {
	i.logLines.Add(1)
	return len(line), nil
}

func newInstance(t *testing.T, redis *fakeRedis, books *testkit.Books, name string, change ...func(*Options)) *instance {
	t.Helper()
	i := &instance{t: t, books: books, clock: &fakeClock{spread: 1}, committer: &fakeCommitter{}, closes: true}
	subscription := &fakeSubscription{rooms: make(map[string]bool), handle: func(event game.Event) { i.rooms.HandleEvent(event) }}
	redis.withLock(func(redis *fakeRedis) { redis.subscriptions = append(redis.subscriptions, subscription) })
	i.pool = &fakePool{fakeRedis: redis, name: name, subscription: subscription}
	options := Options{
		Books: books, Pool: i.pool, Subscription: i.pool, Clock: i.clock, Committer: i.committer, SoldOut: i.recordSoldOut,
		TapsPerSecond: rate.Limit(10), TapBurst: 20, Log: slog.New(slog.NewTextHandler(i, nil)),
	}
	for _, do := range change {
		do(&options)
	}
	i.rooms = New(options)
	t.Cleanup(i.rooms.Close)
	return i
}

func (i *instance) recordSoldOut(_ context.Context, round string) error {
	var closes bool
	i.pool.withLock(func(*fakeRedis) {
		i.soldOut = append(i.soldOut, time.Now())
		closes = i.closes
	})
	if !closes {
		return context.DeadlineExceeded
	}
	i.pool.closeRound(round, game.BySoldOut)
	return nil
}

// fixture is a fakeRedis with one instance, which serves one room.
type fixture struct {
	*instance
	redis *fakeRedis
	room  *Room
}

func newFixture(t *testing.T, change ...func(*Options)) *fixture {
	t.Helper()
	redis := newFakeRedis()
	i := newInstance(t, redis, testkit.NewBooks(code), "one", change...)
	return &fixture{instance: i, redis: redis, room: i.acquireRoom()}
}

func (i *instance) acquireRoom() *Room {
	i.t.Helper()
	room, err := i.rooms.Acquire(i.t.Context(), code)
	if err != nil {
		i.t.Fatal(err)
	}
	return room
}

// join adds another tab of a player.
func (i *instance) join(room *Room, player game.Player) (*PlayerSession, *recordingClient) {
	i.t.Helper()
	m := &recordingClient{}
	session, err := room.Join(i.t.Context(), player.ID, player.Nickname, m)
	if err != nil {
		i.t.Fatal(err)
	}
	return session, m
}

// newRound returns a round of ten packets in a burst, with forty drops a second and no bombs. It starts in ten seconds and lasts 30.
func newRound(change ...func(*game.Settings)) game.Round {
	settings := game.DefaultSettings()
	settings.Total, settings.Packets, settings.Pace, settings.Cap, settings.BombPercent = 1000, 10, game.PaceBurst, 2, 0
	settings.DropsPerSecond = 40
	for _, do := range change {
		do(&settings)
	}
	return game.Round{
		ID: uuid.NewString(), Room: code, Settings: settings, Phase: game.Countdown, Secret: game.NewSecret(), CreatedAt: time.Now(),
	}
}

// startRound starts a round like the server does: first in SQL, then in Redis.
func (r *fixture) startRound(round game.Round) game.Round {
	r.books.Keep(round)
	round = r.redis.openRound(round)
	r.books.Keep(round)
	return round
}

// sleepUntil advances the bubble's clock to a moment.
func sleepUntil(at game.Moment) { time.Sleep(time.Duration(at-now()) * time.Millisecond) }
