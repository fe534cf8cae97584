package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"redrain/internal/bots"
	"redrain/internal/game"
	"redrain/internal/testkit"
	"redrain/internal/wire"
)

// hostAPI calls an instance as its host does.
type hostAPI struct {
	t     *testing.T
	url   string
	token string
}

func newHostAPI(t *testing.T, in *instance) *hostAPI {
	t.Helper()
	d := &hostAPI{t: t, url: in.url}
	var session struct{ Token string }
	d.call("POST", "/api/host/session", map[string]any{"password": password}, 200, &session)
	d.token = session.Token
	return d
}

// call makes a request and holds its status against what it must be; answer may be nil.
func (d *hostAPI) call(method, path string, body any, status int, answer any) {
	d.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		d.t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(d.t.Context(), method, d.url+path, bytes.NewReader(text))
	if err != nil {
		d.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	if d.token != "" {
		request.Header.Set("Authorization", "Bearer "+d.token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		d.t.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	if response.StatusCode != status {
		d.t.Fatalf("%s %s: got %d %s, want %d", method, path, response.StatusCode, content, status)
	}
	if answer != nil {
		if err := json.Unmarshal(content, answer); err != nil {
			d.t.Fatal(err)
		}
	}
}

// joinPlayer joins by nickname.
func (d *hostAPI) joinPlayer(room, nickname string) (id, token string) {
	d.t.Helper()
	var joined struct {
		Player struct{ ID string }
		Token  string
	}
	(&hostAPI{t: d.t, url: d.url}).call("POST", "/api/rooms/"+room+"/players", map[string]any{"nickname": nickname}, 201, &joined)
	return joined.Player.ID, joined.Token
}

func matchNotice(code string) func(wire.Notice) bool {
	return func(n wire.Notice) bool { return n.Code == code }
}

// What the host decides on one instance reaches everybody on the other: announcements reach all pages, newcomers the host's
// list, and blocked players are sent away for good.
func TestHostsChangesReachEveryInstance(t *testing.T) {
	t.Parallel()
	redis := testkit.Redis(t)
	a, b := startTwo(t, redis.URL)
	d := newHostAPI(t, a)
	room := newRoom(t, loginHost(t, a))
	watching := testkit.Connect(t, testkit.Visit{URL: b.url, Room: room, Role: wire.RoleHost, Token: d.token})
	screen := testkit.Connect(t, testkit.Visit{URL: b.url, Room: room, Role: wire.RoleScreen})

	id, token := d.joinPlayer(room, "小明")
	testkit.Expect(watching, matchNotice("players_changed"))
	player := testkit.Connect(t, testkit.Visit{URL: b.url, Room: room, Role: wire.RolePlayer, Token: token})

	d.call("POST", "/api/rooms/"+room+"/announcements", map[string]any{"text": "抽奖马上开始"}, 204, nil)
	for _, page := range []*testkit.Client{watching, screen, player} {
		if told := testkit.Expect(page, matchNotice("announcement")); told.Text != "抽奖马上开始" {
			t.Errorf("heard %+v", told)
		}
	}
	for _, notice := range append(testkit.All[wire.Notice](screen), testkit.All[wire.Notice](player)...) {
		if notice.Code == "players_changed" {
			t.Error("what is for hosts was told to everybody")
		}
	}

	d.call("POST", "/api/rooms/"+room+"/players/"+id+"/block", nothing, 200, nil)
	player.WantClose(wire.CloseBlocked)
	for _, in := range []*instance{a, b} {
		status, code := testkit.Refused(t, testkit.Visit{URL: in.url, Room: room, Role: wire.RolePlayer, Token: token})
		if status != 403 || code != "blocked" {
			t.Errorf("coming back is answered with %d %s", status, code)
		}
	}
	d.call("POST", "/api/rooms/"+room+"/players/"+id+"/unblock", nothing, 200, nil)
	testkit.Connect(t, testkit.Visit{URL: b.url, Room: room, Role: wire.RolePlayer, Token: token})
}

// nothing is the body of requests that say everything by their address.
var nothing = map[string]any{}

// A rehearsal plays the real path with bots, while the people of the room see and hear nothing of it, and no money moves.
func TestRehearsalIsHiddenAndItsSumsAreRight(t *testing.T) {
	t.Parallel()
	in := startInstance(t)
	d, host := newHostAPI(t, in), loginHost(t, in)
	room := newRoom(t, host)
	round := newRound(t, host, room, map[string]any{
		"total_cents": 50_000, "packets": 120, "cap": 5, "countdown_ms": 500, "duration_ms": 3000, "drops_per_second": 10,
	})
	screen := testkit.Connect(t, testkit.Visit{URL: in.url, Room: room, Role: wire.RoleScreen})
	d.call("POST", "/api/rooms/"+room+"/rehearsals", map[string]any{"round": round.ID, "players": 40, "taps_per_second": 4}, 202, nil)
	d.call("POST", "/api/rooms/"+room+"/rehearsals", map[string]any{"round": round.ID, "players": 1, "taps_per_second": 1}, 409, nil)

	type rehearsal struct {
		Round   string
		State   game.RehearsalState
		Problem string
		Report  *bots.Report
	}
	var list struct{ Rehearsals []rehearsal }
	testkit.Eventually(t, soon, func() error {
		d.call("GET", "/api/rooms/"+room+"/rehearsals", nothing, 200, &list)
		if len(list.Rehearsals) != 1 || list.Rehearsals[0].State == game.RehearsalRunning {
			return fmt.Errorf("rehearsals are %+v", list.Rehearsals)
		}
		return nil
	})
	played := list.Rehearsals[0]
	if played.State != game.RehearsalDone || played.Report == nil {
		t.Fatalf("got %+v", played)
	}
	if r := played.Report; r.Players != 40 || r.Taps < 40 || !r.Conserved || r.Latency.P99 <= 0 || r.Outcomes[game.Won] == 0 {
		t.Errorf("the report is %+v", r)
	}

	var shown struct{ Round *wire.Round }
	d.call("GET", "/api/rooms/"+room, nothing, 200, &shown)
	if shown.Round != nil {
		t.Errorf("the room shows %+v", shown.Round)
	}
	for _, message := range screen.Heard() {
		if message.Type != wire.TypeWelcome && message.Type != wire.TypeTally {
			t.Errorf("the big screen heard %s", message.Text)
		}
	}
	var rounds struct{ Rounds []wire.Round }
	d.call("GET", "/api/rooms/"+room+"/rounds", nothing, 200, &rounds)
	if len(rounds.Rounds) != 1 || rounds.Rounds[0].ID != round.ID || rounds.Rounds[0].Phase != game.Draft {
		t.Errorf("the room has %+v", rounds.Rounds)
	}
	(&hostAPI{t: t, url: d.url}).call("GET", "/api/rounds/"+played.Round, nothing, 404, nil)
}

func TestAPlannedRoundStartsByItself(t *testing.T) {
	t.Parallel()
	in := startInstance(t)
	d, host := newHostAPI(t, in), loginHost(t, in)
	room := newRoom(t, host)
	round := newRound(t, host, room, map[string]any{"total_cents": 500, "packets": 5, "countdown_ms": 1000, "duration_ms": 3000})
	d.call("POST", "/api/rounds/"+round.ID+"/plan", map[string]any{"starts_on": time.Now().Add(1500 * time.Millisecond).UnixMilli()}, 200, nil)
	awaitClosed(t, host, round.ID, soon)
}

func TestTokenOfTheHostsAppIsOnePlayer(t *testing.T) {
	t.Parallel()
	secret := "a secret of thirty-two characters"
	in := startInstance(t, "PLAYER_JWT_SECRET="+secret)
	d := newHostAPI(t, in)
	room := newRoom(t, loginHost(t, in))
	d.call("POST", "/api/rooms/"+room+"/doors", map[string]any{"locked": false, "app_only": true}, 200, nil)
	d.call("POST", "/api/rooms/"+room+"/players", map[string]any{"nickname": "somebody"}, 403, nil)
	token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{
		"sub": "emp-7", "name": "王芳", "exp": time.Now().Add(time.Hour).Unix(),
	}).SignedString([]byte(secret))
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for range 2 {
		var joined struct{ Player struct{ ID string } }
		d.call("POST", "/api/rooms/"+room+"/players/token", map[string]any{"token": token}, 201, &joined)
		ids[joined.Player.ID] = true
	}
	if len(ids) != 1 {
		t.Errorf("one person is %d players", len(ids))
	}
}
