package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"redrain/internal/bots"
	"redrain/internal/testkit"
)

// A database that is away for a while is no fault of the server's: hosts and players hear busy, and the same request works when it
// is back, without a restart.
func TestUnreachableDatabaseIsAnsweredAsBusy(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(testing.TB) *testkit.Database{"postgres": testkit.Postgres, "mariadb": testkit.MariaDB} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			database := start(t)
			in := startInstance(t, "DATABASE_URL="+database.URL, "LOG_LEVEL=error")
			host := loginHost(t, in)
			room := newRoom(t, host)
			round := newRound(t, host, room, map[string]any{"total_cents": 100, "packets": 1})

			database.Kill(t)
			for range 3 { // the first meets connections that break, the others find none
				wantBusy(t, host, http.MethodGet, "/api/rooms", nil)
				wantBusy(t, host, http.MethodPost, "/api/rooms", map[string]any{"name": "二"})
				wantBusy(t, host, http.MethodPost, "/api/rounds/"+round.ID+"/start", nil)
				wantBusy(t, host, http.MethodGet, "/api/rounds/"+round.ID+"/reconciliation", nil)
				wantBusy(t, host, http.MethodPost, "/api/rooms/"+room+"/players", map[string]any{"nickname": "安"})
			}
			if faults := in.Output(); strings.Contains(faults, "request failed") {
				t.Errorf("the log calls it a fault of this server:\n%s", faults)
			}

			database.Restart(t)
			testkit.Eventually(t, soon, func() error {
				return host.Call(t.Context(), http.MethodPost, "/api/rounds/"+round.ID+"/start", nil, new(json.RawMessage))
			})
		})
	}
}

func wantBusy(t *testing.T, host *bots.Host, method, path string, body any) {
	t.Helper()
	err := host.Call(t.Context(), method, path, body, new(json.RawMessage))
	if err == nil || !strings.Contains(err.Error(), ": 503 ") {
		t.Errorf("%s %s says %v, want 503 busy", method, path, fmt.Sprint(err))
	}
}
