package api

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"redrain/internal/game"
)

func TestHistoryIsWhatWasPlayed(t *testing.T) {
	r := newRig(t)
	wantJSON(t, r.call("GET", "/api/rooms/RAXN88/history", ""), 200, `{"rounds":[]}`)
	played := func(phase game.Phase, change func(*game.Round)) game.Round {
		round := r.books.rounds[1]
		round.ID = fmt.Sprintf("%08d-2222-4333-8444-555555555555", len(r.books.rounds))
		round.Phase, round.Reason, round.Claimed = phase, game.ByTime, game.Total{Packets: 3, Cents: 1505}
		change(&round)
		r.books.rounds = append(r.books.rounds, round)
		return round
	}
	same := func(*game.Round) {}
	closed := played(game.Closed, same)
	settled := played(game.Settled, same)
	shown := func(round game.Round) string {
		text := roundJSON(t, roundA, func(r *game.Round) { *r = round })
		return `{"round":` + text + `,"claimed_packets":3,"claimed_cents":1505}`
	}
	wantJSON(t, r.call("GET", "/api/rooms/raxn88/history", ""), 200, `{"rounds":[`+shown(closed)+`,`+shown(settled)+`]}`)
	wantRefused(t, r.call("GET", "/api/rooms/NEWRXX/history", ""), 404, "room_not_found")
	for range 2 * historyMost {
		played(game.Settled, same)
	}
	if got := strings.Count(r.call("GET", "/api/rooms/RAXN88/history", "").Body.String(), `"claimed_packets"`); got != historyMost {
		t.Errorf("the history has %d rounds, want %d", got, historyMost)
	}
}

func TestNextIsTheSoonestThatStartsByItself(t *testing.T) {
	r := newRig(t)
	wantJSON(t, r.call("GET", "/api/rooms/RAXN88/next", ""), 200, `{"next":null}`)
	round := r.books.rounds[0]
	round.StartsOn, round.Settings.Title = 1000, "round at 1000"
	r.books.rounds = append(r.books.rounds, round)
	wantJSON(t, r.call("GET", "/api/rooms/raxn88/next", ""), 200, `{"next":{"title":"round at 1000","starts_on":1000}}`)
	wantRefused(t, r.call("GET", "/api/rooms/NEWRXX/next", ""), 404, "room_not_found")
}

func TestResultsAreFinal(t *testing.T) {
	r := newRig(t)
	ask := "/api/rounds/" + roundA + "/result/me"
	wantRefused(t, r.call("GET", ask, "", asPlayer(code, playerA)), 409, "wrong_phase")
	r.books.rounds[1].Phase = game.Settled
	for range 2 {
		wantJSON(t, r.call("GET", ask, "", asPlayer(code, playerB)), 200,
			`{"rank":2,"players":2,"claims":[`+claimJSON(2, playerB, "", 9, 5)+`]}`)
		wantJSON(t, r.call("GET", ask, "", asPlayer(code, newcomer)), 200, `{"rank":0,"players":2,"claims":[]}`)
	}
	if r.books.ranked != 1 {
		t.Errorf("the books were asked for the ranks %d times, want once", r.books.ranked)
	}
	wantRefused(t, r.call("GET", ask, ""), 401, "unauthorized")
	wantRefused(t, r.call("GET", ask, "", asPlayer("NEWRXX", playerA)), 401, "unauthorized")
	wantRefused(t, r.call("GET", "/api/rounds/"+unknown+"/result/me", "", asPlayer(code, playerA)), 404, "round_not_found")
}

func TestFinalsForgetTheOldest(t *testing.T) {
	books, kept := newBooks(), new(finals)
	for i := range 3 * finalsKept {
		if ranks, err := kept.of(t.Context(), books, fmt.Sprint(i)); err != nil || ranks[playerB] != 2 {
			t.Fatalf("ranks are %v, %v", ranks, err)
		}
	}
	if len(kept.ranks) != finalsKept || len(kept.rounds) != finalsKept {
		t.Errorf("%d rounds are kept, want %d", len(kept.ranks), finalsKept)
	}
}

// slowRanks are books that tell nobody's ranks in a slow round until they are let.
type slowRanks struct {
	*books
	slow  string
	let   chan struct{}
	calls atomic.Int64
}

func (s *slowRanks) FinalRanks(ctx context.Context, round string) ([]string, error) {
	if round == s.slow {
		s.calls.Add(1)
		select {
		case <-s.let:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return s.books.FinalRanks(ctx, round)
}

// One look at the books held all rounds' results up, and ended with the first who had asked. Here each round has its own, which
// belongs to nobody: who leaves leaves alone.
func TestASlowRoundsResultsHoldUpNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		books := &slowRanks{books: newBooks(), slow: roundA, let: make(chan struct{})}
		kept := new(finals)
		first, leave := context.WithCancel(t.Context())
		left, stayed := make(chan error, 1), make(chan error, 1)
		go func() { _, err := kept.of(first, books, roundA); left <- err }()
		synctest.Wait()
		go func() { _, err := kept.of(t.Context(), books, roundA); stayed <- err }()
		synctest.Wait()
		other := make(chan error, 1)
		go func() { _, err := kept.of(t.Context(), books, unknown); other <- err }()
		select {
		case err := <-other:
			if err != nil {
				t.Errorf("another round: %v", err)
			}
		case <-time.After(finalsWithin / 2):
			t.Error("another round's results wait")
		}
		leave()
		synctest.Wait()
		select {
		case err := <-left:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("who left: %v", err)
			}
		default:
			t.Error("who leaves waits")
		}
		close(books.let)
		if err := <-stayed; err != nil {
			t.Errorf("who stayed: %v", err)
		}
		if n := books.calls.Load(); n != 1 {
			t.Errorf("the books were asked %d times", n)
		}
	})
}

// Books that never answer are given up, and asked again by whoever asks next.
func TestResultsThatCannotBeReadAreAskedForAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		books := &slowRanks{books: newBooks(), slow: roundA, let: make(chan struct{})}
		kept := new(finals)
		if _, err := kept.of(context.Background(), books, roundA); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("books that hang: %v", err)
		}
		close(books.let)
		if ranks, err := kept.of(t.Context(), books, roundA); err != nil || ranks[playerB] != 2 {
			t.Errorf("ranks are %v, %v", ranks, err)
		}
	})
}
