package api

import (
	"net/http"
	"strings"
	"testing"
)

// badRounds are bodies for a new round, or a preview of one, that must be refused.
var badRounds = []struct{ body, field, code string }{
	// invalid JSON or types: bad_body, 400
	{``, "", "bad_body"},
	{`null`, "", "bad_body"},
	{`[]`, "", "bad_body"},
	{`{"total_cents":100,"packets":10`, "", "bad_body"},
	{`{"total_cents":100,"packets":10} {}`, "", "bad_body"},
	{`{"packets":10}`, "total_cents", "bad_body"},
	{`{"total_cents":100}`, "packets", "bad_body"},
	{`{"total_cents":null,"packets":10}`, "total_cents", "bad_body"},
	{`{"total_cents":100,"packets":10,"cap":null}`, "cap", "bad_body"},
	{`{"total_cents":"100","packets":10}`, "total_cents", "bad_body"},
	{`{"total_cents":100.5,"packets":10}`, "total_cents", "bad_body"},
	{`{"total_cents":100.0,"packets":10}`, "total_cents", "bad_body"},
	{`{"total_cents":1e4,"packets":10}`, "total_cents", "bad_body"},
	{`{"total_cents":100000000000000000000,"packets":10}`, "total_cents", "bad_body"},
	{`{"total_cents":100,"packets":true}`, "packets", "bad_body"},
	{`{"total_cents":100,"packets":10,"packets":10}`, "packets", "bad_body"},
	{`{"total_cents":100,"Packets":10}`, "Packets", "bad_body"},
	{`{"total_cents":100,"packets":10,"budget":1}`, "budget", "bad_body"},
	{`{"total_cents":100,"packets":10,"secret":"5ec2e7"}`, "secret", "bad_body"},
	{`{"total_cents":100,"packets":10,"title":7}`, "title", "bad_body"},
	{"{\"total_cents\":100,\"packets\":10,\"title\":\"\xff\"}", "", "bad_body"},
	{`{"total_cents":100,"packets":10,"tiers":{}}`, "tiers", "bad_body"},
	{`{"total_cents":100,"packets":10,"tiers":[{"packets":10}]}`, "tiers[0].cents", "bad_body"},
	{`{"total_cents":100,"packets":10,"tiers":[{"packets":10,"cents":10,"x":1}]}`, "tiers[0].x", "bad_body"},
	{`{"total_cents":100,"packets":10,"close_when_sold_out":1}`, "close_when_sold_out", "bad_body"},
	// values out of range: 422
	{`{"total_cents":0,"packets":10}`, "total_cents", "out_of_range"},
	{`{"total_cents":-100,"packets":10}`, "total_cents", "out_of_range"},
	{`{"total_cents":10000000001,"packets":10}`, "total_cents", "out_of_range"},
	{`{"total_cents":9,"packets":10}`, "total_cents", "budget_too_small"},
	{`{"total_cents":100,"packets":10,"max_cents":9}`, "total_cents", "budget_too_large"},
	{`{"total_cents":100,"packets":0}`, "packets", "out_of_range"},
	{`{"total_cents":2000000,"packets":1000001}`, "packets", "out_of_range"},
	{`{"total_cents":100,"packets":10,"split":"Live"}`, "split", "not_a_choice"},
	{`{"total_cents":100,"packets":10,"deal":"equal"}`, "deal", "not_a_choice"},
	{`{"total_cents":100,"packets":10,"split":"dealt","deal":"tiers"}`, "tiers", "out_of_range"},
	{`{"total_cents":100,"packets":10,"split":"dealt","deal":"tiers","tiers":[{"packets":9,"cents":11}]}`, "tiers", "sum_mismatch"},
	{`{"total_cents":100,"packets":10,"pace":"slow"}`, "pace", "not_a_choice"},
	{`{"total_cents":100,"packets":10,"cap":0}`, "cap", "out_of_range"},
	{`{"total_cents":100,"packets":10,"cap":101}`, "cap", "out_of_range"},
	{`{"total_cents":100,"packets":10,"min_cents":0}`, "min_cents", "out_of_range"},
	{`{"total_cents":100,"packets":10,"countdown_ms":-1}`, "countdown_ms", "out_of_range"},
	{`{"total_cents":100,"packets":10,"countdown_ms":60001}`, "countdown_ms", "out_of_range"},
	{`{"total_cents":100,"packets":10,"duration_ms":2999}`, "duration_ms", "out_of_range"},
	{`{"total_cents":100,"packets":10,"duration_ms":600001}`, "duration_ms", "out_of_range"},
	// 30,000 ms after an overflow of nanoseconds: 2^64 ns is 18446744073709.551616 ms
	{`{"total_cents":100,"packets":10,"duration_ms":18446744103709}`, "duration_ms", "out_of_range"},
	{`{"total_cents":100,"packets":10,"drops_per_second":0}`, "drops_per_second", "out_of_range"},
	{`{"total_cents":100,"packets":10,"bomb_percent":51}`, "bomb_percent", "out_of_range"},
	{`{"total_cents":100,"packets":10,"title":"` + strings.Repeat("雨", 25) + `"}`, "title", "name_too_long"},
	{`{"total_cents":100,"packets":10,"title":"a\u0000b"}`, "title", "name_invalid"},
	{`{"total_cents":100,"packets":10,"title":"` + strings.Repeat("a", maxBody) + `"}`, "", "too_large"},
}

func TestBadRoundsAreRefusedAndChangeNothing(t *testing.T) {
	statuses := map[string]int{"bad_body": 400, "too_large": 413}
	for _, path := range []string{"/api/rooms/RAXN88/rounds", "/api/rounds/preview"} {
		for _, bad := range badRounds {
			r := newTestServer(t)
			status, ok := statuses[bad.code]
			if !ok {
				status = 422
			}
			refused := wantRefused(t, r.call("POST", path, bad.body, asHost, withHeader("Content-Type", "application/json")), status, bad.code)
			if refused.Field != bad.field {
				t.Errorf("%.90s: the field at fault is %q, want %q", bad.body, refused.Field, bad.field)
			}
			if r.store.changed != 0 {
				t.Errorf("%.90s: changed %d things", bad.body, r.store.changed)
			}
		}
	}
}

// badRequests must be refused because of their path, headers or bodies.
var badRequests = []struct {
	method, path, body string
	change             requestOption
	status             int
	code               string
}{
	{"POST", "/api/rooms", `{}`, asHost, 400, "bad_body"},
	{"POST", "/api/rooms", `{"name":null}`, asHost, 400, "bad_body"},
	{"POST", "/api/rooms", `{"Name":"a"}`, asHost, 400, "bad_body"},
	{"POST", "/api/rooms", `{"name":"a","name":"b"}`, asHost, 400, "bad_body"},
	{"POST", "/api/rooms", `{"name":"a","code":"RAXN88"}`, asHost, 400, "bad_body"},
	{"POST", "/api/rooms", `{"name":" \u3164 "}`, asHost, 422, "name_blank"},
	{"POST", "/api/rooms", `{"name":"` + strings.Repeat("雨", 25) + `"}`, asHost, 422, "name_too_long"},
	{"POST", "/api/rooms", `{"name":"a\nb"}`, asHost, 422, "name_invalid"},
	{"POST", "/api/rooms/RAXN88/players", `{"nickname":7}`, asStranger, 400, "bad_body"},
	{"POST", "/api/rooms/RAXN88/players", `{"nickname":"a","id":"x"}`, asStranger, 400, "bad_body"},
	{"POST", "/api/rooms/RAXN88/players", `{"nickname":""}`, asStranger, 422, "name_blank"},
	{"POST", "/api/rooms/RAXN88/players", `{"nickname":"` + strings.Repeat("a", 25) + `"}`, asStranger, 422, "name_too_long"},
	{"POST", "/api/rooms/RAXN88/players", `{"nickname":"` + strings.Repeat("a", maxBody) + `"}`, asStranger, 413, "too_large"},
	{"POST", "/api/rooms/NRNE22/players", `{"nickname":"a"}`, asStranger, 404, "room_not_found"},
	{"POST", "/api/host/session", `{"password":1}`, asStranger, 400, "bad_body"},
	{"POST", "/api/host/session", `{"password":"x","token":"y"}`, asStranger, 400, "bad_body"},
	{"POST", "/api/host/session", `{"password":"x"}`, asStranger, 401, "wrong_password"},
	{"POST", "/api/rounds/" + roundA + "/start", `{"force":true}`, asHost, 400, "bad_body"},
	{"POST", "/api/rounds/" + roundA + "/start", `now`, asHost, 400, "bad_body"},
	{"POST", "/api/rounds/" + roundA + "/explode", ``, asHost, 404, "not_found"},
	{"POST", "/api/rounds/7/start", ``, asHost, 404, "round_not_found"},
	{"POST", "/api/rounds/" + strings.ToUpper(playerA) + "/stop", ``, asHost, 404, "round_not_found"},
	{"POST", "/api/rounds/" + roundA + "%27%20OR%201=1/stop", ``, asHost, 404, "round_not_found"},
	{"POST", "/api/rooms", `name=a`, withHeader("Content-Type", "application/x-www-form-urlencoded"), 401, "unauthorized"},
	{"POST", "/api/rooms/RAXN88/players", `nickname=a`, withHeader("Content-Type", "application/x-www-form-urlencoded"), 415, "not_json"},
	{"POST", "/api/rooms/RAXN88/players", `{"nickname":"a"}`, withHeader("Content-Type", "text/plain"), 415, "not_json"},
	{"POST", "/api/rooms/RAXN88/players", `{"nickname":"a"}`, withHeader("Content-Type", ""), 415, "not_json"},
	{"POST", "/api/rooms/RAXN88/players", `{"nickname":"a"}`, withHeader("Content-Type", "application/json; charset=gbk"), 415, "not_json"},
	{"GET", "/api/rooms/O0O0O0", ``, asStranger, 404, "room_not_found"},
	{"GET", "/api/rooms/..%2F..%2Fetc", ``, asStranger, 404, "room_not_found"},
	{"GET", "/api/rooms/NRNE22", ``, asStranger, 404, "room_not_found"},
	{"GET", "/api/rooms/NRNE22/qr.svg", ``, asStranger, 404, "room_not_found"},
	{"GET", "/api/rooms/NRNE22/address", ``, asStranger, 404, "room_not_found"},
	{"GET", "/api/rounds/7", ``, asStranger, 404, "round_not_found"},
	{"GET", "/api/rounds/" + unknown, ``, asStranger, 404, "round_not_found"},
	{"GET", "/api/rounds/" + unknown + "/claims", ``, asHost, 404, "round_not_found"},
	{"GET", "/api/rounds/" + unknown + "/claims/me", ``, asStranger, 404, "round_not_found"},
	{"GET", "/api/rounds/" + roundA + "/claims?after=-1", ``, asHost, 400, "bad_request"},
	{"GET", "/api/rounds/" + roundA + "/claims?after=1.5", ``, asHost, 400, "bad_request"},
	{"GET", "/api/rounds/" + roundA + "/claims?after=", ``, asHost, 400, "bad_request"},
	{"GET", "/api/rounds/" + roundA + "/claims?limit=0", ``, asHost, 400, "bad_request"},
	{"GET", "/api/rounds/" + roundA + "/claims?limit=1001", ``, asHost, 400, "bad_request"},
	{"GET", "/api/rounds/" + roundA + "/claims?limit=1e2", ``, asHost, 400, "bad_request"},
	{"GET", "/api/rooms/RAXN88/players?limit=0", ``, asHost, 400, "bad_request"},
	{"GET", "/api/rooms/RAXN88/players?limit=201", ``, asHost, 400, "bad_request"},
	{"GET", "/api/rooms/RAXN88/players?before=", ``, asHost, 400, "bad_request"},
	{"GET", "/api/rooms/RAXN88/players?before=1", ``, asHost, 400, "bad_request"},
	{"GET", "/api/rooms/RAXN88/players?before=x." + playerA, ``, asHost, 400, "bad_request"},
	{"GET", "/api/rooms/RAXN88/players?before=1.x'%20OR%201", ``, asHost, 400, "bad_request"},
	{"GET", "/api/rooms/RAXN88/players?after=", ``, asHost, 400, "bad_request"},
	{"GET", "/api/rooms/RAXN88/players?after=0.0", ``, asHost, 400, "bad_request"},
	{"GET", "/api/rooms/RAXN88/players?after=5", ``, asHost, 400, "bad_request"},
	{"GET", "/api/rooms/RAXN88/players?after=5.-1", ``, asHost, 400, "bad_request"},
	{"GET", "/api/rooms/RAXN88/players?after=5.1&before=5." + playerA, ``, asHost, 400, "bad_request"},
	{"GET", "/api/rooms/RAXN88/players?name=%ff", ``, asHost, 400, "bad_request"},
	{"GET", "/api/rooms/RAXN88/players?name=" + strings.Repeat("a", maxNameSearch+1), ``, asHost, 400, "bad_request"},
	{"GET", "/api/nothing", ``, asStranger, 404, "not_found"},
	{"GET", "/api", ``, asStranger, 404, "not_found"},
	{"PUT", "/api/rooms/RAXN88", `{}`, asHost, 405, "method_not_allowed"},
	{"PUT", "/api/rounds/" + roundA, ``, asHost, 405, "method_not_allowed"},
	{"POST", "/", ``, asStranger, 405, "method_not_allowed"},
	{"POST", "/nothing", ``, asStranger, 404, "not_found"},
}

func asStranger(*testServer, *http.Request) {}

func TestBadRequestsAreRefusedAndChangeNothing(t *testing.T) {
	for _, bad := range badRequests {
		t.Run(bad.method+" "+bad.path, func(t *testing.T) {
			r := newTestServer(t)
			wantRefused(t, r.call(bad.method, bad.path, bad.body, bad.change), bad.status, bad.code)
			if r.store.changed != 0 {
				t.Errorf("changed %d things", r.store.changed)
			}
		})
	}
}

// needsSession lists calls that need a session.
var needsSession = [][2]string{
	{"DELETE", "/api/host/session"},
	{"POST", "/api/rooms"},
	{"GET", "/api/rooms"},
	{"GET", "/api/rooms/RAXN88/players/me"},
	{"POST", "/api/rooms/RAXN88/rounds"},
	{"GET", "/api/rooms/RAXN88/rounds"},
	{"POST", "/api/rounds/preview"},
	{"POST", "/api/rounds/" + roundA + "/start"},
	{"POST", "/api/rounds/" + roundA + "/stop"},
	{"POST", "/api/rounds/" + roundA + "/cancel"},
	{"GET", "/api/rounds/" + roundA + "/claims"},
	{"GET", "/api/rounds/" + roundA + "/claims/me"},
}

func TestCallsWithoutASessionAreRefused(t *testing.T) {
	r := newTestServer(t)
	for _, call := range needsSession {
		wantRefused(t, r.call(call[0], call[1], ""), 401, "unauthorized")
		wantRefused(t, r.call(call[0], call[1], "", withHeader("Authorization", "Bearer x.y.z")), 401, "unauthorized")
		wantRefused(t, r.call(call[0], call[1], "", withHeader("Authorization", "Basic aG9zdDpob3N0")), 401, "unauthorized")
		if !strings.HasSuffix(call[1], "/me") {
			wantRefused(t, r.call(call[0], call[1], "", asPlayer(code, playerA)), 401, "unauthorized")
		}
	}
	if r.store.changed != 0 {
		t.Errorf("changed %d things", r.store.changed)
	}
}
