package gate_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"redrain/internal/gate"
	"redrain/internal/testkit"
)

// Somebody opened screens until the server had no file descriptor left, and newcomers heard nothing.
func TestConnectionsAreBounded(t *testing.T) {
	for name, bounds := range map[string]gate.Bounds{
		"of an address":          {PerAddress: 2},
		"of a room":              {PerRoom: 2},
		"screens of an address":  {ScreensPerAddress: 2},
		"screens of a room":      {ScreensPerRoom: 2},
		"several, the least one": {PerAddress: 5, PerRoom: 4, ScreensPerAddress: 3, ScreensPerRoom: 2},
	} {
		t.Run(name, func(t *testing.T) {
			i := newSite(t).instance(func(o *gate.Options) { o.Bounds = bounds })
			first := testkit.Connect(t, i.screen())
			testkit.Connect(t, i.screen())
			if status, code := testkit.Refused(t, i.screen()); status != http.StatusServiceUnavailable || code != "full" {
				t.Errorf("one more screen: %d %s", status, code)
			}
			host := testkit.Connect(t, i.host()) // is never refused
			host.Drop()
			first.Drop()
			i.awaitConnections(1)
			testkit.Connect(t, i.screen()) // the place is free again
		})
	}
}

func TestAPlayersTabsAreBounded(t *testing.T) {
	i := newSite(t).instance(func(o *gate.Options) { o.Bounds = gate.Bounds{PerPlayer: 2, ScreensPerAddress: 1} })
	ann := i.as("ann")
	first := testkit.Connect(t, ann)
	testkit.Connect(t, ann)
	if status, code := testkit.Refused(t, ann); status != http.StatusServiceUnavailable || code != "full" {
		t.Errorf("one more tab: %d %s", status, code)
	}
	testkit.Connect(t, i.as("bob"))
	first.Drop()
	i.awaitConnections(2)
	testkit.Connect(t, ann) // has a place again
}

// What is refused, for whatever reason, takes no place.
func TestOnlyOpenConnectionsCount(t *testing.T) {
	i := newSite(t).instance(func(o *gate.Options) { o.Bounds = gate.Bounds{PerAddress: 1, PerRoom: 1} })
	unknown := i.screen()
	unknown.Room = "SUNNY8"
	for range 3 {
		if status, _ := testkit.Refused(t, unknown); status != http.StatusNotFound {
			t.Errorf("an unknown room: %d", status)
		}
		response, err := http.Get(i.url + "/ws?role=screen&room=" + room) //nolint:noctx // a test
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
	}
	testkit.Connect(t, i.screen())
}

func TestTheReserveIsForHosts(t *testing.T) {
	i := newSite(t).instance(func(o *gate.Options) { o.Scarce = func() bool { return true } })
	for _, visit := range []testkit.Visit{i.screen(), i.as("ann")} {
		if status, code := testkit.Refused(t, visit); status != http.StatusServiceUnavailable || code != "full" {
			t.Errorf("%s: %d %s", visit.Role, status, code)
		}
	}
	testkit.Connect(t, i.host())
}

// awaitConnections waits until the gate has noticed who is gone.
func (i *instance) awaitConnections(n int) {
	i.site.t.Helper()
	testkit.Eventually(i.site.t, 10*time.Second, func() error {
		if got := i.gate.Connections(); got != n {
			return fmt.Errorf("%d connections, want %d", got, n)
		}
		return nil
	})
}
