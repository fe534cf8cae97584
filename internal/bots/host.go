// Package bots is a load generator: a host that runs a round over the HTTP API, and any number of players, each with a session and a
// WebSocket of its own, as browsers have. It measures latencies, and checks the books against what every player was told.
package bots

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"redrain/internal/wire"
)

// Host runs rounds over the HTTP API of one instance. Safe for concurrent use after Login.
type Host struct {
	Instance string // like http://127.0.0.1:8080
	token    string
	client   *http.Client
}

const requestTimeout = 30 * time.Second

// NewHost returns a host that has not logged in yet.
func NewHost(instance string) *Host {
	return &Host{Instance: strings.TrimRight(instance, "/"), client: newClient("")}
}

// newClient makes its connections from a source address, or from any if that is empty. Like phones,
// players do not keep an idle HTTP connection beside their WebSocket.
func newClient(source string) *http.Client {
	dialer := &net.Dialer{Timeout: requestTimeout}
	if source != "" {
		dialer.LocalAddr = &net.TCPAddr{IP: net.ParseIP(source)}
	}
	return &http.Client{
		Timeout:   requestTimeout,
		Transport: &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true},
	}
}

// Login opens a session with the host's password.
func (h *Host) Login(ctx context.Context, password string) error {
	var answer struct {
		Token string `json:"token"`
	}
	err := call(ctx, h.client, http.MethodPost, h.Instance+"/api/host/session", "", map[string]string{"password": password}, &answer)
	h.token = answer.Token
	return err
}

// Token is the session's token, after Login.
func (h *Host) Token() string { return h.token }

// At returns the same session on another instance.
func (h *Host) At(instance string) *Host {
	return &Host{Instance: instance, token: h.token, client: h.client}
}

// Call makes one request of the host's to a path such as /api/rooms, with a body in JSON unless that is nil, and reads its answer.
func (h *Host) Call(ctx context.Context, method, path string, body, answer any) error {
	return h.call(ctx, method, path, body, answer)
}

// MakeRoom makes a room.
func (h *Host) MakeRoom(ctx context.Context, name string) (wire.Room, error) {
	var answer struct {
		Room wire.Room `json:"room"`
	}
	err := h.call(ctx, http.MethodPost, "/api/rooms", map[string]string{"name": name}, &answer)
	return answer.Room, err
}

// MakeRound makes a round with settings as in POST /api/rooms/CODE/rounds.
func (h *Host) MakeRound(ctx context.Context, room string, settings map[string]any) (wire.Round, error) {
	return h.round(ctx, http.MethodPost, "/api/rooms/"+room+"/rounds", settings)
}

// Start starts a round, Stop stops it; both may be repeated.
func (h *Host) Start(ctx context.Context, round string) (wire.Round, error) {
	return h.round(ctx, http.MethodPost, "/api/rounds/"+round+"/start", nil)
}

// Stop ends a round early.
func (h *Host) Stop(ctx context.Context, round string) (wire.Round, error) {
	return h.round(ctx, http.MethodPost, "/api/rounds/"+round+"/stop", nil)
}

// Round reads a round.
func (h *Host) Round(ctx context.Context, round string) (wire.Round, error) {
	return h.round(ctx, http.MethodGet, "/api/rounds/"+round, nil)
}

func (h *Host) round(ctx context.Context, method, path string, body any) (wire.Round, error) {
	var answer struct {
		Round wire.Round `json:"round"`
	}
	err := h.call(ctx, method, path, body, &answer)
	return answer.Round, err
}

// Claims reads all claims of a round.
func (h *Host) Claims(ctx context.Context, round string) ([]wire.Claim, error) {
	var all []wire.Claim
	for after := 0; ; {
		var page struct {
			Claims []wire.Claim `json:"claims"`
			Next   int          `json:"next"`
		}
		if err := h.call(ctx, http.MethodGet, fmt.Sprintf("/api/rounds/%s/claims?after=%d&limit=1000", round, after), nil, &page); err != nil {
			return nil, err
		}
		all = append(all, page.Claims...)
		if page.Next == 0 {
			return all, nil
		}
		after = page.Next
	}
}

func (h *Host) call(ctx context.Context, method, path string, body, answer any) error {
	return call(ctx, h.client, method, h.Instance+path, h.token, body, answer)
}

// call makes one request; an answer that is not 2xx is an error with the server's own words.
func call(ctx context.Context, client *http.Client, method, url, token string, body, answer any) error {
	var text io.Reader = http.NoBody
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return fmt.Errorf("encode a request: %w", err)
		}
		text = bytes.NewReader(encoded)
	}
	request, err := http.NewRequestWithContext(ctx, method, url, text)
	if err != nil {
		return fmt.Errorf("make a request: %w", err)
	}
	request.Header.Set("Content-Type", "application/json")
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("ask the server: %w", err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("%s %s: %s: %s", method, url, response.Status, bytes.TrimSpace(content))
	}
	if answer == nil {
		return nil
	}
	if err := json.Unmarshal(content, answer); err != nil {
		return fmt.Errorf("read the answer of %s: %w", url, err)
	}
	return nil
}
