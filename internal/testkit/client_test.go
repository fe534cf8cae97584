package testkit

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"redrain/internal/wire"
)

// speaker is a server that says these texts to everybody and then closes with a code.
func speaker(t *testing.T, code websocket.StatusCode, reason string, texts ...string) Visit {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		for _, text := range texts {
			if err := ws.Write(context.Background(), websocket.MessageText, []byte(text)); err != nil {
				return
			}
		}
		_ = ws.Close(code, reason)
	}))
	t.Cleanup(server.Close)
	return Visit{URL: server.URL, Room: "PARTY8", Role: wire.RoleScreen}
}

var (
	welcome = string(wire.Encode(wire.Welcome{You: wire.You{Role: wire.RoleScreen}}))
	pong    = string(wire.Encode(wire.Pong{Sent: 1}))
	later   = string(wire.Encode(wire.Pong{Sent: 2}))
	refused = string(wire.Encode(wire.Error{Code: wire.CodeBadFrame, Message: "no"}))
)

func TestClientHearsEachTypeInOrder(t *testing.T) {
	c := Connect(t, speaker(t, 4000, "going_away", welcome, pong, refused, later))
	if c.Welcome.You.Role != wire.RoleScreen {
		t.Errorf("welcome %+v", c.Welcome)
	}
	if p := Expect(c, func(p wire.Pong) bool { return p.Sent == 2 }); p.Sent != 2 {
		t.Errorf("pong %v", p)
	}
	if e := Expect[wire.Error](c, nil); e.Code != wire.CodeBadFrame {
		t.Errorf("error %v", e)
	}
	c.WantClose(wire.CloseGoingAway)
	if pongs := All[wire.Pong](c); len(pongs) != 2 || len(c.Heard()) != 4 {
		t.Errorf("pongs %v of %d messages", pongs, len(c.Heard()))
	}
}

func TestClientFailsTheTest(t *testing.T) {
	strange := strings.Replace(pong, `"sent"`, `"seen":0,"sent"`, 1)
	for name, test := range map[string]struct {
		texts []string
		await func(c *Client)
		said  string
	}{
		"nothing more comes": {nil, func(c *Client) { Expect[wire.Pong](c, nil) }, "the connection ended"},
		"none matches":       {[]string{pong}, func(c *Client) { Expect(c, func(p wire.Pong) bool { return p.Sent == 2 }) }, "1 others"},
		"an unknown field":   {[]string{strange}, func(c *Client) { Expect[wire.Pong](c, nil) }, "does not parse"},
		"another close code": {nil, func(c *Client) { c.WantClose(wire.CloseFault) }, "want 4003"},
		"no JSON":            {[]string{"hello", pong}, func(c *Client) { Expect[wire.Pong](c, nil) }, "the connection ended"},
	} {
		t.Run(name, func(t *testing.T) {
			c := Connect(t, speaker(t, 4000, "going_away", append([]string{welcome}, test.texts...)...))
			v := verdictOf(func(stand testing.TB) {
				c.t = stand
				test.await(c)
			})
			if !strings.Contains(v.failed, test.said) {
				t.Errorf("failed with %q, want %q in it", v.failed, test.said)
			}
		})
	}
}

func TestRefusedReadsTheErrorsCode(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte(`{"error":{"code":"origin_refused","message":"no"}}`))
	}))
	defer server.Close()
	status, code := Refused(t, Visit{URL: server.URL, Room: "PARTY8", Role: wire.RoleHost})
	if status != http.StatusForbidden || code != "origin_refused" {
		t.Errorf("%d %s", status, code)
	}
	if v := verdictOf(func(stand testing.TB) { Refused(stand, speaker(t, 4000, "going_away", welcome)) }); !strings.Contains(v.failed, "let in") {
		t.Errorf("failed with %q", v.failed)
	}
}
