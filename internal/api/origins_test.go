package api

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
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
		{"with a port", proxies, "10.1.2.3:1000", []string{"203.0.113.7:4711"}, "203.0.113.7"},
		{"IPv6", proxies, "10.1.2.3:1000", []string{"2001:db8::1"}, "2001:db8::1"},
		{"IPv6 in brackets", proxies, "10.1.2.3:1000", []string{"[2001:db8::1]"}, "2001:db8::1"},
		{"IPv6 with a port", proxies, "10.1.2.3:1000", []string{"[2001:DB8::1]:4711"}, "2001:db8::1"},
		{"IPv4 in IPv6", proxies, "[::ffff:10.1.2.3]:1000", []string{"::ffff:203.0.113.7"}, "203.0.113.7"},
		{"through two proxies with ports", proxies, "10.1.2.3:1000", []string{"8.8.8.8, 203.0.113.7:1,10.1.9.9:2"}, "203.0.113.7"},
		{"nothing in it", proxies, "10.1.2.3:1000", []string{""}, "10.1.2.3"},
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

// Proxies that speak RFC 7239 send Forwarded. One that sends X-Forwarded-For passes on what the client put into Forwarded.
func TestForwardedIsRead(t *testing.T) {
	proxies := Proxies{netip.MustParsePrefix("10.1.0.0/16")}
	for _, tt := range []struct {
		peer, xff string
		forwarded []string
		want      string
		https     bool
	}{
		{"10.1.2.3:1000", "", []string{"for=203.0.113.7;proto=https;by=10.1.2.3"}, "203.0.113.7", true},
		{"10.1.2.3:1000", "", []string{`For="203.0.113.7:4711"; Proto=http`}, "203.0.113.7", false},
		{"10.1.2.3:1000", "", []string{`for="[2001:db8::1]:4711";proto="https"`}, "2001:db8::1", true},
		{"10.1.2.3:1000", "", []string{`for="[2001:db8::1]"`}, "2001:db8::1", false},
		{"10.1.2.3:1000", "", []string{"for=8.8.8.8, for=203.0.113.7", "for=10.1.9.9"}, "203.0.113.7", false},
		{"10.1.2.3:1000", "", []string{"for=8.8.8.8, for=unknown;proto=https"}, "10.1.2.3", true},
		{"10.1.2.3:1000", "", []string{"for=_hidden"}, "10.1.2.3", false},
		{"10.1.2.3:1000", "203.0.113.7", []string{"for=8.8.8.8"}, "203.0.113.7", false},
		{"203.0.113.9:1000", "", []string{"for=8.8.8.8;proto=https"}, "203.0.113.9", false},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
		r.RemoteAddr = tt.peer
		r.Header["Forwarded"] = tt.forwarded
		if tt.xff != "" {
			r.Header.Set("X-Forwarded-For", tt.xff)
		}
		if got := proxies.ClientIP()(r); got != tt.want {
			t.Errorf("%v: got %s, want %s", tt.forwarded, got, tt.want)
		}
		if got := proxies.isHTTPS(r); got != tt.https {
			t.Errorf("%v: https is %v", tt.forwarded, got)
		}
	}
}

// A browser drops the Secure cookie of a page that came by plain http: the player was booked, and then told that the session ended.
func TestPagesByPlainHTTPAreToldSo(t *testing.T) {
	for name, tt := range map[string]struct {
		origin, url string
		code        string // "": let in
		secure      bool
	}{
		"by the public address": {"https://rain.example.org", "http://rain.example.org", "", true},
		"the same by http":      {"http://rain.example.org", "http://rain.example.org", "https_required", false},
		"by the LAN's address":  {"http://192.168.1.5:8080", "http://192.168.1.5:8080", "https_required", false},
		"on the machine itself": {"http://localhost:8080", "http://localhost:8080", "https_required", false},
		"host changed by proxy": {"http://rain.example.org", "http://127.0.0.1:8080", "https_required", false},
		"a port of its own":     {"http://rain.example.org:8080", "http://rain.example.org:8080", "https_required", false},
		"allowed":               {"http://10.0.0.5:8080", "http://10.0.0.5:8080", "", false},
		"of another site":       {"http://evil.example", "http://rain.example.org", "origin_refused", false},
	} {
		r := newTestServer(t, func(o *Options) {
			o.PublicURL, o.Origins.Allowed = "https://rain.example.org", []string{"http://10.0.0.5:8080"}
		})
		for path, body := range map[string]string{
			"/api/host/session": `{"password":"` + password + `"}`, "/api/rooms/RAXN88/players": `{"nickname":"a"}`,
		} {
			response := r.call("POST", tt.url+path, body, withHeader("Origin", tt.origin))
			if tt.code != "" {
				wantRefused(t, response, 403, tt.code)
				if len(response.Result().Cookies()) > 0 || r.store.changed > 0 {
					t.Errorf("%s: something was booked", name)
				}
			} else if cookies := response.Result().Cookies(); len(cookies) != 1 || cookies[0].Secure != tt.secure {
				t.Errorf("%s: %d, cookies %v", name, response.Code, cookies)
			}
		}
	}
}

func TestPagesOfAnHTTPSSiteStayThere(t *testing.T) {
	for public, want := range map[string]string{"https://rain.example.org": "max-age=31536000", "http://10.0.0.5:8080": "", "": ""} {
		r := newTestServer(t, func(o *Options) { o.PublicURL = public })
		for _, path := range []string{"/", "/assets/nothing", "/api/rooms/RAXN88"} {
			if got := r.call("GET", path, "").Header().Get("Strict-Transport-Security"); got != want {
				t.Errorf("PUBLIC_URL %q, %s: %q, want %q", public, path, got, want)
			}
		}
	}
}

// Safari before 15.4 opens only the WebSockets that the policy names, and a proxy may hide the port that the page has.
func TestThePolicyNamesThePublicAddress(t *testing.T) {
	r := newTestServer(t, func(o *Options) { o.PublicURL = "https://rain.example.org:8443" })
	policy := r.call("GET", "http://rain.example.org/", "").Header().Get("Content-Security-Policy")
	for _, want := range []string{" wss://rain.example.org:8443", " ws://rain.example.org "} {
		if !strings.Contains(policy, want) {
			t.Errorf("%q lacks %q", policy, want)
		}
	}
}
