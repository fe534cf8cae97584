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

func TestHistoryListsFinishedRounds(t *testing.T) {
	r := newTestServer(t)
	wantJSON(t, r.call("GET", "/api/rooms/RAXN88/history", ""), 200, `{"rounds":[]}`)
	played := func(phase game.Phase, change func(*game.Round)) game.Round {
		round := r.store.rounds[1]
		round.ID = fmt.Sprintf("%08d-2222-4333-8444-555555555555", len(r.store.rounds))
		round.Phase, round.Reason, round.Claimed = phase, game.ByTime, game.Total{Packets: 3, Cents: 1505}
		change(&round)
		r.store.rounds = append(r.store.rounds, round)
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
	for range 2 * maxHistory {
		played(game.Settled, same)
	}
	if got := strings.Count(r.call("GET", "/api/rooms/RAXN88/history", "").Body.String(), `"claimed_packets"`); got != maxHistory {
		t.Errorf("the history has %d rounds, want %d", got, maxHistory)
	}
}

func TestNextIsTheEarliestScheduledDraft(t *testing.T) {
	r := newTestServer(t)
	wantJSON(t, r.call("GET", "/api/rooms/RAXN88/next", ""), 200, `{"next":null}`)
	round := r.store.rounds[0]
	round.StartsOn, round.Settings.Title = 1000, "round at 1000"
	r.store.rounds = append(r.store.rounds, round)
	wantJSON(t, r.call("GET", "/api/rooms/raxn88/next", ""), 200, `{"next":{"title":"round at 1000","starts_on":1000}}`)
	wantRefused(t, r.call("GET", "/api/rooms/NEWRXX/next", ""), 404, "room_not_found")
}

func TestResultsAreFinal(t *testing.T) {
	r := newTestServer(t)
	ask := "/api/rounds/" + roundA + "/result/me"
	wantRefused(t, r.call("GET", ask, "", asPlayer(code, playerA)), 409, "wrong_phase")
	r.store.rounds[1].Phase = game.Settled
	for range 2 {
		wantJSON(t, r.call("GET", ask, "", asPlayer(code, playerB)), 200,
			`{"rank":2,"players":2,"claims":[`+claimJSON(2, playerB, "", 9, 5)+`]}`)
		wantJSON(t, r.call("GET", ask, "", asPlayer(code, newcomer)), 200, `{"rank":0,"players":2,"claims":[]}`)
	}
	if r.store.ranked != 1 {
		t.Errorf("the books were asked for the ranks %d times, want once", r.store.ranked)
	}
	wantRefused(t, r.call("GET", ask, ""), 401, "unauthorized")
	wantRefused(t, r.call("GET", ask, "", asPlayer("NEWRXX", playerA)), 401, "unauthorized")
	wantRefused(t, r.call("GET", "/api/rounds/"+unknown+"/result/me", "", asPlayer(code, playerA)), 404, "round_not_found")
}

func TestRanksCacheEvictsTheOldestRound(t *testing.T) {
	books, kept := newFakeStore(), new(ranksCache)
	for i := range 3 * maxCachedRankings {
		if ranks, err := kept.get(t.Context(), books, fmt.Sprint(i)); err != nil || ranks[playerB] != 2 {
			t.Fatalf("ranks are %v, %v", ranks, err)
		}
	}
	if len(kept.ranks) != maxCachedRankings || len(kept.rounds) != maxCachedRankings {
		t.Errorf("%d rounds are kept, want %d", len(kept.ranks), maxCachedRankings)
	}
}

// blockingRanks blocks reads of the ranks of one round until the test releases them.
type blockingRanks struct {
	*fakeStore
	slow  string
	let   chan struct{}
	calls atomic.Int64
}

func (s *blockingRanks) FinalRanks(ctx context.Context, round string) ([]string, error) {
	if round == s.slow {
		s.calls.Add(1)
		select {
		case <-s.let:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return s.fakeStore.FinalRanks(ctx, round)
}

// Each round's ranks are loaded separately, and the load does not end when the request that started it is cancelled.
func TestSlowLoadOfRanksBlocksNoOtherRound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		books := &blockingRanks{fakeStore: newFakeStore(), slow: roundA, let: make(chan struct{})}
		kept := new(ranksCache)
		first, leave := context.WithCancel(t.Context())
		left, stayed := make(chan error, 1), make(chan error, 1)
		go func() { _, err := kept.get(first, books, roundA); left <- err }()
		synctest.Wait()
		go func() { _, err := kept.get(t.Context(), books, roundA); stayed <- err }()
		synctest.Wait()
		other := make(chan error, 1)
		go func() { _, err := kept.get(t.Context(), books, unknown); other <- err }()
		select {
		case err := <-other:
			if err != nil {
				t.Errorf("another round: %v", err)
			}
		case <-time.After(loadRanksTimeout / 2):
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

// A load that takes too long is given up, and the next request starts another.
func TestFailedLoadOfRanksIsRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		books := &blockingRanks{fakeStore: newFakeStore(), slow: roundA, let: make(chan struct{})}
		kept := new(ranksCache)
		if _, err := kept.get(context.Background(), books, roundA); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("books that hang: %v", err)
		}
		close(books.let)
		if ranks, err := kept.get(t.Context(), books, roundA); err != nil || ranks[playerB] != 2 {
			t.Errorf("ranks are %v, %v", ranks, err)
		}
	})
}
