package api

import (
	"fmt"
	"strings"
	"testing"

	"redrain/internal/game"
)

func TestHistoryIsWhatWasPlayed(t *testing.T) {
	r := newRig(t)
	wantJSON(t, r.call("GET", "/api/rooms/RAXN88/history", ""), 200, `{"rounds":[]}`)
	played := func(phase game.Phase, change func(*game.Round)) game.Round {
		round := r.books.rounds[1]
		round.ID = fmt.Sprintf("%08d-2222-4333-8444-555555555555", len(r.books.rounds))
		round.Phase, round.Reason, round.Claimed = phase, game.ByTime, game.Left{Packets: 3, Cents: 1505}
		change(&round)
		r.books.rounds = append(r.books.rounds, round)
		return round
	}
	same := func(*game.Round) {}
	closed := played(game.Closed, same)
	played(game.Closed, func(r *game.Round) { r.Reason = game.Cancelled })
	played(game.Settled, func(r *game.Round) { r.Rehearsal = true })
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
	for i, on := range []game.Moment{3000, 1000, 2000, 500, 600} {
		round := r.books.rounds[0]
		round.ID, round.StartsOn, round.Settings.Title = fmt.Sprint(i), on, fmt.Sprintf("round at %d", on)
		if on == 500 {
			round.Phase = game.Settled
		}
		round.Rehearsal = on == 600
		r.books.rounds = append(r.books.rounds, round)
	}
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
