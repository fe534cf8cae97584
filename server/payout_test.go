package main

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"redrain/internal/payout/example"
	"redrain/internal/testkit"
)

var payoutSecret = "whsec_" + base64.StdEncoding.EncodeToString([]byte("0123456789abcdef0123456789abcdef"))

func TestPayoutsThatAreRefusedAtTheStart(t *testing.T) {
	for name, test := range map[string]struct {
		env   []string
		names string
	}{
		"no address":         {[]string{"PAYOUT_WEBHOOK_URL=pay", "PAYOUT_SECRET=" + payoutSecret}, "PAYOUT_WEBHOOK_URL"},
		"http elsewhere":     {[]string{"PAYOUT_WEBHOOK_URL=http://10.0.0.9/hook", "PAYOUT_SECRET=" + payoutSecret}, "PAYOUT_WEBHOOK_URL"},
		"metadata":           {[]string{"PAYOUT_WEBHOOK_URL=https://169.254.169.254/", "PAYOUT_SECRET=" + payoutSecret}, "PAYOUT_WEBHOOK_URL"},
		"no secret":          {[]string{"PAYOUT_WEBHOOK_URL=https://10.0.0.9/"}, "PAYOUT_SECRET"},
		"a secret of no use": {[]string{"PAYOUT_SECRET=" + payoutSecret}, "PAYOUT_WEBHOOK_URL"},
		"a bad secret":       {[]string{"PAYOUT_WEBHOOK_URL=https://10.0.0.9/", "PAYOUT_SECRET=hunter2"}, "PAYOUT_SECRET"},
		"a batch of nothing": {[]string{"PAYOUT_WEBHOOK_URL=https://10.0.0.9/", "PAYOUT_SECRET=" + payoutSecret, "PAYOUT_BATCH=0"}, "PAYOUT_BATCH"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := runToEnd(t, test.env)
			if got.code != exitUsage || got.stdout != "" || strings.Count(got.stderr, "\n") != 1 || !strings.Contains(got.stderr, test.names) {
				t.Errorf("exit code %d, %q, %q", got.code, got.stdout, got.stderr)
			}
			if strings.Contains(got.stderr, "hunter2") || strings.Contains(got.stderr, payoutSecret) {
				t.Errorf("the secret shows: %q", got.stderr)
			}
		})
	}
}

// What players won reaches the host's own balance system once, from a round to a restart of its receiver.
func TestWonMoneyIsPaidOut(t *testing.T) {
	t.Parallel()
	receiver, err := example.NewReceiver(payoutSecret)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(receiver)
	defer server.Close()
	a, b := startTwo(t, testkit.Redis(t).URL, "PAYOUT_WEBHOOK_URL="+server.URL, "PAYOUT_SECRET="+payoutSecret, "PAYOUT_BATCH=3")
	host, api := loginHost(t, a), newHostAPI(t, b)
	room := newRoom(t, host)
	players := joinPlayers(t, room, 10, a, b)
	round := newRound(t, host, room, map[string]any{
		"total_cents": 1000, "packets": 10, "countdown_ms": 0, "duration_ms": 10_000, "pace": "burst", "bomb_percent": 0,
	})
	path := "/api/rounds/" + round.ID + "/payouts"
	api.call("POST", path+"/resend", map[string]any{}, 409, nil)
	startRound(t, host, round.ID)
	tapAll(t.Context(), t, round.ID, players)
	books := awaitSettled(t, host, round.ID)
	var shown struct {
		Payouts []struct {
			State string
			Cents int64
		}
		Sums struct {
			Planned bool
			Paid    struct{ Claims, Cents int64 }
		}
	}
	testkit.Eventually(t, soon, func() error {
		api.call("GET", path, nil, 200, &shown)
		if shown.Sums.Paid.Claims != int64(books.Ledger.Claims) {
			return fmt.Errorf("the payouts are %+v", shown)
		}
		return nil
	})
	told := make(map[string]int64)
	for tap, cents := range collectResults(players) {
		told[tap.Player] += int64(cents)
	}
	var sum int64
	for player, cents := range told {
		if got := receiver.Balance(player); got != cents {
			t.Errorf("a player was told of %d cents, the receiver has %d", cents, got)
		}
		sum += cents
	}
	if sum == 0 || shown.Sums.Paid.Cents != sum || receiver.Payouts() != len(shown.Payouts) || len(shown.Payouts) != (books.Ledger.Claims+2)/3 {
		t.Errorf("%d cents were told, the payouts are %+v", sum, shown)
	}
	if again, err := host.Reconciliation(t.Context(), round.ID); err != nil || !again.Agrees {
		t.Errorf("after the payouts the books are %+v, %v", again, err)
	}
	var resent struct{ Payouts int }
	api.call("POST", path+"/resend", map[string]any{}, 200, &resent)
	if resent.Payouts != 0 {
		t.Errorf("%d paid payouts are sent again", resent.Payouts)
	}
	var roomBooks struct {
		Sum struct {
			PaidOutCents int64 `json:"paid_out_cents"`
		}
	}
	api.call("GET", "/api/rooms/"+room+"/books", nil, 200, &roomBooks)
	if roomBooks.Sum.PaidOutCents != sum {
		t.Errorf("the room's books say %+v, want %d", roomBooks, sum)
	}
	_, file := getBody(t, a.url+"/api/rounds/"+round.ID+"/claims.csv")
	if !strings.Contains(file, "unauthorized") {
		t.Errorf("a stranger gets the claims: %s", file)
	}
}

// Processes that settle pay out, those that serve need not. A receiver that was away during the round, and for good as far as
// anybody knew, gets everything when the host has it sent again, by whichever instance is asked.
func TestTheHostHasPayoutsSentAgain(t *testing.T) {
	t.Parallel()
	receiver, err := example.NewReceiver(payoutSecret)
	if err != nil {
		t.Fatal(err)
	}
	var away atomic.Bool
	away.Store(true)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if away.Load() {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		receiver.ServeHTTP(w, q)
	}))
	defer server.Close()
	shared := []string{
		"REDIS_URL=" + testkit.Redis(t).URL, "DATABASE_URL=sqlite:" + t.TempDir() + "/books.db",
		"PAYOUT_WEBHOOK_URL=" + server.URL, "PAYOUT_SECRET=" + payoutSecret,
	}
	in := startInstance(t, append(shared, "NO_SETTLE=1")...)
	settler := startProgram(t, shared, "settle")
	host, api := loginHost(t, in), newHostAPI(t, in)
	room := newRoom(t, host)
	players := joinPlayers(t, room, 3, in)
	round := newRound(t, host, room, map[string]any{
		"total_cents": 300, "packets": 3, "countdown_ms": 0, "duration_ms": 10_000, "pace": "burst", "bomb_percent": 0,
	})
	startRound(t, host, round.ID)
	tapAll(t.Context(), t, round.ID, players)
	claims := awaitSettled(t, host, round.ID).Ledger.Claims
	path := "/api/rounds/" + round.ID + "/payouts"
	var shown struct {
		Payouts []struct{ State, Problem string }
		Sums    struct{ Pending, Paid struct{ Claims int } }
	}
	await := func(paid int, problem string) {
		t.Helper()
		testkit.Eventually(t, soon, func() error {
			api.call("GET", path, nil, 200, &shown)
			if shown.Sums.Paid.Claims != paid || len(shown.Payouts) != claims || shown.Payouts[0].Problem != problem {
				return fmt.Errorf("the payouts are %+v", shown)
			}
			return nil
		})
	}
	await(0, "answered 502")
	away.Store(false)
	api.call("POST", path+"/resend", map[string]any{}, 200, nil)
	await(claims, "")
	if receiver.Payouts() != claims {
		t.Errorf("the receiver has %d payouts of %d", receiver.Payouts(), claims)
	}
	if code := settler.Interrupt(t, stopWithin); code != exitOK {
		t.Errorf("the settler ended with %d:\n%s", code, settler.Output())
	}
	if strings.Contains(settler.Output(), strings.TrimPrefix(payoutSecret, "whsec_")) {
		t.Error("the secret is in the log")
	}
}
