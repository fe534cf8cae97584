package payout

import (
	"bytes"
	"context"
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"redrain/internal/game"
	"redrain/internal/ledger"
	"redrain/internal/payout/example"
	"redrain/internal/testkit"
)

func TestMain(m *testing.M) {
	if url := os.Getenv(childDatabase); url != "" {
		os.Exit(runChild(url, os.Getenv(childTarget)))
	}
	goleak.VerifyTestMain(testkit.Main(m))
}

var testSecret = "whsec_" + base64.StdEncoding.EncodeToString([]byte("0123456789abcdef0123456789abcdef"))

// databases make a new, empty database each.
var databases = map[string]func(testing.TB) string{
	"sqlite":   func(t testing.TB) string { return "sqlite:" + filepath.Join(t.TempDir(), "ledger.db") },
	"postgres": testkit.SharedPostgres,
	"mariadb":  testkit.SharedMariaDB,
}

// onEach runs a test on every kind of database.
func onEach(t *testing.T, test func(t *testing.T, database string)) {
	for name, newDatabase := range databases {
		t.Run(name, func(t *testing.T) { test(t, newDatabase(t)) })
	}
}

// clock stands still until a test moves it.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Now().Truncate(time.Millisecond)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func must[T any](t testing.TB) func(T, error) T {
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func openBooks(t testing.TB, database string, size int, now func() time.Time) *ledger.Ledger {
	t.Helper()
	l := must[*ledger.Ledger](t)(ledger.Open(t.Context(), database, ledger.WithPayouts(size), ledger.WithClock(now)))
	t.Cleanup(func() { _ = l.Close() })
	if err := l.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return l
}

// settledRound is a round in which player n%3 won packet n, of 10 cents each.
func settledRound(t testing.TB, l *ledger.Ledger, packets int) (game.Round, []string) {
	t.Helper()
	ctx := t.Context()
	room := must[game.Room](t)(l.CreateRoom(ctx, "年会")).Code
	players := make([]string, 3)
	for i := range players {
		players[i] = must[game.Player](t)(l.AddSubject(ctx, room, "staff-"+string(rune('a'+i)), "员工")).ID
	}
	settings := game.DefaultSettings()
	settings.Packets, settings.Total = packets, game.Cents(10*packets)
	round := must[game.Round](t)(l.CreateRound(ctx, room, settings, false))
	round = must[game.Round](t)(l.Begin(ctx, round.ID, game.NewSecret()))
	claims := make([]game.Claim, packets)
	for i := range claims {
		claims[i] = game.Claim{Number: i + 1, Player: players[i%3], Drop: game.DropID(i + 1), Cents: 10}
	}
	all := game.Total{Packets: packets, Cents: settings.Total}
	must[game.Booked](t)(l.Book(ctx, round.ID, []game.Entry{
		{ID: "1-0", At: 1_800_000_000_000, Claims: claims},
		{ID: "2-0", Refund: &game.Refund{Reason: game.ByTime, At: 1_800_000_000_000, Claimed: all}},
	}))
	must[game.RefundStep](t)(l.ApplyRefund(ctx, round.ID))
	must[game.Round](t)(l.NoteClosed(ctx, round.ID, game.ByTime, all))
	return must[game.Round](t)(l.NoteSettled(ctx, round.ID)), players
}

// receiver is a webhook receiver that can be made to fail before or after it accepts a payout.
type receiver struct {
	*example.Receiver
	server *httptest.Server

	mu            sync.Mutex
	before, after http.HandlerFunc
	heard         []http.Header
	bodies        []string
}

func newReceiver(t testing.TB) *receiver {
	d := &receiver{Receiver: must[*example.Receiver](t)(example.NewReceiver(testSecret))}
	d.server = httptest.NewServer(d)
	t.Cleanup(d.server.Close)
	return d
}

// misbehave sets handlers that run before and after a payout is accepted; nil: none.
func (d *receiver) misbehave(before, after http.HandlerFunc) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.before, d.after = before, after
}

func (d *receiver) posts() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.heard)
}

func (d *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(q.Body)
	if err != nil {
		return
	}
	q.Body = io.NopCloser(bytes.NewReader(body))
	d.mu.Lock()
	d.heard, d.bodies = append(d.heard, q.Header), append(d.bodies, string(body))
	before, after := d.before, d.after
	d.mu.Unlock()
	if before != nil {
		before(w, q)
		return
	}
	answer := httptest.NewRecorder()
	d.Receiver.ServeHTTP(answer, q)
	if after != nil {
		after(w, q)
		return
	}
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes())
}

// newSender posts to an address on this machine.
func newSender(t testing.TB, books Books, address string, now func() time.Time) *Sender {
	t.Helper()
	target := must[Target](t)(ParseTarget(t.Context(), address, nil))
	sender := New(books, Options{Target: target, Secret: must[Secret](t)(ParseSecret(testSecret)), Timeout: 300 * time.Millisecond, Now: now})
	t.Cleanup(sender.client.CloseIdleConnections)
	return sender
}

// sendAll sends until nothing is due.
func sendAll(t testing.TB, sender *Sender) {
	t.Helper()
	for {
		sent, err := sender.SendDue(context.WithoutCancel(t.Context()))
		if err != nil && sent == 0 {
			t.Fatal(err)
		}
		if sent == 0 {
			return
		}
	}
}

// wantPaid checks that everything was paid once, and that the receiver has credited the same.
func wantPaid(t testing.TB, l *ledger.Ledger, d *receiver, round game.Round, players []string) {
	t.Helper()
	all := game.Total{Packets: round.Settings.Packets, Cents: round.Settings.Total}
	if got := must[game.PayoutSums](t)(l.PayoutSums(t.Context(), round.ID)); got != (game.PayoutSums{Planned: true, Paid: all}) {
		t.Errorf("payouts are %+v, want all of %+v paid", got, all)
	}
	var credited int64
	for _, player := range players {
		credited += d.Balance(player)
		if left := must[game.Cents](t)(l.Balance(t.Context(), player)); left != 0 {
			t.Errorf("a player has %d cents that are not paid out", left)
		}
	}
	if credited != int64(all.Cents) {
		t.Errorf("the receiver has credited %d cents, want %d", credited, all.Cents)
	}
	if found := must[[]game.Difference](t)(l.UnbalancedAccounts(t.Context())); len(found) != 0 {
		t.Errorf("accounts are not the sums of their entries: %v", found)
	}
	if sum := must[game.Cents](t)(l.SumBalances(t.Context())); sum != 0 {
		t.Errorf("the accounts sum to %d cents", sum)
	}
}
