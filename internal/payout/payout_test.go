package payout

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"redrain/internal/game"
	"redrain/internal/ledger"
	"redrain/internal/testkit"
)

func TestPayoutsArePostedAndPaid(t *testing.T) {
	for _, size := range []int{1, 4} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			onEach(t, func(t *testing.T, database string) {
				l, d := openBooks(t, database, size, time.Now), newReceiver(t)
				round, players := settledRound(t, l, 10)
				sender := newSender(t, l, d.server.URL+"/redrain", time.Now)
				sendAll(t, sender)
				wantPaid(t, l, d, round, players)
				if want := (10 + size - 1) / size; d.Payouts() != want || d.posts() != want || sender.Counts().Paid != int64(want) {
					t.Errorf("%d posts of %d payouts, want %d; counted %+v", d.posts(), d.Payouts(), want, sender.Counts())
				}
				for i, body := range d.bodies {
					if !strings.HasPrefix(body, `{"type":"payout","timestamp":"20`) || !strings.Contains(body, `"subject":"staff-`) {
						t.Errorf("the body of %s is %s", d.heard[i].Get("webhook-id"), body)
					}
				}
			})
		})
	}
}

// A payout to a receiver that fails or redirects is retried with growing delays, with the same id and body, and given up after a day.
// Then the host has it sent again.
func TestFailingReceiverIsRetriedForADay(t *testing.T) {
	onEach(t, func(t *testing.T, database string) {
		now, d := newClock(), newReceiver(t)
		l := openBooks(t, database, 10, now.Now)
		round, players := settledRound(t, l, 3)
		d.misbehave(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }, nil)
		sender := newSender(t, l, d.server.URL, now.Now)
		must[int](t)(sender.SendDue(t.Context())) // makes it
		first, last := now.Now(), game.Payout{}
		var waits []time.Duration
		for range 100 {
			if sent, err := sender.SendDue(t.Context()); sent != 1 || err == nil {
				t.Fatalf("sent %d, %v", sent, err)
			}
			last = must[[]game.Payout](t)(l.Payouts(t.Context(), round.ID, 0, 10))[0]
			if last.State != game.PayoutPending {
				break
			}
			wait := time.UnixMilli(int64(last.DueAt)).Sub(now.Now())
			waits = append(waits, wait)
			now.advance(wait - time.Millisecond)
			if sent, err := sender.SendDue(t.Context()); sent != 0 || err != nil {
				t.Fatalf("sent too early: %d, %v", sent, err)
			}
			now.advance(time.Millisecond)
		}
		if spent := now.Now().Sub(first); last.State != game.PayoutFailed || last.Problem != "answered 503" || spent > giveUpAfter || spent < giveUpAfter-maxDelay {
			t.Errorf("after %v it is %+v", spent, last)
		}
		if waits[0] < initialDelay/2 || waits[0] > initialDelay || waits[len(waits)-1] < maxDelay/2 || last.Attempts != len(waits)+1 || len(waits) > 60 {
			t.Errorf("%d attempts after %v", last.Attempts, waits)
		}
		for i := range d.heard {
			if d.heard[i].Get("webhook-id") != last.ID() || d.bodies[i] != d.bodies[0] {
				t.Fatalf("attempt %d: %v %s", i, d.heard[i], d.bodies[i])
			}
		}
		d.misbehave(nil, nil)
		now.advance(-time.Until(now.Now())) // the receiver looks at timestamps
		if sent := must[int](t)(sender.SendDue(t.Context())); sent != 0 {
			t.Errorf("sent %d without the host", sent)
		}
		must[int](t)(l.ResendPayouts(t.Context(), round.ID))
		now.advance(time.Millisecond)
		sendAll(t, sender)
		wantPaid(t, l, d, round, players)
	})
}

// The receiver has credited a payout, but its response is late or lost, so the payout is sent again. By its id it is credited once.
func TestLostResponseCreditsOnce(t *testing.T) {
	for name, answer := range map[string]func(release <-chan struct{}) http.HandlerFunc{
		"late": func(release <-chan struct{}) http.HandlerFunc {
			return func(http.ResponseWriter, *http.Request) { <-release }
		},
		"never": func(<-chan struct{}) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) {
				conn, _, err := w.(http.Hijacker).Hijack()
				if err == nil {
					_ = conn.Close()
				}
			}
		},
		"twice": func(<-chan struct{}) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) {
				conn, stream, err := w.(http.Hijacker).Hijack()
				if err == nil {
					_, _ = stream.WriteString("HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\nHTTP/1.1 204 Yes\r\n\r\n")
					_ = stream.Flush()
					_ = conn.Close()
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			onEach(t, func(t *testing.T, database string) {
				now, d := newClock(), newReceiver(t)
				l := openBooks(t, database, 2, now.Now)
				round, players := settledRound(t, l, 7)
				release := make(chan struct{})
				d.misbehave(nil, answer(release))
				sender := newSender(t, l, d.server.URL, now.Now)
				must[int](t)(sender.SendDue(t.Context()))
				if sent, err := sender.SendDue(t.Context()); sent != 4 || err == nil {
					t.Fatalf("sent %d, %v", sent, err)
				}
				if sums := must[game.PayoutSums](t)(l.PayoutSums(t.Context(), round.ID)); sums.Paid.Packets != 0 || d.Payouts() != 4 {
					t.Errorf("%+v is paid without an answer, the receiver has %d", sums, d.Payouts())
				}
				close(release)
				d.misbehave(nil, nil)
				now.advance(initialDelay)
				sendAll(t, sender)
				wantPaid(t, l, d, round, players)
				if d.posts() != 8 {
					t.Errorf("%d posts, want 8", d.posts())
				}
			})
		})
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	elsewhere := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere++ }))
	defer other.Close()
	for _, code := range []int{301, 302, 303, 307, 308} {
		now, d := newClock(), newReceiver(t)
		l := openBooks(t, databases["sqlite"](t), 10, now.Now)
		round, _ := settledRound(t, l, 3)
		d.misbehave(func(w http.ResponseWriter, q *http.Request) { http.Redirect(w, q, other.URL, code) }, nil)
		sender := newSender(t, l, d.server.URL, now.Now)
		must[int](t)(sender.SendDue(t.Context()))
		if _, err := sender.SendDue(t.Context()); err == nil {
			t.Errorf("%d is taken for a yes", code)
		}
		if got := must[[]game.Payout](t)(l.Payouts(t.Context(), round.ID, 0, 1))[0]; !strings.Contains(got.Problem, "redirects are not followed") || got.State != game.PayoutPending {
			t.Errorf("%d: the payout is %+v", code, got)
		}
	}
	if elsewhere != 0 {
		t.Errorf("%d posts went elsewhere", elsewhere)
	}
}

func TestForgedAndStalePostsAreRefused(t *testing.T) {
	d := newReceiver(t)
	secret := must[Secret](t)(ParseSecret(testSecret))
	other := must[Secret](t)(ParseSecret("whsec_" + strings.Repeat("AAAA", 8)))
	body, now := []byte(`{"type":"payout","data":{"claims":[{"player":"eve","cents":1}]}}`), time.Now().Unix()
	for name, test := range map[string]struct {
		at        int64
		signature string
		want      int
	}{
		"signed":          {now, secret.sign("payout_x_1", now, body), 204},
		"two signatures":  {now, other.sign("payout_x_1", now, body) + " " + secret.sign("payout_x_1", now, body), 204},
		"none":            {now, "", 401},
		"another secret":  {now, other.sign("payout_x_1", now, body), 401},
		"another id":      {now, secret.sign("payout_x_2", now, body), 401},
		"another time":    {now, secret.sign("payout_x_1", now-1, body), 401},
		"another body":    {now, secret.sign("payout_x_1", now, append(body, ' ')), 401},
		"another version": {now, strings.Replace(secret.sign("payout_x_1", now, body), "v1,", "v1a,", 1), 401},
		"stale":           {now - 301, secret.sign("payout_x_1", now-301, body), 401},
	} {
		request := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(string(body)))
		request.Header.Set("webhook-id", "payout_x_1")
		request.Header.Set("webhook-timestamp", fmt.Sprint(test.at))
		request.Header.Set("webhook-signature", test.signature)
		answer := httptest.NewRecorder()
		d.Receiver.ServeHTTP(answer, request)
		if answer.Code != test.want {
			t.Errorf("%s: answered %d, want %d", name, answer.Code, test.want)
		}
	}
	if d.Balance("eve") != 1 {
		t.Errorf("eve has %d cents, want 1", d.Balance("eve"))
	}
}

// The test vector of the Standard Webhooks specification.
func TestSignatureIsThatOfTheSpecification(t *testing.T) {
	secret := must[Secret](t)(ParseSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
	got := secret.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, []byte(`{"test": 2432232314}`))
	if want := "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if text := fmt.Sprintf("%v %+v %#v %s", secret, secret, secret, secret); strings.Contains(text, "MfKQ") || strings.Contains(text, "0x") {
		t.Errorf("the secret prints as %s", text)
	}
}

// Four senders over as many connections share one backlog: nothing is credited or moved twice.
func TestSendersShareTheWork(t *testing.T) {
	onEach(t, func(t *testing.T, database string) {
		d := newReceiver(t)
		first := openBooks(t, database, 1, time.Now)
		round, players := settledRound(t, first, 200)
		ctx, end := context.WithCancel(t.Context())
		var running sync.WaitGroup
		for range 4 {
			sender := newSender(t, openBooks(t, database, 1, time.Now), d.server.URL, time.Now)
			running.Go(func() { sender.Run(ctx) })
		}
		testkit.Eventually(t, time.Minute, func() error {
			sums, err := first.PayoutSums(t.Context(), round.ID)
			if err == nil && sums.Paid.Packets != 200 {
				err = fmt.Errorf("payouts are %+v", sums)
			}
			return err
		})
		end()
		running.Wait()
		wantPaid(t, first, d, round, players)
		if d.Payouts() != 200 {
			t.Errorf("%d payouts, want 200", d.Payouts())
		}
	})
}

// With these environment variables the test binary runs as a sender that is killed once the receiver has responded with 2xx.
const (
	childDatabase = "PAYOUT_TEST_CHILD_DATABASE"
	childTarget   = "PAYOUT_TEST_CHILD_TARGET"
)

// killedBooks kills the process when a payment is to be recorded.
type killedBooks struct{ *ledger.Ledger }

func (killedBooks) NotePaid(context.Context, game.Payout) error {
	return errors.Join(syscall.Kill(os.Getpid(), syscall.SIGKILL), errors.New("survived"))
}

func runChild(database, address string) int {
	ctx := context.Background()
	l, err := ledger.Open(ctx, database, ledger.WithPayouts(2))
	if err != nil {
		return 1
	}
	target, err := ParseTarget(ctx, address, nil)
	if err != nil {
		return 1
	}
	secret, err := ParseSecret(testSecret)
	if err != nil {
		return 1
	}
	New(killedBooks{l}, Options{Target: target, Secret: secret, Lease: time.Second}).Run(ctx)
	return 1
}

func TestKilledBetweenPostAndCommit(t *testing.T) {
	onEach(t, func(t *testing.T, database string) {
		l, d := openBooks(t, database, 2, time.Now), newReceiver(t)
		round, players := settledRound(t, l, 5)
		child := exec.CommandContext(t.Context(), os.Args[0])
		child.Env = append(os.Environ(), childDatabase+"="+database, childTarget+"="+d.server.URL)
		output, err := child.CombinedOutput()
		var ended *exec.ExitError
		if !errors.As(err, &ended) || ended.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			t.Fatalf("the child ended with %v: %s", err, bufio.NewScanner(strings.NewReader(string(output))).Text())
		}
		sums := must[game.PayoutSums](t)(l.PayoutSums(t.Context(), round.ID))
		if d.Payouts() == 0 || sums.Paid.Packets != 0 {
			t.Fatalf("%d payouts were posted before the kill, %+v", d.Payouts(), sums)
		}
		sender := newSender(t, l, d.server.URL, time.Now)
		testkit.Eventually(t, 20*time.Second, func() error { // until the dead one's lease ends
			sendAll(t, sender)
			got, err := l.PayoutSums(t.Context(), round.ID)
			if err == nil && got.Paid.Packets != 5 {
				err = fmt.Errorf("payouts are %+v", got)
			}
			return err
		})
		wantPaid(t, l, d, round, players)
		if d.posts() <= 3 {
			t.Errorf("%d posts of 3 payouts: nothing came twice", d.posts())
		}
	})
}

// A sender that is stopped records the outcome of its POSTs under way, and leaves the rest to other senders at once.
func TestStoppedSenderRecordsItsPosts(t *testing.T) {
	d, now := newReceiver(t), newClock()
	l := openBooks(t, databases["sqlite"](t), 1, now.Now)
	round, players := settledRound(t, l, 30)
	ctx, end := context.WithCancel(t.Context())
	d.misbehave(nil, func(w http.ResponseWriter, _ *http.Request) {
		end()
		w.WriteHeader(http.StatusNoContent)
	})
	sender := newSender(t, l, d.server.URL, now.Now)
	sender.Run(ctx)
	sums := must[game.PayoutSums](t)(l.PayoutSums(t.Context(), round.ID))
	if sums.Paid.Packets == 0 || sums.Paid.Packets == 30 || sums.Paid.Packets != d.Payouts() {
		t.Errorf("stopped with %+v, the receiver has %d", sums, d.Payouts())
	}
	d.misbehave(nil, nil)
	sendAll(t, newSender(t, l, d.server.URL, now.Now)) // without any lease to wait for
	wantPaid(t, l, d, round, players)
	if d.posts() != 30 {
		t.Errorf("%d posts, want 30", d.posts())
	}
}
