package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"redrain/internal/game"
	"redrain/internal/probe"
	"redrain/internal/wire"
)

// roundJSON returns a round of the fake store as the API shows it.
func roundJSON(t *testing.T, id string, change ...func(*game.Round)) string {
	t.Helper()
	round, err := newFakeStore().Round(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	for _, do := range change {
		do(&round)
	}
	text, err := wire.Marshal(wire.RoundOf(round))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestRooms(t *testing.T) {
	r := newTestServer(t)
	wantJSON(t, r.call("POST", "/api/rooms", `{"name":"  春晚 "}`, asHost), 201, `{"room":{"code":"NEWRXX","name":"春晚","locked":false,"app_only":false}}`)
	wantJSON(t, r.call("GET", "/api/rooms", "", asHost), 200, `{"rooms":[{"code":"RAXN88","name":"年会",
		"locked":false,"app_only":false,"players":2,"drafts":1,"played":2,"given_cents":1505,"active":"`+roundA+`"}],"next":""}`)
	want := `{"room":{"code":"RAXN88","name":"年会","locked":false,"app_only":false},"round":` + roundJSON(t, roundA) + `}`
	wantJSON(t, r.call("GET", "/api/rooms/RAXN88", ""), 200, want)
	wantJSON(t, r.call("GET", "/api/rooms/raxn88", ""), 200, want)
	r.store.rounds = nil
	wantJSON(t, r.call("GET", "/api/rooms/RAXN88", ""), 200, `{"room":{"code":"RAXN88","name":"年会","locked":false,"app_only":false},"round":null}`)
	r.store.rooms = nil
	wantJSON(t, r.call("GET", "/api/rooms", "", asHost), 200, `{"rooms":[],"next":""}`)
}

func TestRoomsArePaged(t *testing.T) {
	r := newTestServer(t)
	for i := range 2 * defaultRooms {
		r.store.rooms = append(r.store.rooms, game.Room{Code: fmt.Sprintf("RAXN%c%c", 'A'+i/10, '2'+i%8)})
	}
	for query, want := range map[string]struct {
		rooms int
		next  string
	}{
		"": {defaultRooms, r.store.rooms[defaultRooms-1].Code}, "?limit=2": {2, r.store.rooms[1].Code}, "?limit=2&after=" + code: {2, r.store.rooms[2].Code},
		"?limit=200": {2*defaultRooms + 1, ""},
	} {
		var page roomsPage
		if err := json.Unmarshal(r.call("GET", "/api/rooms"+query, "", asHost).Body.Bytes(), &page); err != nil || len(page.Rooms) != want.rooms || page.Next != want.next {
			t.Errorf("%s: %d rooms, then %q, %v", query, len(page.Rooms), page.Next, err)
		}
	}
	for _, query := range []string{"?after=NEWRXX", "?after=raxn88", "?after=x"} {
		wantRefused(t, r.call("GET", "/api/rooms"+query, "", asHost), 404, "room_not_found")
	}
	wantRefused(t, r.call("GET", "/api/rooms?limit=201", "", asHost), 400, "bad_request")
}

func TestPlayersJoinAndRejoin(t *testing.T) {
	r := newTestServer(t)
	joined := r.call("POST", "/api/rooms/raxn88/players", `{"nickname":" 阿花 "}`)
	var answered joinedAnswer
	if err := json.Unmarshal(joined.Body.Bytes(), &answered); err != nil || joined.Code != 201 {
		t.Fatalf("got %d %s, %v", joined.Code, joined.Body, err)
	}
	if want := (player{newcomer, "阿花"}); answered.Player != want {
		t.Errorf("got %+v, want %+v", answered.Player, want)
	}
	if id, err := r.server.Sessions.Player(answered.Token, code); err != nil || id != newcomer {
		t.Errorf("the token is for %q, %v", id, err)
	}
	wantJSON(t, r.call("GET", "/api/rooms/RAXN88/players/me", "", asPlayer(code, playerA)), 200,
		`{"player":{"id":"`+playerA+`","nickname":"小明"}}`)
	// A session whose player is not in the database, as after a reset, is refused, so that the page shows the nickname form.
	wantRefused(t, r.call("GET", "/api/rooms/RAXN88/players/me", "", asPlayer(code, newcomer)), 401, "unauthorized")
}

func TestCreateRoundFillsInDefaults(t *testing.T) {
	r := newTestServer(t)
	response := r.call("POST", "/api/rooms/RAXN88/rounds", `{"total_cents":88800,"packets":100}`, asHost)
	want := game.Round{ID: unknown, Room: code, Phase: game.Draft, Settings: game.DefaultSettings()}
	want.Settings.Total, want.Settings.Packets = 88800, 100
	text, err := wire.Marshal(roundAnswer{wire.RoundOf(want)})
	if err != nil {
		t.Fatal(err)
	}
	wantJSON(t, response, 201, string(text))
}

func TestCreateRoundTakesEverySetting(t *testing.T) {
	r := newTestServer(t)
	settings := `"title":"第一场","total_cents":1000,"packets":3,"split":"dealt","deal":"tiers",
		"tiers":[{"packets":1,"cents":800},{"packets":2,"cents":100}],"pace":"burst","cap":2,"min_cents":50,"max_cents":900,
		"countdown_ms":0,"duration_ms":600000,"drops_per_second":40,"bomb_percent":0,"close_when_sold_out":false,"rehearsal":true`
	wantJSON(t, r.call("POST", "/api/rooms/RAXN88/rounds", "{"+settings+"}", asHost), 201,
		`{"round":{"id":"`+unknown+`","room":"STAGE2","phase":"draft","reason":"","frozen":false,"hold":"","place":0,"starts_on":0,"missed_on":0,"miss_reason":"","starts_at":0,"ends_at":0,
			"algorithm":0,"commitment":"","secret":"",`+settings+`}}`)
}

func TestDealtRoundsAreDoubleMeanByDefault(t *testing.T) {
	r := newTestServer(t)
	response := r.call("POST", "/api/rooms/RAXN88/rounds", `{"total_cents":88800,"packets":100,"split":"dealt"}`, asHost)
	if response.Code != 201 || !strings.Contains(response.Body.String(), `"deal":"double_mean"`) {
		t.Errorf("got %d %s", response.Code, response.Body)
	}
}

func TestListRounds(t *testing.T) {
	r := newTestServer(t)
	wantJSON(t, r.call("GET", "/api/rooms/RAXN88/rounds", "", asHost), 200,
		`{"rounds":[`+roundJSON(t, draftB)+`,`+roundJSON(t, roundA)+`],"next":""}`)
	path := "/api/rooms/RAXN88/rounds?limit=1"
	wantJSON(t, r.call("GET", path, "", asHost), 200, `{"rounds":[`+roundJSON(t, draftB)+`,`+roundJSON(t, roundA)+`],"next":"`+roundA+`"}`)
	wantJSON(t, r.call("GET", path+"&after="+roundA, "", asHost), 200, `{"rounds":[],"next":""}`)
	wantRefused(t, r.call("GET", path+"&after=x", "", asHost), 404, "round_not_found")
	wantRefused(t, r.call("GET", path+"&after="+unknown, "", asHost), 404, "round_not_found")
	wantRefused(t, r.call("GET", "/api/rooms/RAXN88/rounds?limit=501", "", asHost), 400, "bad_request")
}

func TestChangesOfPhaseAnswerWithTheRound(t *testing.T) {
	r := newTestServer(t)
	for path, want := range map[string]func(*game.Round){
		"start":  func(r *game.Round) { r.Phase = game.Countdown },
		"stop":   func(r *game.Round) { r.Phase, r.Reason = game.Closed, game.Stopped },
		"cancel": func(r *game.Round) { r.Phase, r.Reason = game.Closed, game.Cancelled },
	} {
		for _, body := range []string{"", "{}"} {
			wantJSON(t, r.call("POST", "/api/rounds/"+roundA+"/"+path, body, asHost), 200,
				`{"round":`+roundJSON(t, roundA, want)+`}`)
		}
		wantRefused(t, r.call("POST", "/api/rounds/"+unknown+"/"+path, "", asHost), 404, "round_not_found")
	}
}

// Two hosts act at the same time: the second gets the reason why its change is refused.
func TestImpossibleChangesOfPhaseAreRefused(t *testing.T) {
	for err, code := range map[error]string{game.ErrRoomBusy: "room_busy", game.ErrWrongPhase: "wrong_phase"} {
		r := newTestServer(t)
		r.store.fail = err
		wantRefused(t, r.call("POST", "/api/rounds/"+roundA+"/start", "", asHost), 409, code)
	}
}

func TestSecretIsHiddenUntilTheRoundIsSettled(t *testing.T) {
	r := newTestServer(t)
	response := r.call("GET", "/api/rounds/"+roundA, "")
	if strings.Contains(response.Body.String(), "5ec2e7") {
		t.Errorf("the secret shows: %s", response.Body)
	}
	tally := fmt.Sprintf(`{"type":"tally","round":%q,"epoch":0,"serial":0,"at":0,"online":2,"taps":0,"claimed_packets":3,
		"claimed_cents":1505,"left_packets":0,"left_cents":0,"top":[],"winners":[],"arrivals":[]}`, roundA)
	wantJSON(t, response, 200, `{"round":`+roundJSON(t, roundA)+`,"tally":`+tally+`}`)
}

func claimJSON(number int, player, nickname string, drop, cents int) string {
	return fmt.Sprintf(`{"round":%q,"number":%d,"player":%q,"nickname":%q,"drop":%d,"cents":%d}`,
		roundA, number, player, nickname, drop, cents)
}

func TestClaimsComeInPagesWithNicknames(t *testing.T) {
	r := newTestServer(t)
	path := "/api/rounds/" + roundA + "/claims"
	first, second, third := claimJSON(1, playerA, "小明", 9, 888), claimJSON(2, playerB, "Bob", 9, 5), claimJSON(3, playerA, "小明", 17, 612)
	wantJSON(t, r.call("GET", path, "", asHost), 200, `{"claims":[`+first+`,`+second+`,`+third+`],"next":0}`)
	wantJSON(t, r.call("GET", path+"?limit=2", "", asHost), 200, `{"claims":[`+first+`,`+second+`],"next":2}`)
	wantJSON(t, r.call("GET", path+"?after=2&limit=2", "", asHost), 200, `{"claims":[`+third+`],"next":0}`)
	wantJSON(t, r.call("GET", path+"?after=3", "", asHost), 200, `{"claims":[],"next":0}`)
}

func TestMyClaimsIsReadOnlyAndRepeatable(t *testing.T) {
	r := newTestServer(t)
	want := `{"claims":[` + claimJSON(1, playerA, "", 9, 888) + `,` + claimJSON(3, playerA, "", 17, 612) + `]}`
	for range 2 {
		wantJSON(t, r.call("GET", "/api/rounds/"+roundA+"/claims/me", "", asPlayer(code, playerA)), 200, want)
	}
	wantJSON(t, r.call("GET", "/api/rounds/"+roundA+"/claims/me", "", asPlayer(code, newcomer)), 200, `{"claims":[]}`)
	if r.store.changed != 0 {
		t.Errorf("reading changed %d things", r.store.changed)
	}
}

func TestPreviewAddsUp(t *testing.T) {
	r := newTestServer(t)
	var preview previewAnswer
	response := r.call("POST", "/api/rounds/preview", `{"total_cents":10000,"packets":20,"min_cents":100,"max_cents":900}`, asHost)
	if err := json.Unmarshal(response.Body.Bytes(), &preview); err != nil || response.Code != http.StatusOK {
		t.Fatalf("got %d %s, %v", response.Code, response.Body, err)
	}
	var sum, least, most game.Cents = 0, 10000, 0
	for _, amount := range preview.Amounts {
		sum, least, most = sum+amount, min(least, amount), max(most, amount)
	}
	if sum != 10000 || len(preview.Amounts) != 20 || preview.Min != least || preview.Max != most || preview.Mean != 500 || least < 100 || most > 900 {
		t.Errorf("got %+v with the sum %d", preview, sum)
	}
	long := r.call("POST", "/api/rounds/preview", `{"total_cents":100000,"packets":1000,"split":"dealt","deal":"equal"}`, asHost)
	if err := json.Unmarshal(long.Body.Bytes(), &preview); err != nil || len(preview.Amounts) != 200 || preview.Mean != 100 {
		t.Errorf("got %d %s, %v", long.Code, long.Body, err)
	}
}

func TestHealthAndReadiness(t *testing.T) {
	var reason error
	r := newTestServer(t, func(o *Options) {
		fine := func(context.Context) error { return nil }
		o.Checks = []Check{{Name: "database", Run: fine}, {Name: "redis", Run: func(context.Context) error { return reason }}}
	})
	wantJSON(t, r.call("GET", "/healthz", ""), 200, `{"status":"ok"}`)
	wantJSON(t, r.call("GET", "/readyz", "", asOperator), 200, `{"status":"ready"}`)
	reason = fmt.Errorf("probe: %w", &probe.Failure{Reason: probe.ReadOnly, Err: errors.New("a replica")})
	refused := wantRefused(t, r.call("GET", "/readyz", "", asOperator), 503, "not_ready")
	if refused.Message != "redis: read_only: probe: a replica" {
		t.Errorf("got the reason %q", refused.Message)
	}
	wantJSON(t, r.call("GET", "/healthz", ""), 200, `{"status":"ok"}`)
}

// A failed warning is shown at /readyz and on the hosts' page, but the instance is ready.
func TestReadyInstanceShowsWarnings(t *testing.T) {
	r := newTestServer(t, func(o *Options) {
		o.Checks = []Check{{Name: "redis", Run: func(context.Context) error { return nil }}}
		o.Warnings = []Check{{Name: "durability", Run: func(context.Context) error { return errors.New("appendonly is no") }}}
	})
	wantJSON(t, r.call("GET", "/readyz", "", asOperator), 200, `{"status":"ready","warnings":["durability: appendonly is no"]}`)
	var health healthAnswer
	if err := json.Unmarshal(r.call("GET", "/api/host/health", "", asHost).Body.Bytes(), &health); err != nil {
		t.Fatal(err)
	}
	if len(health.Checks) != 2 || health.Checks[1].Name != "durability" || health.Checks[1].OK {
		t.Errorf("got %+v", health)
	}
}
