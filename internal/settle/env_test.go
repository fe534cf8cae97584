package settle_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"redrain/internal/game"
	"redrain/internal/ledger"
	"redrain/internal/rdb"
	"redrain/internal/settle"
	"redrain/internal/testkit"
)

func TestMain(m *testing.M) {
	if runChild() {
		return
	}
	goleak.VerifyTestMain(testkit.Main(m))
}

// soon bounds what a test waits for, on a busy machine too.
const soon = 40 * time.Second

// env is one Redis and one database, with clients for a test to inspect and break them.
type env struct {
	testing.TB
	redisURL, databaseURL string
	redis                 *redis.Client // raw, for faults
	pool                  *rdb.Client
	books                 *ledger.Ledger
	room                  string
}

func newEnv(t testing.TB, redisURL, databaseURL string) *env {
	t.Helper()
	h := &env{TB: t, redisURL: redisURL, databaseURL: databaseURL}
	options, err := redis.ParseURL(redisURL)
	if err != nil {
		t.Fatal(err)
	}
	h.redis = redis.NewClient(options)
	t.Cleanup(func() { _ = h.redis.Close() })
	h.pool, h.books = h.dial(), h.openLedger()
	h.room = h.newRoom()
	return h
}

// newSQLiteEnv is an env with a new SQLite file.
func newSQLiteEnv(t testing.TB, redisURL string) *env {
	t.Helper()
	return newEnv(t, redisURL, "sqlite:"+filepath.Join(t.TempDir(), "ledger.db"))
}

func (h *env) dial() *rdb.Client {
	h.Helper()
	client, err := rdb.Dial(h.Context(), h.redisURL)
	if err != nil {
		h.Fatal(err)
	}
	h.Cleanup(func() { _ = client.Disconnect() })
	return client
}

func (h *env) openLedger() *ledger.Ledger {
	h.Helper()
	l, err := ledger.Open(h.Context(), h.databaseURL)
	if err == nil {
		err = l.Migrate(h.Context())
	}
	if err != nil {
		h.Fatal(err)
	}
	h.Cleanup(func() { _ = l.Close() })
	return l
}

func (h *env) newRoom() string {
	h.Helper()
	return must(h.books.CreateRoom(h.Context(), "年会"))(h).Code
}

func must[T any](value T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

// startRound makes a raining round of so many packets of 100 cents on average, with the highest cap, which releases all at once.
func (h *env) startRound(packets int) game.Round {
	h.Helper()
	return h.startRoundIn(h.room, packets, false)
}

func (h *env) startRoundIn(room string, packets int, rehearsal bool) game.Round {
	h.Helper()
	s := game.DefaultSettings()
	s.Packets, s.Total, s.Cap, s.Pace, s.Countdown = packets, game.Cents(100*packets), game.MaxCap, game.PaceBurst, 0
	s.Duration = game.MaxDuration
	draft := must(h.books.CreateRound(h.Context(), room, s, rehearsal))(h)
	round := must(h.books.Begin(h.Context(), draft.ID, game.NewSecret()))(h)
	standing := must(h.pool.Open(h.Context(), round, nil))(h)
	must(h.books.NoteOpened(h.Context(), round.ID, standing.StartsAt, standing.EndsAt))(h)
	return must(h.books.NoteRaining(h.Context(), round.ID))(h)
}

// grab lets count new players tap once each, and returns what they were told.
func (h *env) grab(round game.Round, count int) (told []game.Claim) {
	h.Helper()
	taps := make([]game.Tap, count)
	for i := range taps {
		taps[i] = game.Tap{Player: uuid.NewString(), Drop: 7}
	}
	grabbed := must(h.pool.Grab(h.Context(), round.Room, round.ID, h.pool.NewBatch(), taps))(h)
	for i, answer := range grabbed.Answers {
		if answer.Outcome == game.Won {
			told = append(told, game.Claim{Player: taps[i].Player, Drop: 7, Cents: answer.Cents, Number: answer.Number})
		}
	}
	return told
}

// grabEach grabs in batches of one, so that each claim is an entry of its own.
func (h *env) grabEach(round game.Round, count int) (told []game.Claim) {
	h.Helper()
	for range count {
		told = append(told, h.grab(round, 1)...)
	}
	return told
}

func (h *env) close(round game.Round, reason game.CloseReason) {
	h.Helper()
	standing := must(h.pool.Close(h.Context(), round, reason))(h)
	claimed := game.Total{Packets: round.Settings.Packets - standing.Left.Packets, Cents: round.Settings.Total - standing.Left.Cents}
	must(h.books.NoteClosed(h.Context(), round.ID, standing.Reason, claimed))(h)
}

// startSettler runs a settler until the test or the returned function ends it. edit can inject faults.
func (h *env) startSettler(options settle.Options, edit ...func(*faults)) (*settle.Settler, func()) {
	h.Helper()
	f := &faults{Ledger: h.books, Client: h.dial()}
	for _, do := range edit {
		do(f)
	}
	if options.WatchSettledFor == 0 {
		options.WatchSettledFor = time.Nanosecond
	}
	s := settle.New(asBooks(f), f, options)
	ctx, cancel := context.WithCancel(context.WithoutCancel(h.Context()))
	var running sync.WaitGroup
	running.Go(func() { s.Run(ctx) })
	end := func() { cancel(); running.Wait() }
	h.Cleanup(end)
	return s, end
}

// faults is the ledger and the Redis client of a settler, with faults injected.
type faults struct {
	*ledger.Ledger
	*rdb.Client
	away        atomic.Bool // the database
	books       atomic.Int64
	acknowledge func(ctx context.Context) error // called before an acknowledgement, which fails with its error
	refuses     func(game.Entry) bool           // entries that the database will never take
}

// asBooks is the ledger of f with its faults. It is a type of its own because ledger and Redis client have methods of the same name.
func asBooks(f *faults) settle.Books { return struct{ *faultyBooks }{&faultyBooks{f.Ledger, f}} }

type faultyBooks struct {
	*ledger.Ledger
	faults *faults
}

var errAway = errors.New("the database is away")

func (b *faultyBooks) Book(ctx context.Context, round string, entries []game.Entry) (game.Booked, error) {
	return b.book(ctx, b.Ledger.Book, round, entries)
}

func (b *faultyBooks) BookPaced(ctx context.Context, round string, entries []game.Entry) (game.Booked, error) {
	return b.book(ctx, b.Ledger.BookPaced, round, entries)
}

type bookFunc func(context.Context, string, []game.Entry) (game.Booked, error)

func (b *faultyBooks) book(ctx context.Context, how bookFunc, round string, entries []game.Entry) (game.Booked, error) {
	b.faults.books.Add(1)
	if b.faults.away.Load() {
		return game.Booked{}, errAway
	}
	if b.faults.refuses != nil && slices.ContainsFunc(entries, b.faults.refuses) {
		return game.Booked{}, game.ErrRefused
	}
	return how(ctx, round, entries)
}

func (f *faults) Acknowledge(ctx context.Context, round string, entries ...string) error {
	if f.acknowledge != nil {
		if err := f.acknowledge(ctx); err != nil {
			return err
		}
	}
	return f.Client.Acknowledge(ctx, round, entries...)
}

func (f *faults) Close() {} // the ledger and the client are closed by the env

func (f *faults) Claims(ctx context.Context, round string, after, limit int) ([]game.Claim, error) {
	return f.Client.Claims(ctx, round, after, limit)
}

func outboxKey(round game.Round) string { return "redrain:{" + round.ID + "}:outbox" }
func stateKey(round game.Round) string  { return "redrain:{" + round.ID + "}:state" }

// pending is how many entries of the outbox are delivered and not acknowledged.
func (h *env) pending(round game.Round) int64 {
	h.Helper()
	return must(h.redis.XPending(h.Context(), outboxKey(round), "settle").Result())(h).Count
}

func (h *env) account(round game.Round) game.Account {
	h.Helper()
	return must(h.books.Account(h.Context(), round.ID))(h)
}

// awaitAccount waits until the account of a round fulfils a condition.
func (h *env) awaitAccount(round game.Round, what string, is func(game.Account) bool) game.Account {
	h.Helper()
	var account game.Account
	testkit.Eventually(h, soon, func() (err error) {
		if account, err = h.books.Account(h.Context(), round.ID); err == nil && !is(account) {
			err = fmt.Errorf("%s is still to come: %+v", what, account)
		}
		return err
	})
	return account
}

func settled(a game.Account) bool { return a.Phase == game.Settled && a.KeysExpiring }
func frozen(a game.Account) bool  { return a.Frozen }

// wantBooked checks that the ledger holds exactly the claims that players were told of, and that its accounts balance.
func (h *env) wantBooked(round game.Round, told []game.Claim) {
	h.Helper()
	booked := must(h.books.Claims(h.Context(), round.ID, 0, len(told)+10))(h)
	known := make(map[game.Claim]bool)
	for _, claim := range booked {
		known[claim] = true
	}
	if len(booked) != len(told) {
		h.Errorf("the ledger holds %d claims, players were told of %d", len(booked), len(told))
	}
	for _, claim := range told {
		if !known[claim] {
			h.Errorf("a player was told of %+v, the ledger has no such claim", claim)
		}
	}
	h.wantBalance()
}

func (h *env) wantBalance() {
	h.Helper()
	if sum := must(h.books.SumBalances(h.Context()))(h); sum != 0 {
		h.Errorf("the accounts sum to %d", sum)
	}
	if found := must(h.books.UnbalancedAccounts(h.Context()))(h); len(found) > 0 {
		h.Errorf("accounts are not the sums of their entries: %v", found)
	}
}

// wantGrantsRefused waits until a round is frozen in Redis too, and checks that nothing can be won in it.
func (h *env) wantGrantsRefused(round game.Round) {
	h.Helper()
	testkit.Eventually(h, soon, func() error {
		if mark, err := h.pool.Watermark(h.Context(), round.ID); err != nil || !mark.Frozen {
			return fmt.Errorf("redis is not frozen: %+v, %w", mark, err)
		}
		return nil
	})
	if late := h.grab(round, 2); len(late) > 0 {
		h.Errorf("a frozen round granted %v", late)
	}
}
