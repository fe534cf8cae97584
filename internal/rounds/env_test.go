package rounds_test

import (
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"redrain/internal/game"
	"redrain/internal/ledger"
	"redrain/internal/rounds"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// env is a database and a pool with any number of instances on them. It runs in a synctest bubble: time stands still while anything
// runs, and then jumps to the next timer.
type env struct {
	*testing.T
	url  string
	pool *fakePool
	log  *lines
	room string
	book *ledger.Ledger // to look at the books from outside
}

// withEnv runs a test in an env of its own.
func withEnv(t *testing.T, test func(h *env)) {
	t.Helper()
	url := "sqlite:" + filepath.Join(t.TempDir(), "ledger.db")
	synctest.Test(t, func(t *testing.T) {
		h := &env{T: t, url: url, pool: newFakePool(), log: &lines{}}
		h.book = h.openLedger()
		h.room = h.newRoom()
		test(h)
	})
}

func (h *env) openLedger() *ledger.Ledger {
	h.Helper()
	l, err := ledger.Open(h.Context(), h.url)
	if err != nil {
		h.Fatal(err)
	}
	h.Cleanup(func() { _ = l.Close() })
	if err := l.Migrate(h.Context()); err != nil {
		h.Fatal(err)
	}
	return l
}

// instance is one server process: it has a database connection of its own.
type instance struct {
	*rounds.Service
	books *flakyBooks
	die   func() // ends Keep and waits until it has ended
}

// flakyBooks is the ledger over a connection that can be broken.
type flakyBooks struct {
	*ledger.Ledger
	mu   sync.Mutex
	away bool
}

func (b *flakyBooks) setAway(away bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.away = away
}

func (b *flakyBooks) reach() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.away {
		return errAway
	}
	return nil
}

func (b *flakyBooks) Round(ctx context.Context, id string) (game.Round, error) {
	if err := b.reach(); err != nil {
		return game.Round{}, err
	}
	return b.Ledger.Round(ctx, id)
}

func (b *flakyBooks) OpenRounds(ctx context.Context) ([]game.Round, error) {
	if err := b.reach(); err != nil {
		return nil, err
	}
	return b.Ledger.OpenRounds(ctx)
}

func (b *flakyBooks) DueRounds(ctx context.Context, now game.Moment) ([]game.Round, error) {
	if err := b.reach(); err != nil {
		return nil, err
	}
	return b.Ledger.DueRounds(ctx, now)
}

func (b *flakyBooks) NoteOpened(ctx context.Context, id string, startsAt, endsAt game.Moment) (game.Round, error) {
	if err := b.reach(); err != nil {
		return game.Round{}, err
	}
	return b.Ledger.NoteOpened(ctx, id, startsAt, endsAt)
}

func (b *flakyBooks) NoteClosed(ctx context.Context, id string, reason game.CloseReason, claimed game.Total) (game.Round, error) {
	if err := b.reach(); err != nil {
		return game.Round{}, err
	}
	return b.Ledger.NoteClosed(ctx, id, reason, claimed)
}

// addPassive adds an instance that does not run Keep.
func (h *env) addPassive(options rounds.Options) *instance {
	h.Helper()
	options.Log = slog.New(slog.NewJSONHandler(h.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	books := &flakyBooks{Ledger: h.openLedger()}
	return &instance{Service: rounds.New(books, h.pool, options), books: books, die: func() {}}
}

// addInstance adds an instance that runs Keep until it is stopped, at the latest with the test.
func (h *env) addInstance(options rounds.Options) *instance {
	h.Helper()
	i := h.addPassive(options)
	ctx, cancel := context.WithCancel(h.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		i.Keep(ctx)
	}()
	i.die = func() {
		cancel()
		<-ended
	}
	h.Cleanup(i.die)
	return i
}

func (h *env) newRoom() string {
	h.Helper()
	room, err := h.book.CreateRoom(h.Context(), "年会")
	if err != nil {
		h.Fatal(err)
	}
	return room.Code
}

// testSettings have a countdown of 10 s and a rain of 30 s.
func testSettings() game.Settings {
	settings := game.DefaultSettings()
	settings.Total, settings.Packets = 88_800, 100
	return settings
}

func (h *env) draft(change ...func(*game.Settings)) string { return h.draftIn(h.room, change...) }

func (h *env) draftIn(room string, change ...func(*game.Settings)) string {
	h.Helper()
	settings := testSettings()
	for _, c := range change {
		c(&settings)
	}
	return h.must(rounds.New(h.book, h.pool, rounds.Options{}).Create(h.Context(), room, settings, false)).ID
}

// must returns the round of a step that must succeed.
func (h *env) must(round game.Round, err error) game.Round {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
	return round
}

func (h *env) readBooks(id string) game.Round {
	h.Helper()
	return h.must(h.book.Round(h.Context(), id))
}

// sleepUntil sleeps until a time, and until everything due at it is done.
func (h *env) sleepUntil(moment game.Moment) {
	h.sleep(time.Duration(moment-h.pool.Now()) * time.Millisecond)
}

func (h *env) sleep(d time.Duration) {
	time.Sleep(d) // the clock of the bubble: no real time passes
	synctest.Wait()
}

// expectClosed checks for what reason a round is closed, in the books and in Redis, and when it was closed in Redis.
func (h *env) expectClosed(id string, reason game.CloseReason, at game.Moment) {
	h.Helper()
	got := h.readBooks(id)
	if got.Phase != game.Closed || got.Reason != reason {
		h.Errorf("the books have the round in %s (%s), not closed by %s", got.Phase, got.Reason, reason)
	}
	keys, _ := h.pool.read(id)
	if keys.standing.Reason != reason || keys.closed != 1 || keys.closedAt != at {
		h.Errorf("redis closed the round %d times, by %q, %d ms after it was due",
			keys.closed, keys.standing.Reason, keys.closedAt-at)
	}
	if left := keys.standing.Left; got.Claimed.Packets != got.Settings.Packets-left.Packets ||
		got.Claimed.Cents != got.Settings.Total-left.Cents {
		h.Errorf("the books have %v as claimed, redis has %v left", got.Claimed, left)
	}
}

// lines is what was logged.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
