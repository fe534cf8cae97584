package rdb

import (
	"context"
	"fmt"
	"testing"
	"time"

	"redrain/internal/game"
	"redrain/internal/testkit"
)

// replyTimeout is how long these tests wait for a reply that a proxy swallows.
const replyTimeout = 300 * time.Millisecond

// behindProxy is an instance whose replies can be lost, and one with a straight way to the same server.
func behindProxy(t *testing.T) (behind, straight *fixture, proxy *testkit.SwallowProxy) {
	server := testkit.Redis(t)
	proxy = testkit.NewSwallowProxy(t, server.Addr)
	return newFixture(t, "redis://"+proxy.Addr), newFixture(t, server.URL), proxy
}

func (r *fixture) grabOnce(round game.Round, batch []game.Tap) (game.Grabbed, error) {
	ctx, cancel := context.WithTimeout(r.t.Context(), replyTimeout)
	defer cancel()
	return r.Grab(ctx, round.Room, round.ID, r.NewBatch(), batch)
}

// grabUntilTold asks with the same taps until a reply comes, and counts how often it asked.
func (r *fixture) grabUntilTold(round game.Round, batch []game.Tap) (game.Grabbed, int) {
	r.t.Helper()
	for attempts := 1; ; attempts++ {
		grabbed, err := r.grabOnce(round, batch)
		switch {
		case err == nil:
			return grabbed, attempts
		case NothingDone(err) || attempts == 20:
			r.t.Fatalf("attempt %d: %v", attempts, err)
		}
	}
}

// A batch whose reply is lost may have been counted. Sent again under the same name it must not be paid twice.
func TestTapsWhoseRepliesAreLostCountOnce(t *testing.T) {
	t.Parallel()
	behind, straight, proxy := behindProxy(t)
	round := behind.started(func(s *game.Settings) { s.Packets = 100 })
	behind.now.Store(0)
	behind.grab(round, crowd("first", 1, 1)) // the script is there now, so one EVALSHA is one call
	for n := range 5 {
		batch := crowd(fmt.Sprintf("p%d-", n), 3, 1)
		proxy.SwallowReplies(1+n%2, "evalsha")
		grabbed, attempts := behind.grabUntilTold(round, batch)
		if attempts < 2+n%2 { // more when the machine is slow
			t.Fatalf("%d attempts, so the reply was not lost", attempts)
		}
		for i, answer := range grabbed.Answers {
			if want := 2 + 3*n + i; answer.Outcome != game.Duplicate || answer.Number != want {
				t.Errorf("after %d lost replies tap %d came to %v", 1+n%2, i, answer)
			}
		}
	}
	proxy.Heal()
	claims, err := straight.Claims(t.Context(), round.ID, 0, 1000)
	if err != nil || len(claims) != 16 {
		t.Errorf("%d claims, %v", len(claims), err)
	}
	if proxy.Swallowed() != 7 {
		t.Errorf("%d replies were lost, want 7: the client asks again by itself", proxy.Swallowed())
	}
}

func TestLostReplyOfOpenAndCloseMayBeAskedAgain(t *testing.T) {
	t.Parallel()
	behind, straight, proxy := behindProxy(t)
	for _, s := range []script{openScript, closeScript} {
		if err := s.run.Load(t.Context(), straight.redis).Err(); err != nil {
			t.Fatal(err)
		}
	}
	round := newRound(t, dealtEqual)
	lose := func(what string, call func(ctx context.Context) error) {
		t.Helper()
		proxy.SwallowReplies(1, "evalsha")
		ctx, cancel := context.WithTimeout(t.Context(), replyTimeout)
		defer cancel()
		if err := call(ctx); err == nil || NothingDone(err) {
			t.Fatalf("%s: the reply was not lost: %v", what, err)
		}
	}
	lose("open", func(ctx context.Context) error { _, err := behind.Open(ctx, round, amountsOf(round)); return err })
	opened, err := straight.Standing(t.Context(), round.ID)
	if err != nil {
		t.Fatal(err)
	}
	again, err := behind.Open(t.Context(), round, amountsOf(round))
	if err != nil || again.StartsAt != opened.StartsAt {
		t.Errorf("opened again as %+v, %v, was %+v", again, err, opened)
	}
	lose("close", func(ctx context.Context) error { _, err := behind.Close(ctx, round, game.Stopped); return err })
	if closed, err := behind.Close(t.Context(), round, game.Interrupted); err != nil || closed.Reason != game.Stopped {
		t.Errorf("closed again as %+v, %v", closed, err)
	}
	if entries := straight.unsettled(round); len(entries) != 1 {
		t.Errorf("the outbox has %v, want one refund", entries)
	}
}

// After a connection broke no batch may get the reply of another.
func TestGrabsGoOnOverCutConnections(t *testing.T) {
	t.Parallel()
	behind, _, proxy := behindProxy(t)
	round := behind.started(func(s *game.Settings) { s.Packets = 100 })
	behind.now.Store(0)
	for n := range 10 {
		batch := crowd(fmt.Sprintf("p%d-", n), 2, 1)
		proxy.Cut()
		testkit.Eventually(t, soon, func() error {
			grabbed, err := behind.grabOnce(round, batch)
			if err == nil && grabbed.Answers[1].Number != 2*n+2 {
				t.Fatalf("batch %d came to %v", n, grabbed.Answers)
			}
			return err
		})
	}
}
