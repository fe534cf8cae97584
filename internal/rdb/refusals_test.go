package rdb

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"redrain/internal/game"
	"redrain/internal/testkit"
)

// refused grabs until Redis refuses, and checks that the error is transient, with nothing done.
func refused(t *testing.T, client *Client, round game.Round, words string) {
	t.Helper()
	testkit.Eventually(t, soon, func() error {
		_, err := client.Grab(t.Context(), round.Room, round.ID, client.NewBatch(), taps("ann1"))
		switch {
		case err == nil || !strings.Contains(err.Error(), words):
			return fmt.Errorf("error is %v, want %q", err, words) //nolint:errorlint // it may be nil
		case !NothingDone(err) || !errors.Is(err, game.ErrTryAgain) || !errors.Is(err, game.ErrRefused):
			t.Errorf("%v: is not known to have done nothing, for now", err)
		}
		return nil
	})
}

func dial(t *testing.T, url string) *Client {
	t.Helper()
	client, err := Dial(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Disconnect() })
	return client
}

// During a failover Redis refuses commands for a while. Such an error is neither permanent nor an unknown result.
func TestTransientRefusals(t *testing.T) {
	t.Parallel()
	t.Run("READONLY and MASTERDOWN", func(t *testing.T) {
		master := testkit.Redis(t)
		host, port, _ := net.SplitHostPort(master.Addr)
		replica := testkit.Redis(t, "--replicaof", host+" "+port, "--replica-serve-stale-data", "no")
		round := newFixture(t, master.URL).started(nil)
		client := dial(t, replica.URL)
		refused(t, client, round, "READONLY")
		master.Kill()
		refused(t, client, round, "MASTERDOWN")
	})
	t.Run("NOREPLICAS", func(t *testing.T) {
		server := testkit.Redis(t)
		client := dial(t, server.URL)
		f := newFixture(t, server.URL)
		round := f.started(nil)
		if err := client.redis.ConfigSet(t.Context(), "min-replicas-to-write", "1").Err(); err != nil {
			t.Fatal(err)
		}
		before := f.contents()
		_, err := client.Grab(t.Context(), round.Room, round.ID, client.NewBatch(), taps("ann1"))
		if !NothingDone(err) || !errors.Is(err, game.ErrTryAgain) || !strings.Contains(err.Error(), "NOREPLICAS") {
			t.Errorf("error is %v", err)
		}
		same(t, before, f.contents())
	})
	t.Run("CLUSTERDOWN", func(t *testing.T) {
		refused(t, dial(t, testkit.Redis(t, "--cluster-enabled", "yes").URL), newRound(t, nil), "CLUSTERDOWN")
	})
	t.Run("BUSY", func(t *testing.T) {
		server := testkit.Redis(t, "--busy-reply-threshold", "1")
		client := dial(t, server.URL)
		looping := make(chan struct{})
		other := redis.NewClient(&redis.Options{Addr: server.Addr, MaxRetries: -1, ReadTimeout: -1})
		go func() {
			defer close(looping)
			_ = other.Eval(context.Background(), "while true do end", nil).Err()
		}()
		refused(t, client, newRound(t, nil), "BUSY")
		testkit.Eventually(t, soon, func() error { return client.redis.ScriptKill(t.Context()).Err() })
		<-looping
		_ = other.Close()
	})
	t.Run("never sent", func(t *testing.T) {
		server := testkit.Redis(t)
		client := dial(t, server.URL)
		server.Kill()
		refused(t, client, newRound(t, nil), "connection refused")
	})
}

func TestOnlyRefusalsByNameAreKnownToHaveDoneNothing(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct{ nothing, passes bool }{
		"MOVED 1 127.0.0.1:1": {true, true}, "ASK 1 127.0.0.1:1": {true, true}, "TRYAGAIN x": {true, true}, "LOADING x": {true, true},
		"ERR max number of clients reached": {true, true}, "OOM x": {true, false}, "MISCONF x": {true, false},
		"BUSYGROUP x": {false, false}, "ASKED": {false, false}, "ERR READ": {false, false}, "EXECABORT x": {false, false},
	} {
		err := fmt.Errorf("wrapped: %w", refusal(text))
		if NothingDone(err) != want.nothing || isTransient(err) != want.passes {
			t.Errorf("%q: nothing done %t, passes %t", text, NothingDone(err), isTransient(err))
		}
	}
	for _, err := range []error{nil, context.DeadlineExceeded, net.ErrClosed, &net.OpError{Op: "read", Err: errBadReply}} {
		if NothingDone(err) {
			t.Errorf("%v: is said to have done nothing", err)
		}
	}
	if refused := (&net.OpError{Op: "dial", Err: errBadReply}); !NothingDone(refused) {
		t.Error("what was never sent is not known to have done nothing")
	}
}
