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

// clock is the bubble's clock as the estimate of Redis' clock, which may be wrong by a step.
type fakeClock struct {
	spread int64
	step   atomic.Int64 // ms
}

func (c *fakeClock) Now() game.Moment { return now() + game.Moment(c.step.Load()) }
func (c *fakeClock) Spread() int64    { return c.spread }

// committer keeps what it was asked until a test answers.
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

// answer answers the oldest tap that waits.
func (c *fakeCommitter) answerNext(t *testing.T, answer game.Answer) {
	t.Helper()
	c.mu.Lock()
	if len(c.submitted) == 0 {
		t.Fatal("nobody asked the pool")
	}
	oldest := c.submitted[0]
	c.submitted = c.submitted[1:]
	c.mu.Unlock()
	oldest.handler.HandleAnswer(oldest.tap, answer)
}

// answers is the answer handler of a connection.
type answerRecorder struct {
	mu  sync.Mutex
	all []game.Answer
}

func (a *answerRecorder) HandleAnswer(_ game.Tap, answer game.Answer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all = append(a.all, answer)
}

// member is one connection; it keeps what it was told.
type recordingClient struct {
	mu     sync.Mutex
	frames []frame
}

type frame struct {
	kind   string
	text   []byte
	update bool
	at     time.Time
}

func (m *recordingClient) Send(text []byte)       { m.record(text, false) }
func (m *recordingClient) SendLatest(text []byte) { m.record(text, true) }

func (m *recordingClient) record(text []byte, update bool) {
	kind, _, _ := strings.Cut(strings.TrimPrefix(string(text), `{"type":"`), `"`)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.frames = append(m.frames, frame{kind, text, update, time.Now()})
}

func (m *recordingClient) all() []frame {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.frames)
}

// receivedMessages returns every message of M's type that a member heard, in order.
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

// instance is one process' rooms over a world.
type instance struct {
	t         *testing.T
	books     *testkit.Books
	pool      *fakePool
	clock     *fakeClock
	committer *fakeCommitter
	rooms     *Rooms
	soldOut   []time.Time
	closes    bool // SoldOut closes the round
	// complaints counts lines of the log.
	complaints atomic.Int64
}

// Write takes a line of the log.
func (i *instance) Write(line []byte) (int, error) {
	i.complaints.Add(1)
	return len(line), nil
}

func newInstance(t *testing.T, redis *fakeRedis, books *testkit.Books, name string, change ...func(*Options)) *instance {
	t.Helper()
	i := &instance{t: t, books: books, clock: &fakeClock{spread: 1}, committer: &fakeCommitter{}, closes: true}
	e := &fakeSubscription{rooms: make(map[string]bool), handle: func(heard game.Event) { i.rooms.HandleEvent(heard) }}
	redis.withLock(func(redis *fakeRedis) { redis.subscriptions = append(redis.subscriptions, e) })
	i.pool = &fakePool{fakeRedis: redis, name: name, subscription: e}
	options := Options{
		Books: books, Pool: i.pool, Subscription: i.pool, Clock: i.clock, Committer: i.committer, SoldOut: i.noteSoldOut,
		TapsPerSecond: rate.Limit(10), TapBurst: 20, Log: slog.New(slog.NewTextHandler(i, nil)),
	}
	for _, do := range change {
		do(&options)
	}
	i.rooms = New(options)
	t.Cleanup(i.rooms.Close)
	return i
}

func (i *instance) noteSoldOut(_ context.Context, round string) error {
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

// rig is one world with one instance, and a room that is entered.
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

// sit seats a player in another tab.
func (i *instance) join(room *Room, player game.Player) (*PlayerSession, *recordingClient) {
	i.t.Helper()
	m := &recordingClient{}
	session, err := room.Join(i.t.Context(), player.ID, player.Nickname, m)
	if err != nil {
		i.t.Fatal(err)
	}
	return session, m
}

// plan is a round of ten packets in a burst, forty drops a second without bombs, which starts in ten seconds and lasts 30.
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

// begin starts a round the way the product does: SQL first, then Redis.
func (r *fixture) startRound(round game.Round) game.Round {
	r.books.Keep(round)
	round = r.redis.openRound(round)
	r.books.Keep(round)
	return round
}

// until moves the bubble's clock to a moment.
func sleepUntil(at game.Moment) { time.Sleep(time.Duration(at-now()) * time.Millisecond) }
