package grab

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"redrain/internal/game"
	"redrain/internal/rdb"
)

func TestMain(m *testing.M) {
	rdb.LogDriver(slog.New(slog.DiscardHandler))
	// After many failed dials go-redis looks once a second whether the server is back, and notices that its pool was closed
	// at the next look.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial"))
}

// errLost stands for a reply that never came, errPasses for a refusal as in a failover.
var (
	errLost   = errors.New("no reply")
	errPasses = fmt.Errorf("%w: %w: READONLY", game.ErrRefused, game.ErrTryAgain)
)

// call is one call of the script.
type call struct {
	at    time.Time
	room  string
	round string
	taps  []game.Tap
}

// fakeScript is a script over a model of the round. What a test sets decides what becomes of each call; the zero value answers all
// of them at once.
type fakeScript struct {
	// fate is asked before the n-th call (from 0) does its work.
	fate func(n int) callResult
	// takes is how long a call is under way.
	takes time.Duration
	// looking fails a look at who granted a claim; nil: none fails.
	looking func() error
	packets int // all that the round has; 0: without end

	mu     sync.Mutex
	calls  []call
	claims map[game.Tap]game.Answer
	// granted is the batch of each claim, by number - 1.
	granted []string
	batches int
	under   int // calls under way now
	most    int // calls that were ever under way together
}

// callResult is what happens to one call. The zero value is a call that works.
type callResult struct {
	before error // the call fails and does nothing
	after  error // the work is done, the reply is this
	hangs  bool  // nothing is done, and nothing is heard until the caller gives up
	short  bool  // one answer is missing
}

func (p *fakeScript) Grab(ctx context.Context, room, round, batch string, taps []game.Tap) (game.Grabbed, error) {
	what := p.enter(call{time.Now(), room, round, append([]game.Tap(nil), taps...)})
	defer p.leave()
	if p.takes > 0 {
		select {
		case <-time.After(p.takes):
		case <-ctx.Done():
			return game.Grabbed{}, ctx.Err()
		}
	}
	switch {
	case what.hangs:
		<-ctx.Done()
		return game.Grabbed{}, ctx.Err()
	case what.before != nil:
		return game.Grabbed{}, what.before
	}
	grabbed := p.grant(batch, taps)
	if what.short {
		grabbed.Answers = grabbed.Answers[1:]
	}
	return grabbed, what.after
}

func (p *fakeScript) NewBatch() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.batches++
	return strconv.Itoa(p.batches)
}

func (p *fakeScript) GrantedIn(_ context.Context, _ string, number int) (batch string, first, last int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.looking != nil {
		if err := p.looking(); err != nil {
			return "", 0, 0, err
		}
	}
	batch = p.granted[number-1]
	first = slices.Index(p.granted, batch) + 1
	for last = first; last < len(p.granted) && p.granted[last] == batch; last++ {
	}
	return batch, first, last, nil
}

func (p *fakeScript) enter(c call) callResult {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.under++
	p.most = max(p.most, p.under)
	p.calls = append(p.calls, c)
	if p.fate == nil {
		return callResult{}
	}
	return p.fate(len(p.calls) - 1)
}

func (p *fakeScript) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.under--
}

// grant does what the script does where cap and time play no part: who has a claim for a drop hears of it again.
func (p *fakeScript) grant(batch string, taps []game.Tap) game.Grabbed {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.claims == nil {
		p.claims = make(map[game.Tap]game.Answer)
	}
	answers := make([]game.Answer, len(taps))
	for i, tap := range taps {
		claim, had := p.claims[tap]
		switch {
		case had:
			claim.Outcome = game.Duplicate
			answers[i] = claim
		case p.packets > 0 && len(p.claims) == p.packets:
			answers[i] = game.Answer{Outcome: game.SoldOut}
		default:
			number := len(p.claims) + 1
			answers[i] = game.Answer{Outcome: game.Won, Cents: game.Cents(100 + number), Number: number}
			p.claims[tap] = answers[i]
			p.granted = append(p.granted, batch)
		}
	}
	return game.Grabbed{Left: game.Total{Packets: p.packets - len(p.claims)}, Answers: answers}
}

func (p *fakeScript) seen() []call {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]call(nil), p.calls...)
}

// sizes are the numbers of taps of all calls so far.
func (p *fakeScript) sizes() []int {
	var sizes []int
	for _, c := range p.seen() {
		sizes = append(sizes, len(c.taps))
	}
	return sizes
}

// answerRecorder is the answer handler of one tap: it keeps every answer, and when it came.
type answerRecorder struct {
	tap     game.Tap
	mu      sync.Mutex
	answers []game.Answer
	taps    []game.Tap
	at      time.Time
}

func (e *answerRecorder) HandleAnswer(tap game.Tap, answer game.Answer) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.answers, e.taps, e.at = append(e.answers, answer), append(e.taps, tap), time.Now()
}

// once returns the one answer that there must be, for the tap that it was asked for.
func (e *answerRecorder) once() (game.Answer, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.answers) != 1 {
		return game.Answer{}, fmt.Errorf("%v was answered %d times: %v", e.tap, len(e.answers), e.answers)
	}
	if e.taps[0] != e.tap {
		return game.Answer{}, fmt.Errorf("%v was answered for %v", e.tap, e.taps[0])
	}
	return e.answers[0], nil
}

func (e *answerRecorder) want(t *testing.T, outcome game.Outcome) game.Answer {
	t.Helper()
	answer, err := e.once()
	if err != nil {
		t.Fatal(err)
	}
	if answer.Outcome != outcome {
		t.Fatalf("%v: %v, want %v", e.tap, answer, outcome)
	}
	return answer
}

const (
	room  = "HAPPY8"
	round = "round-1"
)

func tapOf(player, drop int) game.Tap {
	return game.Tap{Player: fmt.Sprintf("player-%d", player), Drop: game.DropID(drop)} //nolint:gosec // a test's small number
}

// submit queues one tap that must be taken.
func submit(t *testing.T, c *Committer, tap game.Tap) *answerRecorder {
	t.Helper()
	e := &answerRecorder{tap: tap}
	if !c.Submit(room, round, tap, e) {
		t.Fatalf("%v was refused", tap)
	}
	return e
}

// submitFromPlayers queues one tap for each of n players.
func submitFromPlayers(t *testing.T, c *Committer, n int) []*answerRecorder {
	t.Helper()
	ears := make([]*answerRecorder, n)
	for i := range ears {
		ears[i] = submit(t, c, tapOf(i, 1))
	}
	return ears
}

// closeCommitter ends a committer that must have nothing left to do.
func closeCommitter(t *testing.T, c *Committer) {
	t.Helper()
	if err := c.Close(t.Context()); err != nil {
		t.Errorf("close: %v", err)
	}
}
