package api

import (
	"context"
	"encoding/json"
	"testing"

	"redrain/internal/game"
)

func (b *fakeStore) Reconcile(_ context.Context, id string) (game.Reconciliation, error) {
	if _, err := b.Round(context.Background(), id); err != nil {
		return game.Reconciliation{}, err
	}
	return game.Reconciliation{
		Round: id, Agrees: true, Redis: &game.RedisBooks{Claims: 3}, Ledger: game.LedgerBooks{Claims: 3}, Differences: []game.Difference{},
	}, b.record()
}

func (b *fakeStore) Freeze(_ context.Context, id string) (game.Round, error) {
	return b.moveRound(id, game.Raining, "")
}

func (b *fakeStore) Release(_ context.Context, id string) (game.Round, error) {
	return b.moveRound(id, game.Raining, "")
}

func (b *fakeStore) ReplayFailed(_ context.Context, id string) (letters, claims int, err error) {
	b.changed++
	_, err = b.Round(context.Background(), id)
	return 1, 2, err
}

func (b *fakeStore) DeadLetters(context.Context, string) ([]game.DeadLetter, error) {
	return []game.DeadLetter{{Entry: "7-0", Raw: `{"kind":"?"}`, Reason: `it is of kind "?"`}}, b.record()
}

func (b *fakeStore) Quarantined(context.Context, string) ([]game.Quarantined, error) {
	return []game.Quarantined{{Claim: b.claims[1], Reason: "overdraw", Replayed: true}}, b.record()
}

func TestHostsSeeARoundsBooks(t *testing.T) {
	r := newTestServer(t)
	path := "/api/rounds/" + roundA
	var shown reconciliationAnswer
	response := r.call("GET", path+"/reconciliation", "", asHost)
	if err := json.Unmarshal(response.Body.Bytes(), &shown); err != nil || response.Code != 200 {
		t.Fatalf("got %d %s", response.Code, response.Body)
	}
	if got := shown.Reconciliation; !got.Agrees || got.Redis.Claims != 3 || got.Ledger.Claims != 3 {
		t.Errorf("got %+v", got)
	}
	wantJSON(t, r.call("GET", path+"/dead-letters", "", asHost), 200,
		`{"dead_letters":[{"entry":"7-0","raw":"{\"kind\":\"?\"}","reason":"it is of kind \"?\"","driven":false}]}`)
	wantJSON(t, r.call("GET", path+"/quarantine", "", asHost), 200,
		`{"quarantine":[{"claim":`+claimJSON(2, playerB, "", 9, 5)+`,"reason":"overdraw","driven":true}]}`)
	if r.store.changed != 0 {
		t.Errorf("reading changed %d things", r.store.changed)
	}
}

func TestHostsFreezeReleaseAndReplay(t *testing.T) {
	r := newTestServer(t)
	for _, verb := range []string{"freeze", "release"} {
		wantJSON(t, r.call("POST", "/api/rounds/"+roundA+"/"+verb, "", asHost), 200, `{"round":`+roundJSON(t, roundA)+`}`)
		wantRefused(t, r.call("POST", "/api/rounds/"+unknown+"/"+verb, "", asHost), 404, "round_not_found")
	}
	wantJSON(t, r.call("POST", "/api/rounds/"+roundA+"/drive", "", asHost), 200, `{"dead_letters":1,"claims":2}`)
	wantRefused(t, r.call("POST", "/api/rounds/"+roundA+"/drive", `{"force":true}`, asHost), 400, "bad_body")
}

func TestBooksAreOnlyForHosts(t *testing.T) {
	r := newTestServer(t)
	for _, route := range [][2]string{
		{"GET", "reconciliation"}, {"GET", "dead-letters"}, {"GET", "quarantine"}, {"POST", "freeze"}, {"POST", "release"}, {"POST", "drive"},
	} {
		path := "/api/rounds/" + roundA + "/" + route[1]
		wantRefused(t, r.call(route[0], path, ""), 401, "unauthorized")
		wantRefused(t, r.call(route[0], path, "", asPlayer(code, playerA)), 401, "unauthorized")
		wantRefused(t, r.call(route[0], "/api/rounds/7/"+route[1], "", asHost), 404, "round_not_found")
		if route[0] == "GET" {
			wantRefused(t, r.call("GET", "/api/rounds/"+unknown+"/"+route[1], "", asHost), 404, "round_not_found")
		}
	}
	if r.store.changed != 0 {
		t.Errorf("%d things changed", r.store.changed)
	}
}
