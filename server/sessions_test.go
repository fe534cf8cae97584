package main

import (
	"fmt"
	"net/http"
	"testing"

	"redrain/internal/bots"
	"redrain/internal/testkit"
	"redrain/internal/wire"
)

// A token that was copied is of no use once its host has logged out or the password has changed, on whichever instance.
func TestSessionsEndOnBothInstances(t *testing.T) {
	t.Parallel()
	shared := []string{"REDIS_URL=" + testkit.Redis(t).URL, "DATABASE_URL=sqlite:" + t.TempDir() + "/books.db"}
	a, b := startInstance(t, shared...), startInstance(t, shared...)
	host, other := loginHost(t, a), loginHost(t, b)
	room := newRoom(t, host)
	socket := testkit.Connect(t, testkit.Visit{URL: b.url, Room: room, Role: wire.RoleHost, Token: host.Token()})
	if err := host.Call(t.Context(), http.MethodDelete, "/api/host/session", nil, nil); err != nil {
		t.Fatal(err)
	}
	socket.WantClose(wire.CloseSessionEnded)
	awaitRefused(t, host.At(b.url))

	socket = testkit.Connect(t, testkit.Visit{URL: b.url, Room: room, Role: wire.RoleHost, Token: other.Token()})
	a.Interrupt(t, soon)
	a = startInstance(t, append(shared, "HOST_PASSWORD=another horse")...)
	socket.WantClose(wire.CloseSessionEnded)
	awaitRefused(t, other)
	awaitRefused(t, other.At(a.url))
	loginHostWithPassword(t, b.url, "another horse")
}

func awaitRefused(t *testing.T, host *bots.Host) {
	t.Helper()
	testkit.Eventually(t, soon, func() error {
		if _, err := host.MakeRoom(t.Context(), "again"); err == nil {
			return fmt.Errorf("the token of a session that ended still makes rooms")
		}
		return nil
	})
}
