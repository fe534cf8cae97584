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
type clock struct {
	spread int64
	step   atomic.Int64 // ms
}

func (c *clock) Now() game.Moment { return now() + game.Moment(c.step.Load()) }
func (c *clock) Spread() int64    { return c.spread }

// committer keeps what it was asked until a test answers.
type committer struct {
	mu    sync.Mutex
	full  bool
	asked []asked
}

type asked struct {
	round   string
	tap     game.Tap
	handler game.AnswerHandler
}

func (c *committer) Submit(_, round string, tap game.Tap, handler game.AnswerHandler) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.full {
		return false
	}
	c.asked = append(c.asked, asked{round, tap, handler})
	return true
}

// answer answers the oldest tap that waits.
func (c *committer) answer(t *testing.T, answer game.Answer) {
	t.Helper()
	c.mu.Lock()
	if len(c.asked) == 0 {
		t.Fatal("nobody asked the pool")
	}
	oldest := c.asked[0]
	c.asked = c.asked[1:]
	c.mu.Unlock()
	oldest.handler.HandleAnswer(oldest.tap, answer)
}

// answers is the answer handler of a connection.
type answers struct {
	mu  sync.Mutex
	all []game.Answer
}

func (a *answers) HandleAnswer(_ game.Tap, answer game.Answer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all = append(a.all, answer)
}

// member is one connection; it keeps what it was told.
type member struct {
	mu    sync.Mutex
	heard []frame
}

type frame struct {
	kind   string
	text   []byte
	update bool
	at     time.Time
}

func (m *member) Deliver(text []byte) { m.take(text, false) }
func (m *member) Update(text []byte)  { m.take(text, true) }

func (m *member) take(text []byte, update bool) {
	kind, _, _ := strings.Cut(strings.TrimPrefix(string(text), `{"type":"`), `"`)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.heard = append(m.heard, frame{kind, text, update, time.Now()})
}

func (m *member) all() []frame {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.heard)
}

// heardBy returns every message of M's type that a member heard, in order.
func heardBy[M any](t *testing.T, m *member, kind string) []M {
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

func welcomes(t *testing.T, m *member) []wire.Welcome { return heardBy[wire.Welcome](t, m, "welcome") }
func changes(t *testing.T, m *member) []wire.RoundChanged {
	return heardBy[wire.RoundChanged](t, m, "round")
}
func claimsOf(t *testing.T, m *member) []wire.ClaimMade {
	return heardBy[wire.ClaimMade](t, m, "claim")
}
func tallies(t *testing.T, m *member) []wire.Tally { return heardBy[wire.Tally](t, m, "tally") }
func dropsOf(t *testing.T, m *member) []wire.Drops { return heardBy[wire.Drops](t, m, "drops") }

// instance is one process' rooms over a world.
type instance struct {
	t         *testing.T
	books     *testkit.Books
	side      *side
	clock     *clock
	committer *committer
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

func newInstance(t *testing.T, w *world, books *testkit.Books, name string, change ...func(*Options)) *instance {
	t.Helper()
	i := &instance{t: t, books: books, clock: &clock{spread: 1}, committer: &committer{}, closes: true}
	e := &ear{rooms: make(map[string]bool), hear: func(heard game.Event) { i.rooms.Hear(heard) }}
	w.set(func(w *world) { w.ears = append(w.ears, e) })
	i.side = &side{world: w, name: name, ear: e}
	options := Options{
		Books: books, Pool: i.side, Ear: i.side, Clock: i.clock, Committer: i.committer, SoldOut: i.noteSoldOut,
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
	i.side.set(func(*world) {
		i.soldOut = append(i.soldOut, time.Now())
		closes = i.closes
	})
	if !closes {
		return context.DeadlineExceeded
	}
	i.side.close(round, game.BySoldOut)
	return nil
}

// rig is one world with one instance, and a room that is entered.
type rig struct {
	*instance
	world *world
	room  *Room
}

func newRig(t *testing.T, change ...func(*Options)) *rig {
	t.Helper()
	w := newWorld()
	i := newInstance(t, w, testkit.NewBooks(code), "one", change...)
	return &rig{instance: i, world: w, room: i.enter()}
}

func (i *instance) enter() *Room {
	i.t.Helper()
	room, err := i.rooms.Enter(i.t.Context(), code)
	if err != nil {
		i.t.Fatal(err)
	}
	return room
}

// sit seats a player in another tab.
func (i *instance) sit(room *Room, player game.Player) (*Seat, *member) {
	i.t.Helper()
	m := &member{}
	seat, err := room.Sit(i.t.Context(), player.ID, player.Nickname, m)
	if err != nil {
		i.t.Fatal(err)
	}
	return seat, m
}

// plan is a round of ten packets in a burst, forty drops a second without bombs, which starts in ten seconds and lasts 30.
func plan(change ...func(*game.Settings)) game.Round {
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
func (r *rig) begin(round game.Round) game.Round {
	r.books.Keep(round)
	round = r.world.open(round)
	r.books.Keep(round)
	return round
}

// until moves the bubble's clock to a moment.
func until(at game.Moment) { time.Sleep(time.Duration(at-now()) * time.Millisecond) }
