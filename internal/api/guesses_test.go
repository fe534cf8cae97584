package api

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// login sends a password and returns the status and how long the answer took.
func login(r *testServer, guess, address string, changes ...requestOption) (status int, took time.Duration) {
	began := time.Now()
	answer := r.call("POST", "/api/host/session", `{"password":"`+guess+`"}`, append(changes, withRemoteAddr(address))...)
	return answer.Code, time.Since(began)
}

// A guest in the host's network guesses 20 times a second, and the host comes in all the same.
func TestTheHostComesInBesideAGuestWhoGuesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestServer(t, func(o *Options) { o.Now = time.Now })
		var guest sync.WaitGroup
		guest.Go(func() {
			for range 20 * 60 {
				guest.Go(func() {
					if got, _ := login(r, "guess", "203.0.113.7:1000"); got != 401 {
						t.Errorf("a guess: got %d, want 401", got)
					}
				})
				time.Sleep(time.Second / 20) //nolint:forbidigo // the bubble's clock
			}
		})
		for range 60 {
			time.Sleep(time.Second) //nolint:forbidigo // the bubble's clock
			if got, took := login(r, password, "203.0.113.7:2000"); got != 200 || took > 2*time.Second {
				t.Errorf("the host: got %d after %v", got, took)
			}
		}
		guest.Wait()
	})
}

// Guesses at once wait for their turns; only those whose turn is too far away are refused, right or wrong. Who has a session waits for nobody.
func TestGuessesWaitForTheirTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestServer(t, func(o *Options) { o.Now = time.Now })
		const burst = 1000
		began, statuses := time.Now(), make([]int, burst)
		var all sync.WaitGroup
		for i := range burst {
			all.Go(func() { statuses[i], _ = login(r, "guess", "203.0.113.7:1000") })
		}
		synctest.Wait()
		if got, _ := login(r, password, "203.0.113.7:1000"); got != 429 {
			t.Errorf("the right one within a flood: got %d, want 429", got)
		}
		if got, took := login(r, password, "203.0.113.7:1000", asHost); got != 200 || took != 0 {
			t.Errorf("the right one with a session: got %d after %v", got, took)
		}
		if got, took := login(r, password, "203.0.113.8:1000"); got != 200 || took != 0 {
			t.Errorf("from another address: got %d after %v", got, took)
		}
		all.Wait()
		if took := time.Since(began); took > maxGuessDelay {
			t.Errorf("the last answer came after %v", took)
		}
		counts := map[int]int{}
		for _, status := range statuses {
			counts[status]++
		}
		if most := guessBurst + int(guessRate*maxGuessDelay.Seconds()); counts[401] != most || counts[429] != burst-most {
			t.Errorf("got %v, want %d of 401", counts, most)
		}
	})
}

func TestRightPasswordsAndBadBodiesDoNotCount(t *testing.T) {
	r := newTestServer(t)
	for range 500 {
		if got, _ := login(r, password, "203.0.113.7:1000"); got != 200 {
			t.Fatalf("the right one: got %d", got)
		}
		r.call("POST", "/api/host/session", `{"password":`, withRemoteAddr("203.0.113.7:1000"))
	}
	if delay, ok := r.server.guesses.delay("203.0.113.7", true); delay != 0 || !ok {
		t.Errorf("the first wrong one waits %v", delay)
	}
}

// taken is how many wrong guesses at one moment are let through, from addresses that a function makes.
func taken(address func(n int) string) int {
	clock := &fakeClock{now: time.Unix(1_800_000_000, 0)}
	guesses := newGuessLimiter(clock.Now)
	passed := 0
	for n := range 10_000 {
		if _, ok := guesses.delay(address(n), true); ok {
			passed++
		}
	}
	return passed
}

func TestNetworksThatCountAsOneGuesser(t *testing.T) {
	waiting := int(guessRate * maxGuessDelay.Seconds())
	for name, test := range map[string]struct {
		address func(n int) string
		most    int
	}{
		"one address":               {func(int) string { return "203.0.113.7" }, guessBurst + waiting},
		"the addresses of a /64":    {func(n int) string { return fmt.Sprintf("2001:db8:0:1::%x", n) }, guessBurst + waiting},
		"the networks of a /48":     {func(n int) string { return fmt.Sprintf("2001:db8:0:%x::7", n) }, siteBurst + waiting},
		"a hundred addresses":       {func(n int) string { return fmt.Sprintf("203.0.113.%d", n%100) }, 100*guessBurst + globalBurst + int(globalRate*maxGuessDelay.Seconds())},
		"a zone does not matter":    {func(n int) string { return fmt.Sprintf("fe80::1%%eth%d", n) }, guessBurst + waiting},
		"IPv4 mapped, and unmapped": {func(n int) string { return []string{"203.0.113.7", "::ffff:203.0.113.7"}[n%2] }, guessBurst + waiting},
	} {
		if got := taken(test.address); got > test.most || got < test.most*9/10 {
			t.Errorf("%s: %d guesses are taken, want %d", name, got, test.most)
		}
	}
}
