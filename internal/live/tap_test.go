package live

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"redrain/internal/game"
)

// testPlayer is a player with one tab in a room with a round.
type testPlayer struct {
	t       *testing.T
	fixture *fixture
	session *PlayerSession
	tab     *recordingClient
	answers *answerRecorder
	round   game.Round
}

// submitted stands for the outcome of a tap that was submitted to the pool.
const submitted game.Outcome = "submitted"

func (p *testPlayer) tap(drop game.DropID) (game.Answer, TapStatus) {
	return p.session.Tap(p.round.ID, drop, p.tab, p.answers)
}

func (p *testPlayer) wantTap(drop game.DropID, want game.Outcome) {
	p.t.Helper()
	answer, status := p.tap(drop)
	got := answer.Outcome
	if status == Submitted {
		got = submitted
	}
	if status == OtherRound {
		got = "other round"
	}
	if got != want {
		p.t.Errorf("%v after the start, drop %d: %s, want %s", time.Duration(now()-p.round.StartsAt)*time.Millisecond, drop, got, want)
	}
}

// answer answers the oldest tap that was submitted to the pool.
func (p *testPlayer) answer(outcome game.Outcome) {
	p.t.Helper()
	p.fixture.committer.answerNext(p.t, game.Answer{Outcome: outcome})
}

// newTestPlayer returns a player in a room whose round starts in ten seconds.
func newTestPlayer(t *testing.T, change ...func(*game.Settings)) *testPlayer {
	t.Helper()
	r := newFixture(t)
	r.clock.spread = 30 // the first drops fall by that, whatever their schedule says
	round := r.startRound(newRound(change...))
	session, tab := r.join(r.room, r.books.Join(code, "ann"))
	session.limiter.SetBurst(1000)
	session.limiter.SetLimit(1000)
	synctest.Wait()
	return &testPlayer{t, r, session, tab, &answerRecorder{}, round}
}

// sleepUntil advances the clock to so many milliseconds after the round's start.
func (p *testPlayer) sleepUntil(ms int64) { sleepUntil(p.round.StartsAt + game.Moment(ms)) }

// claimByOthers has other players win n packets on another instance.
func (p *testPlayer) claimByOthers(n int) {
	var others []string
	for range n {
		others = append(others, "somebody")
	}
	p.fixture.redis.claim(p.round.ID, 1, others...)
	synctest.Wait()
}

func TestATapFarFromTheWindowIsAnsweredAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newTestPlayer(t)
		for _, step := range []struct {
			ms   int64
			want game.Outcome
		}{
			{-9000, game.Early}, {-1001, game.Early},
			// Within a second of an edge only the script decides: this instance's clock may be off.
			{-1000, submitted}, {-1, submitted}, {0, submitted}, {999, submitted}, {1000, submitted},
			{28_999, submitted}, {29_001, submitted}, {29_999, submitted}, {30_000, submitted}, {31_000, submitted},
			// Over for sure, but own claims must be read again first.
			{31_001, submitted}, {33_000, game.Late}, {90_000, game.Late},
		} {
			p.sleepUntil(step.ms)
			p.wantTap(1, step.want)
		}
	})
}

func TestDropsThatCannotBeTapped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newTestPlayer(t, func(s *game.Settings) { s.BombPercent = 50 })
		schedule := game.NewSchedule(p.round.Settings, p.round.Secret)
		var bomb, packet game.Drop
		for id := game.DropID(400); bomb.ID == 0 || packet.ID == 0; id++ {
			if drop, _ := schedule.Find(id); drop.Kind == game.KindBomb {
				bomb = drop
			} else {
				packet = drop
			}
		}
		p.sleepUntil(5000)
		for _, id := range []game.DropID{-1, 0, game.DropID(schedule.Len() + 1), 1 << 30} { //nolint:gosec // a test's schedule
			p.wantTap(id, game.UnknownDrop)
		}
		both := []game.Drop{bomb, packet}
		slices.SortFunc(both, func(a, b game.Drop) int { return int(a.AtMS - b.AtMS) })
		for _, drop := range both {
			p.sleepUntil(drop.AtMS - 31) // the clock may be off by 30 ms
			p.wantTap(drop.ID, game.UnknownDrop)
			p.sleepUntil(drop.AtMS - 30)
			p.wantTap(drop.ID, submitted) // a bomb too: its penalty holds on all instances
			p.wantTap(drop.ID, submitted)
		}
		if n := len(p.fixture.committer.submitted); n != 4 {
			t.Errorf("%d taps were submitted, want those on drops that fall", n)
		}
	})
}

// All tabs of a player share one limiter.
func TestTapsAreThrottledOverAllTabs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFixture(t)
		round := r.startRound(newRound())
		ann, bob := r.books.Join(code, "ann"), r.books.Join(code, "bob")
		one, tab := r.join(r.room, ann)
		two, other := r.join(r.room, ann)
		three, stranger := r.join(r.room, bob)
		sleepUntil(round.StartsAt + 5000)
		tap := func(session *PlayerSession, m *recordingClient) game.Outcome {
			answer, _ := session.Tap(round.ID, 1, m, &answerRecorder{})
			return answer.Outcome
		}
		for n := range 10 {
			if tap(one, tab) != "" || tap(two, other) != "" {
				t.Fatalf("throttled in pair %d of a burst of 20", n+1)
			}
		}
		if got := tap(one, tab); got != game.Throttled {
			t.Errorf("tap 21 of one tab: %s", got)
		}
		if got := tap(two, other); got != game.Throttled {
			t.Errorf("tap 22, of the other tab: %s", got)
		}
		if answer, status := one.Tap("another-round", 1, tab, &answerRecorder{}); answer.Outcome != game.Throttled || status != Answered {
			t.Errorf("on another round: %v %v", answer, status)
		}
		if got := tap(three, stranger); got != "" {
			t.Errorf("another player's first tap: %s", got)
		}
		time.Sleep(100 * time.Millisecond) // ten a second
		if got := tap(one, tab); got != "" {
			t.Errorf("a tenth of a second later: %s", got)
		}
		if got := tap(two, other); got != game.Throttled {
			t.Errorf("and at once again: %s", got)
		}
		if counted := r.room.state.taps; counted != 25 {
			t.Errorf("%d taps counted, want all 25 on this round", counted)
		}
	})
}

func TestAReloadDoesNotResetTheLimiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFixture(t)
		round := r.startRound(newRound())
		ann := r.books.Join(code, "ann")
		session, tab := r.join(r.room, ann)
		sleepUntil(round.StartsAt + 5000)
		for range 20 {
			session.Tap(round.ID, 1, tab, &answerRecorder{})
		}
		r.room.Leave(session, tab)
		again, tab := r.join(r.room, ann)
		if answer, _ := again.Tap(round.ID, 1, tab, &answerRecorder{}); answer.Outcome != game.Throttled {
			t.Errorf("after a reload: %v", answer)
		}
	})
}

func TestAFullQueueIsBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newTestPlayer(t)
		p.sleepUntil(5000)
		p.fixture.committer.full = true
		p.wantTap(3, game.Busy)
		p.fixture.redis.claim(p.round.ID, 3, p.session.player) // from a tap before, on another instance
		synctest.Wait()
		if sent := claimMessages(t, p.tab); len(sent) != 1 {
			t.Errorf("a tap that was not submitted keeps its tab from getting a claim: %v", sent)
		}
		p.fixture.committer.full = false
		p.wantTap(4, submitted)
	})
}

// The taps of all tabs count together at one instance. Instances count on their own, so a player who reaches two has twice as many.
func TestTapsOfAllTabsAreBoundedAtEachInstance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const burst = 20
		for range 2 { // instances
			p := newTestPlayer(t)
			p.sleepUntil(5000)
			p.session.limiter.SetLimit(p.fixture.room.opts.TapsPerSecond)
			p.session.limiter.SetBurst(burst)
			again, _ := p.fixture.join(p.fixture.room, game.Player{ID: p.session.player, Room: code, Nickname: "ann"})
			taken := 0
			for n := range game.DropID(100) {
				tab := []*PlayerSession{p.session, again}[n%2]
				if answer, _ := tab.Tap(p.round.ID, n+1, p.tab, p.answers); answer.Outcome != game.Throttled {
					taken++
				}
			}
			if taken != burst {
				t.Errorf("%d taps of two tabs are taken at once, want %d", taken, burst)
			}
		}
	})
}
