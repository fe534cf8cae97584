package api

import (
	"os"
	"strings"
	"testing"
)

// A host who opens the page at localhost shares an address that phones reach, if this machine has one. Once the link said localhost.
func TestLinksForPlayersAreReachable(t *testing.T) {
	lan := []string{"192.168.1.5:8080", "10.0.0.7:8080"}
	for _, c := range []struct {
		what, public, host string
		lan                []string
		want               string
	}{
		{"PUBLIC_URL", "https://rain.example.org", "localhost:8080", lan, `{"urls":["https://rain.example.org/r/RAXN88"],"reachable":true}`},
		{"PUBLIC_URL at localhost", "http://localhost:8080", "192.168.1.9", lan, `{"urls":["http://localhost:8080/r/RAXN88"],"reachable":false}`},
		{"a name", "", "rain.example.org", lan, `{"urls":["http://rain.example.org/r/RAXN88"],"reachable":true}`},
		{"a LAN address", "", "192.168.1.9:8080", lan, `{"urls":["http://192.168.1.9:8080/r/RAXN88"],"reachable":true}`},
		{"localhost", "", "localhost:8080", lan, `{"urls":["http://192.168.1.5:8080/r/RAXN88","http://10.0.0.7:8080/r/RAXN88"],"reachable":true}`},
		{"localhost without a network", "", "localhost:8080", nil, `{"urls":["http://localhost:8080/r/RAXN88"],"reachable":false}`},
	} {
		r := newTestServer(t, func(o *Options) {
			o.PublicURL = c.public
			o.LANHosts = func() []string { return c.lan }
		})
		if got := r.call("GET", "http://"+c.host+"/api/rooms/RAXN88/address", ""); strings.TrimSpace(got.Body.String()) != c.want {
			t.Errorf("%s: got %d %s, want %s", c.what, got.Code, got.Body, c.want)
		}
	}
	for _, local := range []string{ownHostName(), strings.ToUpper(ownHostName()) + ":8080", "ip6-localhost:8080", "localhost.localdomain"} {
		if !isNameOfThisMachine(local) {
			t.Errorf("%s is taken for an address that phones reach", local)
		}
	}
	for _, loopback := range []string{"localhost", "LOCALHOST.:1", "my.localhost:8080", "127.0.0.1:8080", "127.8.0.1", "[::1]:8080", "[::ffff:127.0.0.1]", "0.0.0.0:8080", "[::]:1"} {
		if !isLoopbackHost(loopback) {
			t.Errorf("%s is taken for an address that phones reach", loopback)
		}
	}
	for _, other := range []string{"localhost.example.org", "128.0.0.1:80", "[fe80::1]:80", "notlocalhost", "10.0.0.1"} {
		if isLoopbackHost(other) {
			t.Errorf("%s is taken for this machine", other)
		}
	}
}

// ownHostName returns the name of this machine if it has no dot, else another name of its own.
func ownHostName() string {
	own, err := os.Hostname()
	if err != nil || strings.Contains(own, ".") {
		return "localhost" // a full name may be one of the network's DNS
	}
	return own
}

func TestQRCodeHoldsTheChosenAddress(t *testing.T) {
	r := newTestServer(t, func(o *Options) {
		o.LANHosts = func() []string { return []string{"192.168.1.5:8080", "10.0.0.7:8080"} }
	})
	for at, want := range map[string]string{"": "192.168.1.5", "?at=0": "192.168.1.5", "?at=1": "10.0.0.7"} {
		wantModules(t, r.call("GET", "http://localhost:8080/api/rooms/RAXN88/qr.svg"+at, "").Body.String(), "http://"+want+":8080/r/RAXN88")
	}
	for _, at := range []string{"2", "-1", "x", "1.5", "99999999999999999999"} {
		wantRefused(t, r.call("GET", "http://localhost:8080/api/rooms/RAXN88/qr.svg?at="+at, ""), 400, "bad_request")
	}
}
