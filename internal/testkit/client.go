package testkit

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/go-json-experiment/json"

	"redrain/internal/game"
	"redrain/internal/wire"
)

// messageTimeout is how long a client waits for a message that must come. It is long, for busy machines; a test that passes never
// waits that long.
const messageTimeout = 10 * time.Second

// Visit describes a connection of a Client: where, and in which role. Screens need neither token nor cookie.
type Visit struct {
	// URL is where the server is, http://host:port.
	URL   string
	Room  string
	Role  wire.Role
	Token string
	// Header goes with the upgrade: an Origin, a Cookie.
	Header http.Header
	// Transport is what the upgrade goes through; none: a new connection of its own.
	Transport *http.Transport
}

// Client is one WebSocket connection of a test. It reads all the time, as a page does, so pings are answered, and queues messages
// until the test reads them. It is closed at the end of the test. Safe for concurrent use, but messages of one type should be
// awaited by one goroutine only.
type Client struct {
	// Welcome is the first message that it heard.
	Welcome wire.Welcome

	t    testing.TB
	ws   *websocket.Conn
	done chan struct{} // closed when the connection has ended; ended says how

	mu     sync.Mutex
	heard  []Message
	unread map[string][][]byte // by the type of message
	news   chan struct{}       // closed and replaced when something was heard
	ended  error
}

// Message is one frame as it came.
type Message struct {
	Type string
	Text []byte
	At   time.Time
}

// Connect connects and reads the welcome; the test fails if the server refuses the connection.
func Connect(t testing.TB, visit Visit) *Client {
	t.Helper()
	ws, _, err := visit.dial(t) //nolint:bodyclose // an upgrade has none
	if err != nil {
		t.Fatalf("connect as %s: %v", visit.Role, err)
	}
	ws.SetReadLimit(-1)
	c := &Client{t: t, ws: ws, done: make(chan struct{}), unread: make(map[string][][]byte), news: make(chan struct{})}
	go c.read()
	t.Cleanup(c.Drop)
	c.Welcome = Expect[wire.Welcome](c, nil)
	return c
}

// Refused tries to connect and returns the status and the code of the refusal; the test fails if the server accepts.
func Refused(t testing.TB, visit Visit) (status int, code string) {
	t.Helper()
	ws, response, err := visit.dial(t) //nolint:bodyclose // the library has read and closed it
	if err == nil {
		_ = ws.CloseNow()
		t.Fatalf("%s was let in", visit.Role)
	}
	if response == nil {
		t.Fatalf("connect as %s: %v", visit.Role, err)
	}
	var answer struct {
		Error struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	if err := json.UnmarshalRead(response.Body, &answer); err != nil || answer.Error.Message == "" {
		t.Errorf("the refusal with status %d is no JSON error: %v", response.StatusCode, err)
	}
	return response.StatusCode, answer.Error.Code
}

func (v Visit) dial(t testing.TB) (*websocket.Conn, *http.Response, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), messageTimeout)
	defer cancel()
	query := url.Values{"room": {v.Room}, "role": {string(v.Role)}}
	if v.Token != "" {
		query.Set("token", v.Token)
	}
	transport := v.Transport
	if transport == nil {
		transport = &http.Transport{DisableKeepAlives: true} // a refused upgrade leaves no connection behind
	}
	return websocket.Dial(ctx, "ws"+strings.TrimPrefix(v.URL, "http")+"/ws?"+query.Encode(), &websocket.DialOptions{
		HTTPClient: &http.Client{Transport: transport}, HTTPHeader: v.Header,
	})
}

func (c *Client) read() {
	defer close(c.done)
	for {
		kind, text, err := c.ws.Read(context.Background())
		at := time.Now()
		var head struct {
			Type string `json:"type"`
		}
		if err == nil {
			err = json.Unmarshal(text, &head)
		}
		if err == nil && kind != websocket.MessageText {
			err = errors.New("the server sent a binary frame")
		}
		c.mu.Lock()
		if err != nil {
			c.ended = err
			close(c.news)
			c.mu.Unlock()
			return
		}
		c.heard = append(c.heard, Message{head.Type, text, at})
		c.unread[head.Type] = append(c.unread[head.Type], text)
		close(c.news)
		c.news = make(chan struct{})
		c.mu.Unlock()
	}
}

// Heard returns all messages received so far, in order, including those that were awaited.
func (c *Client) Heard() []Message {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]Message(nil), c.heard...)
}

// next waits for the next unread message of a type.
func (c *Client) next(kind string, deadline <-chan time.Time) ([]byte, error) {
	for {
		c.mu.Lock()
		if waiting := c.unread[kind]; len(waiting) > 0 {
			c.unread[kind] = waiting[1:]
			c.mu.Unlock()
			return waiting[0], nil
		}
		news, ended := c.news, c.ended
		c.mu.Unlock()
		if ended != nil {
			return nil, fmt.Errorf("the connection ended: %w", ended)
		}
		select {
		case <-news:
		case <-deadline:
			return nil, fmt.Errorf("nothing within %v", messageTimeout)
		}
	}
}

// messageType is the type field of a kind of message: wire.Encode fills it in.
func messageType(message wire.Message) string {
	var head struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(wire.Encode(message), &head); err != nil {
		panic(err) // every message has one
	}
	return head.Type
}

// Expect waits for a message of M's type that match accepts (nil: any), and returns it. Earlier messages of the type are discarded;
// those of other types stay queued. Unknown fields fail the test.
func Expect[M wire.Message](c *Client, match func(M) bool) M {
	c.t.Helper()
	var message M
	kind := messageType(message)
	timer := time.NewTimer(messageTimeout)
	defer timer.Stop()
	skipped := 0
	for {
		text, err := c.next(kind, timer.C)
		if err != nil {
			c.t.Fatalf("await a %s (%d others of the kind came): %v", kind, skipped, err)
		}
		message = *new(M)
		if err := json.Unmarshal(text, &message, json.RejectUnknownMembers(true)); err != nil {
			c.t.Fatalf("a %s does not parse: %v: %s", kind, err, text)
		}
		if match == nil || match(message) {
			return message
		}
		skipped++
	}
}

// All returns every message of M's type heard so far, in order.
func All[M wire.Message](c *Client) []M {
	c.t.Helper()
	kind := messageType(*new(M))
	var all []M
	for _, heard := range c.Heard() {
		if heard.Type != kind {
			continue
		}
		var message M
		if err := json.Unmarshal(heard.Text, &message, json.RejectUnknownMembers(true)); err != nil {
			c.t.Fatalf("a %s does not parse: %v: %s", kind, err, heard.Text)
		}
		all = append(all, message)
	}
	return all
}

// Send sends one text frame as it is.
func (c *Client) Send(text string) {
	c.t.Helper()
	c.SendFrame(websocket.MessageText, []byte(text))
}

// SendFrame sends one frame of either kind.
func (c *Client) SendFrame(kind websocket.MessageType, frame []byte) {
	c.t.Helper()
	if err := c.TrySend(kind, frame); err != nil {
		c.t.Fatalf("send: %v", err)
	}
}

// TrySend is SendFrame for a connection that may have ended.
func (c *Client) TrySend(kind websocket.MessageType, frame []byte) error {
	ctx, cancel := context.WithTimeout(context.Background(), messageTimeout)
	defer cancel()
	return c.ws.Write(ctx, kind, frame)
}

// Tap touches a drop and does not wait for the result.
func (c *Client) Tap(round string, drop game.DropID) {
	c.t.Helper()
	c.Send(fmt.Sprintf(`{"type":"tap","round":%q,"drop":%d}`, round, drop))
}

// TapAndHear taps a drop and waits for its result.
func (c *Client) TapAndHear(round string, drop game.DropID) wire.Result {
	c.t.Helper()
	c.Tap(round, drop)
	return Expect(c, func(r wire.Result) bool { return r.Round == round && r.Drop == drop })
}

// Ping asks for the server's time, and waits for the answer. Whatever the server sent before it has been heard then.
func (c *Client) Ping(sent int64) wire.Pong {
	c.t.Helper()
	c.Send(fmt.Sprintf(`{"type":"ping","sent":%d}`, sent))
	return Expect(c, func(p wire.Pong) bool { return p.Sent == sent })
}

// WantClose waits until the server has closed the connection with this code, and with its name as the reason where the
// protocol has one.
func (c *Client) WantClose(code wire.CloseCode) {
	c.t.Helper()
	var said websocket.CloseError
	if err := c.Ended(); !errors.As(err, &said) || wire.CloseCode(said.Code) != code {
		c.t.Fatalf("closed by %v, want %d", err, code)
	}
	if name := code.String(); name != "" && said.Reason != name {
		c.t.Errorf("%d has the reason %q, want %q", code, said.Reason, name)
	}
}

// Ended waits until the connection is over and says how it ended.
func (c *Client) Ended() error {
	c.t.Helper()
	select {
	case <-c.done:
	case <-time.After(messageTimeout):
		c.t.Fatalf("still connected after %v", messageTimeout)
	}
	return c.ended
}

// Leave closes the connection with a close frame, as a browser does when a page is closed.
func (c *Client) Leave() {
	_ = c.ws.Close(websocket.StatusNormalClosure, "") // the server may be gone already
	<-c.done
}

// Drop closes the connection without a close frame, like a lost network.
func (c *Client) Drop() {
	_ = c.ws.CloseNow()
	<-c.done
}
