package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"redrain/internal/game"
	"redrain/internal/probe"
)

func TestHostRoutesRefuseEverybodyElse(t *testing.T) {
	r := newTestServer(t)
	for _, route := range []string{
		"GET /api/host/health", "POST /api/rooms/RAXN88/doors", "POST /api/rooms/RAXN88/announcements", "GET /api/rooms/RAXN88/players",
		"POST /api/rooms/RAXN88/players/" + playerA + "/rename", "POST /api/rooms/RAXN88/players/" + playerA + "/block",
		"POST /api/rooms/RAXN88/players/" + playerA + "/unblock", "POST /api/rooms/RAXN88/plan", "GET /api/rooms/RAXN88/rounds/export",
		"POST /api/rooms/RAXN88/rounds/import", "POST /api/rounds/" + draftB + "/plan", "POST /api/rounds/" + draftB + "/settings", "DELETE /api/rounds/" + draftB,
		"GET /api/rooms/RAXN88/rehearsals", "POST /api/rooms/RAXN88/rehearsals",
	} {
		method, path, _ := strings.Cut(route, " ")
		wantRefused(t, r.call(method, path, "", asPlayer(code, playerA)), 401, "unauthorized")
	}
	if r.store.changed != 0 || len(r.store.published) != 0 {
		t.Errorf("%d changes, told %v", r.store.changed, r.store.published)
	}
}

func TestHealthShowsFailedChecks(t *testing.T) {
	lag := 12 * time.Millisecond
	r := newTestServer(t, func(o *Options) {
		o.Checks = []Check{
			{Name: "redis", Run: func(context.Context) error { return nil }, Latency: func() time.Duration { return 1500 * time.Microsecond }},
			{Name: "database", Run: func(context.Context) error {
				return &probe.Failure{Reason: probe.Full, Err: errors.New("no space left")}
			}},
		}
		o.SettleLag = func() time.Duration { return lag }
	})
	var health healthAnswer
	if err := json.Unmarshal(r.call("GET", "/api/host/health", "", asHost).Body.Bytes(), &health); err != nil {
		t.Fatal(err)
	}
	health.Checks[1].MS = 0 // as long as it took
	want := []healthCheck{
		{Name: "redis", OK: true, MS: 1.5}, {Name: "database", Reason: probe.Full, Problem: "no space left"}, {Name: "settlement", OK: true, MS: 12},
	}
	if !slices.Equal(health.Checks, want) {
		t.Errorf("got %+v", health)
	}
	lag = time.Minute
	if err := json.Unmarshal(r.call("GET", "/api/host/health", "", asHost).Body.Bytes(), &health); err != nil || health.Checks[2].OK || health.Checks[2].Reason != probe.Late {
		t.Errorf("a minute late: got %+v, %v", health, err)
	}
}

func TestLockedRoomRefusesNewPlayers(t *testing.T) {
	r := newTestServer(t)
	doors := func(locked, appOnly bool) {
		wantJSON(t, r.call("POST", "/api/rooms/RAXN88/doors", fmt.Sprintf(`{"locked":%v,"app_only":%v}`, locked, appOnly), asHost), 200,
			fmt.Sprintf(`{"room":{"code":"RAXN88","name":"年会","locked":%v,"app_only":%v}}`, locked, appOnly))
	}
	join := func() (int, string) {
		response := r.call("POST", "/api/rooms/RAXN88/players", `{"nickname":"阿花"}`)
		return response.Code, response.Body.String()
	}
	doors(true, false)
	if status, body := join(); status != 403 || !strings.Contains(body, "room_locked") {
		t.Errorf("got %d %s", status, body)
	}
	doors(false, true)
	if status, body := join(); status != 403 || !strings.Contains(body, "app_only") {
		t.Errorf("got %d %s", status, body)
	}
	doors(false, false)
	if status, body := join(); status != 201 {
		t.Errorf("got %d %s", status, body)
	}
	if !slices.Contains(r.store.published, "RAXN88 room_changed") {
		t.Errorf("the hosts' pages were told %v", r.store.published)
	}
}

// A host's page must list a new player without a reload.
func TestHostsAreNotifiedOfANewPlayer(t *testing.T) {
	r := newTestServer(t)
	if response := r.call("POST", "/api/rooms/RAXN88/players", `{"nickname":"阿花"}`); response.Code != 201 {
		t.Fatal(response.Body)
	}
	if !slices.Equal(r.store.published, []string{"RAXN88 players_changed"}) {
		t.Errorf("the hosts' pages were told %v", r.store.published)
	}
}

func TestAnnouncementsReachEverybody(t *testing.T) {
	r := newTestServer(t)
	if response := r.call("POST", "/api/rooms/raxn88/announcements", `{"text":" 抽奖马上开始 "}`, asHost); response.Code != 204 {
		t.Fatal(response.Code, response.Body)
	}
	if want := "RAXN88 announcement 抽奖马上开始"; !slices.Equal(r.store.published, []string{want}) {
		t.Errorf("got %v, want %s", r.store.published, want)
	}
	wantRefused(t, r.call("POST", "/api/rooms/RAXN88/announcements", `{"text":" "}`, asHost), 422, "text_blank")
	wantRefused(t, r.call("POST", "/api/rooms/RAXN88/announcements", `{"text":"`+strings.Repeat("福", 81)+`"}`, asHost), 422, "text_too_long")
}

func TestPlayersAreListedRenamedAndBlocked(t *testing.T) {
	r := newTestServer(t)
	guestJSON := func(id, nickname string, blocked bool) string {
		return fmt.Sprintf(`{"id":%q,"nickname":%q,"joined_at":-62135596800000,"blocked":%v,"own":false}`, id, nickname, blocked)
	}
	path := "/api/rooms/RAXN88/players"
	wantJSON(t, r.call("GET", path, "", asHost), 200, `{"players":[`+guestJSON(playerB, "Bob", false)+`,`+guestJSON(playerA, "小明", false)+`],
		"total":2,"most":0,"next":"","latest":"7.1","anew":false}`)
	wantJSON(t, r.call("POST", path+"/"+playerA+"/rename", `{"nickname":" 明明 "}`, asHost), 200, `{"player":`+guestJSON(playerA, "明明", false)+`}`)
	wantRefused(t, r.call("POST", path+"/"+playerA+"/rename", `{"nickname":"\u200b"}`, asHost), 422, "name_blank")
	wantJSON(t, r.call("POST", path+"/"+playerA+"/block", "", asHost), 200, `{"player":`+guestJSON(playerA, "明明", true)+`}`)
	wantRefused(t, r.call("GET", path+"/me", "", asPlayer(code, playerA)), 403, "blocked")
	wantJSON(t, r.call("POST", path+"/"+playerA+"/unblock", "", asHost), 200, `{"player":`+guestJSON(playerA, "明明", false)+`}`)
	for _, id := range []string{unknown, "not-an-id"} {
		wantRefused(t, r.call("POST", path+"/"+id+"/block", "", asHost), 404, "player_not_found")
	}
	if !slices.Contains(r.store.published, "RAXN88 doors") || !slices.Contains(r.store.published, "RAXN88 players_edited") {
		t.Errorf("instances and hosts were told %v", r.store.published)
	}
}

func TestDraftsAreOrderedPlannedAndDropped(t *testing.T) {
	r := newTestServer(t)
	now := r.clock.Now().UnixMilli()
	wantJSON(t, r.call("POST", "/api/rounds/"+draftB+"/plan", fmt.Sprintf(`{"starts_on":%d}`, now+60_000), asHost), 200,
		`{"round":`+roundJSON(t, draftB, func(r *game.Round) { r.StartsOn = game.Moment(now + 60_000) })+`}`)
	wantJSON(t, r.call("POST", "/api/rounds/"+draftB+"/plan", `{"starts_on":0}`, asHost), 200, `{"round":`+roundJSON(t, draftB)+`}`)
	for _, on := range []int64{now - 1, 1, -5, now + int64(400*24*time.Hour/time.Millisecond)} {
		wantRefused(t, r.call("POST", "/api/rounds/"+draftB+"/plan", fmt.Sprintf(`{"starts_on":%d}`, on), asHost), 422, "out_of_range")
	}
	if response := r.call("POST", "/api/rooms/RAXN88/plan", `{"rounds":["`+draftB+`","`+roundA+`"]}`, asHost); response.Code != 200 ||
		!slices.Equal(r.store.ordered, []string{draftB, roundA}) {
		t.Errorf("got %d %s, ordered %v", response.Code, response.Body, r.store.ordered)
	}
	wantRefused(t, r.call("POST", "/api/rooms/RAXN88/plan", `{"rounds":["' OR 1"]}`, asHost), 400, "bad_request")
	if body := r.call("POST", "/api/rounds/"+draftB+"/settings", `{"total_cents":500,"packets":5}`, asHost).Body.String(); !strings.Contains(body, `"total_cents":500,"packets":5`) {
		t.Errorf("got %s", body)
	}
	wantRefused(t, r.call("POST", "/api/rounds/"+draftB+"/settings", `{"total_cents":1,"packets":5}`, asHost), 422, "budget_too_small")
	wantRefused(t, r.call("POST", "/api/rounds/"+roundA+"/settings", `{"total_cents":500,"packets":5}`, asHost), 409, "wrong_phase")
	if response := r.call("DELETE", "/api/rounds/"+draftB, "", asHost); response.Code != 204 {
		t.Error(response.Code, response.Body)
	}
	wantRefused(t, r.call("DELETE", "/api/rounds/"+roundA, "", asHost), 409, "wrong_phase")
	wantRefused(t, r.call("DELETE", "/api/rounds/"+unknown, "", asHost), 404, "round_not_found")
}

func TestExportedRoundsCanBeImported(t *testing.T) {
	r := newTestServer(t)
	exported := r.call("GET", "/api/rooms/RAXN88/rounds/export", "", asHost)
	text := exported.Body.String()
	if exported.Code != 200 || exported.Header().Get("Content-Disposition") != `attachment; filename="rounds-RAXN88.json"` {
		t.Fatalf("got %d %v", exported.Code, exported.Header())
	}
	for _, secret := range []string{"5ec2e7", "secret", "commitment", roundA, `"id"`} {
		if strings.Contains(text, secret) {
			t.Errorf("the export shows %s: %s", secret, text)
		}
	}
	imported := r.call("POST", "/api/rooms/RAXN88/rounds/import", text, asHost)
	var made roundsAnswer
	if err := json.Unmarshal(imported.Body.Bytes(), &made); err != nil || imported.Code != 201 || len(made.Rounds) != 2 {
		t.Fatalf("got %d %s", imported.Code, imported.Body)
	}
	if got := made.Rounds[1]; got.Title != "年会" || got.Total != 88800 || got.Packets != 100 || got.Cap != 3 || got.Phase != game.Draft {
		t.Errorf("got %+v", got)
	}
}

// largestSettings are those with the longest text: each visible character of the title takes as many bytes as one may.
func largestSettings(n int) game.Settings {
	s := game.DefaultSettings()
	s.Title = strings.Repeat("👨🏿\u200d👩🏿\u200d👧🏿\u200d👦🏿", game.MaxNameLength-1) + string(rune('一'+n))
	s.Packets, s.Split, s.Deal, s.Tiers = 0, game.SplitDealt, game.DealTiers, nil
	for i := range game.MaxTiers {
		tier := game.Tier{Packets: 1, Cents: 100_000_000 + game.Cents(i)}
		s.Tiers, s.Packets, s.Total = append(s.Tiers, tier), s.Packets+tier.Packets, s.Total+tier.Cents
	}
	s.Min, s.Max, s.Cap, s.Countdown, s.Duration = 100_000_000, game.MaxTotal, game.MaxCap, game.MaxCountdown, game.MaxDuration
	s.DropsPerSecond, s.BombPercent, s.CloseWhenSoldOut = game.MaxDropsPerSecond, game.MaxBombPercent, false
	return s
}

// What comes out goes in, of as many rounds as a room lists, with all that their settings may be.
func TestTheLargestExportCanBeImported(t *testing.T) {
	r := newTestServer(t)
	r.store.rounds = nil
	for n := range maxRounds + 1 {
		settings := largestSettings(n)
		if err := settings.Validate(); err != nil {
			t.Fatal(err)
		}
		r.store.rounds = append(r.store.rounds, game.Round{ID: fmt.Sprintf("%08d-2222-4333-8444-555555555555", n), Room: code, Phase: game.Draft, Place: int64(n), Settings: settings})
	}
	exported := r.call("GET", "/api/rooms/RAXN88/rounds/export", "", asHost)
	imported := r.call("POST", "/api/rooms/RAXN88/rounds/import", exported.Body.String(), asHost)
	var made roundsAnswer
	if err := json.Unmarshal(imported.Body.Bytes(), &made); err != nil || imported.Code != 201 || len(made.Rounds) != maxRounds {
		t.Fatalf("%d bytes: got %d %.200s", exported.Body.Len(), imported.Code, imported.Body)
	}
	for n, round := range made.Rounds {
		if !reflect.DeepEqual(round.Settings, largestSettings(n)) {
			t.Fatalf("round %d came out as %+v", n, round.Settings)
		}
	}
}

func TestImportIsAllOrNothing(t *testing.T) {
	for body, want := range map[string]struct {
		status      int
		code, field string
	}{
		`{"version":1,"rounds":[{"total_cents":100,"packets":1},{"total_cents":1,"packets":2}]}`:     {422, "budget_too_small", "rounds[1].total_cents"},
		`{"version":1,"rounds":[{"total_cents":100,"packets":1,"colour":"red"}]}`:                    {400, "bad_body", "rounds[0].colour"},
		`{"version":1,"rounds":[{"packets":1}]}`:                                                     {400, "bad_body", "rounds[0].total_cents"},
		`{"version":1,"rounds":["x"]}`:                                                               {400, "bad_body", "rounds[0]"},
		`{"version":1,"rounds":[]}`:                                                                  {400, "bad_request", "rounds"},
		`{"version":2,"rounds":[{"total_cents":100,"packets":1}]}`:                                   {400, "bad_request", "version"},
		`{"rounds":[{"total_cents":100,"packets":1}]}`:                                               {400, "bad_body", "version"},
		`{"version":1,"rounds":[` + strings.Repeat(`{"total_cents":100,"packets":1},`, 500) + `{}]}`: {400, "bad_request", "rounds"},
		`{"version":1,"rounds":[{"total_cents":100,"packets":1}],"x":"` + strings.Repeat("a", 5<<20): {413, "too_large", ""},
	} {
		r := newTestServer(t)
		refused := wantRefused(t, r.call("POST", "/api/rooms/RAXN88/rounds/import", body, asHost), want.status, want.code)
		if refused.Field != want.field || r.store.changed != 0 {
			t.Errorf("%.90s: field %q, want %q; %d changes", body, refused.Field, want.field, r.store.changed)
		}
	}
}

// Rehearsals are played in a hidden room, so that players of this room do not see them.
func TestRehearsalRoundsAreHiddenFromPlayers(t *testing.T) {
	r := newTestServer(t)
	r.store.rooms = append(r.store.rooms, game.Room{Code: stageCode, StageOf: code, Locked: true})
	r.store.rounds = append(r.store.rounds, game.Round{ID: unknown, Room: stageCode, Rehearsal: true, Phase: game.Raining})
	for _, path := range []string{"", "/qr.svg", "/history"} {
		wantRefused(t, r.call("GET", "/api/rooms/"+stageCode+path, ""), 404, "room_not_found")
	}
	wantRefused(t, r.call("POST", "/api/rooms/"+stageCode+"/players", `{"nickname":"a"}`), 404, "room_not_found")
	wantRefused(t, r.call("GET", "/api/rounds/"+unknown, ""), 404, "round_not_found")
	if response := r.call("GET", "/api/rounds/"+unknown, "", asHost); response.Code != 200 {
		t.Errorf("hosts see %d %s", response.Code, response.Body)
	}
}

func TestRehearse(t *testing.T) {
	r := newTestServer(t)
	path := "/api/rooms/RAXN88/rehearsals"
	ask := func(round string, players, taps int) string {
		return fmt.Sprintf(`{"round":%q,"players":%d,"taps_per_second":%d}`, round, players, taps)
	}
	wantJSON(t, r.call("POST", path, ask(roundA, 200, 3), asHost), 202, `{"rehearsal":{"round":"`+unknown+`","players":200,
		"taps_per_second":3,"state":"running","problem":"","begun_at":5,"report":null}}`)
	wantJSON(t, r.call("GET", path, "", asHost), 200, `{"rehearsals":[{"round":"`+unknown+`","players":20,"taps_per_second":2,
		"state":"done","problem":"","begun_at":5,"report":{"taps":7}}]}`)
	r.store.changed = 0
	wantRefused(t, r.call("POST", path, ask(roundA, 501, 3), asHost), 422, "out_of_range")
	wantRefused(t, r.call("POST", path, ask(roundA, 1, 0), asHost), 422, "out_of_range")
	wantRefused(t, r.call("POST", path, ask("x", 1, 1), asHost), 404, "round_not_found")
	wantRefused(t, r.call("POST", path, ask(unknown, 1, 1), asHost), 404, "round_not_found")
	if r.store.changed != 0 {
		t.Errorf("%d rehearsals were begun", r.store.changed)
	}
}

var playerSecret = []byte("the host's own app signs with it")

// appToken returns a token as the host's own app signs it.
func appToken(t *testing.T, key []byte, method jwt.SigningMethod, claims jwt.MapClaims) string {
	t.Helper()
	var secret any = key
	if method == jwt.SigningMethodNone {
		secret = jwt.UnsafeAllowNoneSignatureType
	}
	text, err := jwt.NewWithClaims(method, claims).SignedString(secret)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestJoinWithATokenOfTheHostsApp(t *testing.T) {
	r := newTestServer(t, func(o *Options) { o.PlayerSecret = playerSecret })
	r.store.rooms[0].AppOnly = true
	path := "/api/rooms/RAXN88/players/token"
	exp := r.clock.Now().Add(time.Hour).Unix()
	enter := func(claims jwt.MapClaims) string {
		return `{"token":"` + appToken(t, playerSecret, jwt.SigningMethodHS256, claims) + `"}`
	}
	var joined joinedAnswer
	for _, name := range []string{"王芳", "王芳", "芳芳"} { // again from another device, and under a new name
		response := r.call("POST", path, enter(jwt.MapClaims{"sub": "emp-7", "name": name, "exp": exp}))
		if err := json.Unmarshal(response.Body.Bytes(), &joined); err != nil || response.Code != 201 {
			t.Fatalf("got %d %s", response.Code, response.Body)
		}
		if want := (player{newcomer, name}); joined.Player != want {
			t.Errorf("got %+v, want %+v", joined.Player, want)
		}
	}
	if id, err := r.server.Sessions.Player(joined.Token, code); err != nil || id != newcomer {
		t.Errorf("the session is for %q, %v", id, err)
	}
	if len(r.store.players) != 3 {
		t.Errorf("one person is %d players", len(r.store.players)-2)
	}
	// Known players may join again, new ones may not.
	r.store.rooms[0].Locked = true
	if response := r.call("POST", path, enter(jwt.MapClaims{"sub": "emp-7", "name": "王芳", "exp": exp})); response.Code != 201 {
		t.Errorf("got %d %s", response.Code, response.Body)
	}
	wantRefused(t, r.call("POST", path, enter(jwt.MapClaims{"sub": "emp-8", "name": "a", "exp": exp})), 403, "room_locked")
	r.store.players[2].Nickname = "王芳 #2"
	before := r.store.changed
	again := r.call("POST", path, enter(jwt.MapClaims{"sub": "emp-7", "name": "王芳", "exp": exp}))
	if !strings.Contains(again.Body.String(), `"nickname":"王芳 #2"`) || r.store.changed != before {
		t.Errorf("who has a number gets another: %s, %d changes", again.Body, r.store.changed-before)
	}
	r.store.players[2].Blocked = true
	wantRefused(t, r.call("POST", path, enter(jwt.MapClaims{"sub": "emp-7", "name": "王芳", "exp": exp})), 403, "blocked")
}

func TestForgedAndExpiredAppTokensAreRefused(t *testing.T) {
	r := newTestServer(t, func(o *Options) { o.PlayerSecret = playerSecret })
	exp := r.clock.Now().Add(time.Hour).Unix()
	good := func(change func(jwt.MapClaims)) jwt.MapClaims {
		claims := jwt.MapClaims{"sub": "emp-7", "name": "王芳", "exp": exp}
		change(claims)
		return claims
	}
	same := func(jwt.MapClaims) {}
	for name, text := range map[string]string{
		"none":       appToken(t, nil, jwt.SigningMethodNone, good(same)),
		"other key":  appToken(t, secret, jwt.SigningMethodHS256, good(same)),
		"other alg":  appToken(t, playerSecret, jwt.SigningMethodHS512, good(same)),
		"expired":    appToken(t, playerSecret, jwt.SigningMethodHS256, good(func(c jwt.MapClaims) { c["exp"] = exp - 7200 })),
		"no exp":     appToken(t, playerSecret, jwt.SigningMethodHS256, good(func(c jwt.MapClaims) { delete(c, "exp") })),
		"no sub":     appToken(t, playerSecret, jwt.SigningMethodHS256, good(func(c jwt.MapClaims) { delete(c, "sub") })),
		"long sub":   appToken(t, playerSecret, jwt.SigningMethodHS256, good(func(c jwt.MapClaims) { c["sub"] = strings.Repeat("a", 129) })),
		"NUL in sub": appToken(t, playerSecret, jwt.SigningMethodHS256, good(func(c jwt.MapClaims) { c["sub"] = "emp\x007" })),
		"space":      appToken(t, playerSecret, jwt.SigningMethodHS256, good(func(c jwt.MapClaims) { c["sub"] = "emp-7 " })),
		"other room": appToken(t, playerSecret, jwt.SigningMethodHS256, good(func(c jwt.MapClaims) { c["room"] = "NEWRXX" })),
		"garbage":    "a.b.c",
	} {
		t.Run(name, func(t *testing.T) {
			wantRefused(t, r.call("POST", "/api/rooms/RAXN88/players/token", `{"token":"`+text+`"}`), 401, "bad_token")
		})
	}
	blank := appToken(t, playerSecret, jwt.SigningMethodHS256, good(func(c jwt.MapClaims) { c["name"] = " " }))
	wantRefused(t, r.call("POST", "/api/rooms/RAXN88/players/token", `{"token":"`+blank+`"}`), 422, "name_blank")
	if r.store.changed != 0 {
		t.Errorf("%d changes", r.store.changed)
	}
	wantRefused(t, newTestServer(t).call("POST", "/api/rooms/RAXN88/players/token", `{"token":"a.b.c"}`), 403, "tokens_off")
}

func TestPlayersSeeTheirOwnHistory(t *testing.T) {
	r := newTestServer(t)
	wantJSON(t, r.call("GET", "/api/rooms/RAXN88/players/me/rounds", "", asPlayer(code, playerA)), 200,
		`{"rounds":[{"round":`+roundJSON(t, roundA)+`,"packets":2,"cents":1500,"rank":0}],"balance_cents":1500}`)
	r.store.rounds[1].Phase = game.Settled
	if body := r.call("GET", "/api/rooms/RAXN88/players/me/rounds", "", asPlayer(code, playerB)).Body.String(); !strings.Contains(body, `"rank":2`) {
		t.Errorf("got %s", body)
	}
	wantRefused(t, r.call("GET", "/api/rooms/RAXN88/players/me/rounds", ""), 401, "unauthorized")
}
