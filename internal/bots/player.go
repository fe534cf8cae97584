package bots

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"redrain/internal/game"
	"redrain/internal/wire"
)

// Player is one bot with a session and a WebSocket of its own. It keeps the results it receives, so that the books can be compared
// with them. Its methods may be called concurrently.
type Player struct {
	ID       string
	instance string
	room     string
	token    string
	client   *http.Client
	ws       *websocket.Conn
	reading  sync.WaitGroup

	mu        sync.Mutex
	round     wire.Round
	offset    time.Duration // the server's clock minus ours
	drops     []wire.Drop   // of the round, in the order in which they fall
	tapped    map[game.DropID]time.Time
	won       map[game.DropID]game.Cents // by results won and duplicate, and by claim messages
	outcomes  map[game.Outcome]int
	tally     wire.Tally
	err       error
	onResult  func(tapped time.Time, result wire.Result)
	onMessage func(kind string, text []byte)
}

// Join creates a player in a room, over an instance and from a source address (empty: any).
func Join(ctx context.Context, instance, source, room, nickname string) (*Player, error) {
	p := newPlayer(instance, source, room)
	var answer struct {
		Player struct {
			ID string `json:"id"`
		} `json:"player"`
		Token string `json:"token"`
	}
	err := call(ctx, p.client, http.MethodPost, p.instance+"/api/rooms/"+room+"/players", "", map[string]string{"nickname": nickname}, &answer)
	if err != nil {
		return nil, err
	}
	p.ID, p.token = answer.Player.ID, answer.Token
	return p, nil
}

func newPlayer(instance, source, room string) *Player {
	return &Player{
		instance: strings.TrimRight(instance, "/"), room: room, client: newClient(source),
		tapped: make(map[game.DropID]time.Time), won: make(map[game.DropID]game.Cents), outcomes: make(map[game.Outcome]int),
	}
}

// OpenTab returns a second tab of a player, over another instance if wanted.
func (p *Player) OpenTab(instance string) *Player {
	return &Player{
		ID: p.ID, instance: strings.TrimRight(instance, "/"), room: p.room, token: p.token, client: p.client,
		tapped: make(map[game.DropID]time.Time), won: make(map[game.DropID]game.Cents), outcomes: make(map[game.Outcome]int),
	}
}

// Address is the URL of this player's WebSocket, with the token.
func (p *Player) Address() string {
	return "ws" + strings.TrimPrefix(p.instance, "http") + "/ws?role=player&room=" + p.room + "&token=" + p.token
}

// Connect opens the WebSocket and returns once the welcome message has arrived.
func (p *Player) Connect(ctx context.Context) error {
	//nolint:bodyclose // the library has taken the body over
	ws, _, err := websocket.Dial(ctx, p.Address(), &websocket.DialOptions{HTTPClient: &http.Client{Transport: p.client.Transport}})
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	ws.SetReadLimit(1 << 20)
	p.ws = ws
	_, text, err := ws.Read(ctx)
	if err != nil {
		return fmt.Errorf("read the welcome: %w", err)
	}
	if err := p.handleMessage(text); err != nil {
		return err
	}
	p.reading.Go(p.readMessages)
	return nil
}

// Disconnect closes the WebSocket and waits until all messages received are handled.
func (p *Player) Disconnect() {
	if p.ws == nil {
		return
	}
	_ = p.ws.Close(websocket.StatusNormalClosure, "") // the server may have closed it already
	p.reading.Wait()
}

func (p *Player) readMessages() {
	for {
		_, text, err := p.ws.Read(context.Background())
		if err == nil {
			err = p.handleMessage(text)
		}
		if err != nil {
			p.mu.Lock()
			defer p.mu.Unlock()
			if websocket.CloseStatus(err) != websocket.StatusNormalClosure {
				p.err = err
			}
			return
		}
	}
}

// typePrefix is how every message of the server's begins.
const typePrefix = `{"type":"`

func kindOf(text []byte) string {
	rest, ok := bytes.CutPrefix(text, []byte(typePrefix))
	end := bytes.IndexByte(rest, '"')
	if !ok || end < 0 {
		return ""
	}
	return string(rest[:end])
}

// handleMessage handles one message of the server.
func (p *Player) handleMessage(text []byte) error {
	kind := kindOf(text)
	if kind == wire.TypeResult {
		var result wire.Result
		if err := json.Unmarshal(text, &result); err != nil {
			return fmt.Errorf("a result does not parse: %w", err)
		}
		p.applyResult(result)
		return nil
	}
	if p.onMessage != nil {
		p.onMessage(kind, text)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.applyMessage(kind, text)
}

func (p *Player) applyMessage(kind string, text []byte) error {
	switch kind {
	case wire.TypeWelcome:
		var m wire.Welcome
		if err := json.Unmarshal(text, &m); err != nil {
			return fmt.Errorf("the welcome does not parse: %w", err)
		}
		p.offset = time.Until(time.UnixMilli(int64(m.Now)))
		if m.Round != nil {
			p.setRound(*m.Round)
		}
		p.drops = append(p.drops, m.Drops...)
		for _, claim := range m.Claims {
			p.won[claim.Drop] = claim.Cents
		}
		p.tally = m.Tally
		return nil
	case wire.TypeRound:
		m, err := roundCache.decode(text)
		p.setRound(m.Round)
		return err
	case wire.TypeDrops:
		m, err := dropsCache.decode(text)
		p.drops = append(p.drops, m.Drops...)
		return err
	case wire.TypeClaim:
		return decode(text, func(m wire.ClaimMade) { p.won[m.Claim.Drop] = m.Claim.Cents })
	case wire.TypeTally:
		m, err := tallyCache.decode(text)
		p.tally = m
		return err
	case wire.TypeError:
		return fmt.Errorf("the server refused a frame: %s", text)
	}
	return nil
}

// messageCache decodes messages that thousands of players receive with the same text only once for all of them. Otherwise the bots
// would use more CPU time than the server. Safe for concurrent use.
type messageCache[M any] struct {
	mu   sync.Mutex
	read map[string]M
}

var (
	roundCache messageCache[wire.RoundChanged]
	dropsCache messageCache[wire.Drops]
	tallyCache messageCache[wire.Tally]
)

// messageCacheSize is how many messages are cached: more than are on their way at a time.
const messageCacheSize = 64

func (c *messageCache[M]) decode(text []byte) (M, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m, ok := c.read[string(text)]; ok {
		return m, nil
	}
	var m M
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("a message does not parse: %w", err)
	}
	if c.read == nil || len(c.read) >= messageCacheSize {
		c.read = make(map[string]M)
	}
	c.read[string(text)] = m
	return m, nil
}

func decode[M any](text []byte, apply func(M)) error {
	var m M
	if err := json.Unmarshal(text, &m); err != nil {
		return fmt.Errorf("a message does not parse: %w", err)
	}
	apply(m)
	return nil
}

func (p *Player) setRound(round wire.Round) {
	if p.round.ID != round.ID {
		p.drops = nil
		clear(p.tapped)
		clear(p.won)
	}
	p.round = round
}

func (p *Player) applyResult(result wire.Result) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at, asked := p.tapped[result.Drop]
	p.outcomes[result.Outcome]++
	if result.Outcome == game.Won || result.Outcome == game.Duplicate {
		if known, ok := p.won[result.Drop]; ok && known != result.Cents {
			p.err = fmt.Errorf("drop %d was told as %d cents and as %d", result.Drop, known, result.Cents)
		}
		p.won[result.Drop] = result.Cents
	}
	if asked && p.onResult != nil {
		p.onResult(at, result)
	}
}

// Tap taps a drop. intended is when the tap was due, from which latency is measured.
func (p *Player) Tap(ctx context.Context, drop game.DropID, intended time.Time) error {
	p.mu.Lock()
	p.tapped[drop] = intended
	round := p.round.ID
	p.mu.Unlock()
	frame := append(make([]byte, 0, 96), `{"type":"tap","round":"`...)
	frame = append(frame, round...)
	frame = append(frame, `","drop":`...)
	frame = strconv.AppendInt(frame, int64(drop), 10)
	frame = append(frame, '}')
	if err := p.ws.Write(ctx, websocket.MessageText, frame); err != nil {
		return fmt.Errorf("tap: %w", err)
	}
	return nil
}

// NextDrop is a drop that falls now and that this player has not tapped yet, the oldest first; 0: none.
func (p *Player) NextDrop() game.DropID {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.round.Phase != game.Raining {
		return 0
	}
	elapsed := time.Now().Add(p.offset).UnixMilli() - int64(p.round.StartsAt)
	for i, drop := range p.drops {
		if drop.AtMS > elapsed {
			break
		}
		if _, done := p.tapped[drop.Drop]; !done {
			p.drops = p.drops[i+1:]
			return drop.Drop
		}
	}
	return 0
}

// Round is the round as this player knows it.
func (p *Player) Round() wire.Round {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.round
}

// Tally is the latest tally that this player received.
func (p *Player) Tally() wire.Tally {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tally
}

// Won is what this player was told, by drop.
func (p *Player) Won() map[game.DropID]game.Cents {
	p.mu.Lock()
	defer p.mu.Unlock()
	won := make(map[game.DropID]game.Cents, len(p.won))
	for drop, cents := range p.won {
		won[drop] = cents
	}
	return won
}

// OutcomeCount is how many results with an outcome this player received.
func (p *Player) OutcomeCount(outcome game.Outcome) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.outcomes[outcome]
}

// Err is the error of the connection or of a message on it, if any.
func (p *Player) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}
