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

// Player is one bot: a session of its own and a WebSocket. What it hears is kept, so that the books can be held against
// it. Its methods may be called concurrently.
type Player struct {
	ID       string
	instance string
	room     string
	token    string
	client   *http.Client
	ws       *websocket.Conn
	heard    sync.WaitGroup

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

// Join makes a player in a room, over an instance and from a source address (empty: any).
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

// SameAs returns a second tab of a player, over another instance if wanted.
func (p *Player) SameAs(instance string) *Player {
	return &Player{
		ID: p.ID, instance: strings.TrimRight(instance, "/"), room: p.room, token: p.token, client: p.client,
		tapped: make(map[game.DropID]time.Time), won: make(map[game.DropID]game.Cents), outcomes: make(map[game.Outcome]int),
	}
}

// Address is where this player's WebSocket is, with the token.
func (p *Player) Address() string {
	return "ws" + strings.TrimPrefix(p.instance, "http") + "/ws?role=player&room=" + p.room + "&token=" + p.token
}

// Connect opens the WebSocket and returns when the welcome was heard.
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
		return fmt.Errorf("hear the welcome: %w", err)
	}
	if err := p.hear(text); err != nil {
		return err
	}
	p.heard.Go(p.listen)
	return nil
}

// Disconnect closes the WebSocket and waits until everything that had come was heard.
func (p *Player) Disconnect() {
	if p.ws == nil {
		return
	}
	_ = p.ws.Close(websocket.StatusNormalClosure, "") // the server may have closed it already
	p.heard.Wait()
}

func (p *Player) listen() {
	for {
		_, text, err := p.ws.Read(context.Background())
		if err == nil {
			err = p.hear(text)
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

// hear takes in one message.
func (p *Player) hear(text []byte) error {
	kind := kindOf(text)
	if kind == wire.TypeResult {
		var result wire.Result
		if err := json.Unmarshal(text, &result); err != nil {
			return fmt.Errorf("a result does not parse: %w", err)
		}
		p.takeResult(result)
		return nil
	}
	if p.onMessage != nil {
		p.onMessage(kind, text)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.take(kind, text)
}

func (p *Player) take(kind string, text []byte) error {
	switch kind {
	case wire.TypeWelcome:
		var m wire.Welcome
		if err := json.Unmarshal(text, &m); err != nil {
			return fmt.Errorf("the welcome does not parse: %w", err)
		}
		p.offset = time.Until(time.UnixMilli(int64(m.Now)))
		if m.Round != nil {
			p.enter(*m.Round)
		}
		p.drops = append(p.drops, m.Drops...)
		for _, claim := range m.Claims {
			p.won[claim.Drop] = claim.Cents
		}
		p.tally = m.Tally
		return nil
	case wire.TypeRound:
		m, err := roundsHeard.of(text)
		p.enter(m.Round)
		return err
	case wire.TypeDrops:
		m, err := dropsHeard.of(text)
		p.drops = append(p.drops, m.Drops...)
		return err
	case wire.TypeClaim:
		return decode(text, func(m wire.ClaimMade) { p.won[m.Claim.Drop] = m.Claim.Cents })
	case wire.TypeTally:
		m, err := talliesHeard.of(text)
		p.tally = m
		return err
	case wire.TypeError:
		return fmt.Errorf("the server refused a frame: %s", text)
	}
	return nil
}

// same reads messages that thousands of players get word for word, once for all of them: else the bots would use the
// machine more than the server does. Safe for concurrent use.
type same[M any] struct {
	mu   sync.Mutex
	read map[string]M
}

var (
	roundsHeard  same[wire.RoundChanged]
	dropsHeard   same[wire.Drops]
	talliesHeard same[wire.Tally]
)

// sameKept is how many messages are remembered: more than are on their way at a time.
const sameKept = 64

func (s *same[M]) of(text []byte) (M, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m, ok := s.read[string(text)]; ok {
		return m, nil
	}
	var m M
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("a message does not parse: %w", err)
	}
	if s.read == nil || len(s.read) >= sameKept {
		s.read = make(map[string]M)
	}
	s.read[string(text)] = m
	return m, nil
}

func decode[M any](text []byte, take func(M)) error {
	var m M
	if err := json.Unmarshal(text, &m); err != nil {
		return fmt.Errorf("a message does not parse: %w", err)
	}
	take(m)
	return nil
}

func (p *Player) enter(round wire.Round) {
	if p.round.ID != round.ID {
		p.drops = nil
		clear(p.tapped)
		clear(p.won)
	}
	p.round = round
}

func (p *Player) takeResult(result wire.Result) {
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

// Tap taps a drop; intended is when it was meant to, which latency is measured from.
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

// Tally is the latest tally that this player heard.
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

// Heard is how often this player was told an outcome.
func (p *Player) Heard(outcome game.Outcome) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.outcomes[outcome]
}

// Err is what went wrong with the connection or with what was heard on it, nil if nothing did.
func (p *Player) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}
