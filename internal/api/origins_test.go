package api

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
)

// Pages of other sites must not open a WebSocket with their visitors' cookies: a foreign Origin is never allowed, and a missing one
// is reported, so that cookies do not count without it.
func TestForeignOriginsAreRefused(t *testing.T) {
	plain := Origins{Allowed: []string{"https://Partner.example:443/", "http://dev.example:3000", "not an origin"}}
	public := Origins{Public: "https://rain.example.org"}
	for _, tt := range []struct {
		name        string
		rule        Origins
		url         string // of the request
		origins     []string
		present, ok bool
	}{
		{"none", plain, "http://rain.local/ws", nil, false, false},
		{"own", plain, "http://rain.local/ws", []string{"http://rain.local"}, true, true},
		{"own with its port", plain, "http://rain.local:8080/ws", []string{"http://rain.local:8080"}, true, true},
		{"own in capitals", plain, "http://Rain.local/ws", []string{"http://rain.LOCAL"}, true, true},
		{"own, usual port said", plain, "http://rain.local:80/ws", []string{"http://rain.local"}, true, true},
		{"own behind a proxy that ends TLS", plain, "http://rain.local/ws", []string{"https://rain.local"}, true, true},
		{"own name, another port", plain, "http://rain.local/ws", []string{"http://rain.local:8080"}, true, false},
		{"own name over plain HTTP", plain, "https://rain.local/ws", []string{"http://rain.local"}, true, false},
		{"a name that ends alike", plain, "http://rain.local/ws", []string{"http://evilrain.local"}, true, false},
		{"a name that begins alike", plain, "http://rain.local/ws", []string{"http://rain.local.evil.example"}, true, false},
		{"own name as a user", plain, "http://rain.local/ws", []string{"http://rain.local@evil.example"}, true, false},
		{"foreign", plain, "http://rain.local/ws", []string{"https://evil.example"}, true, false},
		{"null", plain, "http://rain.local/ws", []string{"null"}, true, false},
		{"empty", plain, "http://rain.local/ws", []string{""}, true, false},
		{"two", plain, "http://rain.local/ws", []string{"http://rain.local", "https://evil.example"}, true, false},
		{"a file", plain, "http://rain.local/ws", []string{"file://rain.local"}, true, false},
		{"allowed", plain, "http://rain.local/ws", []string{"https://partner.example"}, true, true},
		{"allowed, another scheme", plain, "http://rain.local/ws", []string{"http://partner.example"}, true, false},
		{"allowed with a port", plain, "http://rain.local/ws", []string{"http://dev.example:3000"}, true, true},
		{"public behind a proxy that changes Host", public, "http://10.0.0.7:8080/ws", []string{"https://rain.example.org"}, true, true},
		{"public", public, "http://rain.example.org/ws", []string{"https://rain.example.org"}, true, true},
		{"public over plain HTTP", public, "http://rain.example.org/ws", []string{"http://rain.example.org"}, true, false},
		{"an operator on the machine itself", public, "http://localhost:8080/ws", []string{"http://localhost:8080"}, true, true},
	} {
		r := httptest.NewRequest(http.MethodGet, tt.url, nil)
		r.Header["Origin"] = tt.origins
		if present, ok := tt.rule.Check(r); present != tt.present || ok != tt.ok {
			t.Errorf("%s: got present %v, ok %v; want %v, %v", tt.name, present, ok, tt.present, tt.ok)
		}
	}
}

// A client must not evade limits with a forged X-Forwarded-For: it counts only from configured proxies, and only the addresses
// that they added.
func TestForwardedAddressesCountFromConfiguredProxiesOnly(t *testing.T) {
	proxies := Proxies{netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("2001:db8:7::/48")}
	for _, tt := range []struct {
		name      string
		proxies   Proxies
		peer      string
		forwarded []string
		want      string
	}{
		{"no proxies, nothing said", nil, "203.0.113.7:1000", nil, "203.0.113.7"},
		{"no proxies, made up", nil, "203.0.113.7:1000", []string{"8.8.8.8"}, "203.0.113.7"},
		{"no proxies, made up from this machine", nil, "127.0.0.1:1000", []string{"8.8.8.8"}, "127.0.0.1"},
		{"made up by a stranger", proxies, "203.0.113.7:1000", []string{"8.8.8.8"}, "203.0.113.7"},
		{"made up from a private network that is no proxy", proxies, "192.168.1.1:1000", []string{"8.8.8.8"}, "192.168.1.1"},
		{"made up from this machine", proxies, "127.0.0.1:1000", []string{"8.8.8.8"}, "127.0.0.1"},
		{"said by a proxy", proxies, "10.1.2.3:1000", []string{"203.0.113.7"}, "203.0.113.7"},
		{"said by a proxy over IPv6", proxies, "[2001:db8:7::1]:1000", []string{"203.0.113.7"}, "203.0.113.7"},
		{"made up before a proxy", proxies, "10.1.2.3:1000", []string{"8.8.8.8, 203.0.113.7"}, "203.0.113.7"},
		{"made up before a proxy, in two headers", proxies, "10.1.2.3:1000", []string{"8.8.8.8", "203.0.113.7"}, "203.0.113.7"},
		{"through two proxies", proxies, "10.1.2.3:1000", []string{"8.8.8.8, 203.0.113.7, 10.1.9.9"}, "203.0.113.7"},
		{"no address", proxies, "10.1.2.3:1000", []string{"unknown"}, "10.1.2.3"},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RemoteAddr = tt.peer
		r.Header["X-Forwarded-For"] = tt.forwarded
		r.Header.Set("X-Real-Ip", "8.8.4.4")
		if got := tt.proxies.ClientIP()(r); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}

// The limit of joins, with a forged X-Forwarded-For in each attempt.
func TestForgedForwardedAddressDoesNotResetTheLimit(t *testing.T) {
	try := func(r *testServer, forwarded string) int {
		return r.call("POST", "/api/rooms/RAXN88/players", `{"nickname":"a"}`, withRemoteAddr("10.1.2.3:1000"), withHeader("X-Forwarded-For", forwarded)).Code
	}
	r := newTestServer(t)
	for range joinBurst {
		try(r, "203.0.113.7")
	}
	if got := try(r, "203.0.113.8"); got != 429 {
		t.Errorf("another made-up address: got %d, want 429", got)
	}
	r = newTestServer(t, func(o *Options) { o.Proxies = Proxies{netip.MustParsePrefix("10.1.0.0/16")} })
	for range joinBurst {
		try(r, "203.0.113.7")
	}
	if got := try(r, "203.0.113.7"); got != 429 {
		t.Errorf("the same client behind a proxy: got %d, want 429", got)
	}
	if got := try(r, "203.0.113.8"); got != 201 {
		t.Errorf("another client behind the same proxy: got %d, want 201", got)
	}
}

func TestHTTPSIsDetectedFromTheConnectionOrATrustedProxy(t *testing.T) {
	proxies := Proxies{netip.MustParsePrefix("10.1.0.0/16")}
	for _, tt := range []struct {
		url, peer, said string
		want            bool
	}{
		{"https://rain.local/", "203.0.113.7:1", "", true},
		{"http://rain.local/", "203.0.113.7:1", "https", false},
		{"http://rain.local/", "10.1.2.3:1", "https", true},
		{"http://rain.local/", "[::ffff:10.1.2.3]:1", "https", true},
		{"http://rain.local/", "10.1.2.3:1", "http", false},
		{"http://rain.local/", "@", "https", false},
	} {
		r := httptest.NewRequest(http.MethodGet, tt.url, nil)
		r.RemoteAddr = tt.peer
		r.Header.Set("X-Forwarded-Proto", tt.said)
		if got := proxies.isHTTPS(r); got != tt.want {
			t.Errorf("%+v: got %v", tt, got)
		}
	}
}
