package rdb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"redrain/internal/game"
	"redrain/internal/testkit"
)

// anySettings draws settings that are valid, small, and often at a limit.
func anySettings(t *rapid.T) game.Settings {
	s := game.DefaultSettings()
	s.Packets = rapid.IntRange(1, 30).Draw(t, "packets")
	s.Min = game.Cents(rapid.Int64Range(1, 20).Draw(t, "min"))
	most := rapid.SampledFrom([]game.Cents{s.Min, s.Min + 1, 10 * s.Min, game.MaxTotal / 30}).Draw(t, "most")
	if rapid.Bool().Draw(t, "has a max") {
		s.Max = most
	}
	low, high := game.Cents(s.Packets)*s.Min, game.Cents(s.Packets)*most
	s.Total = rapid.SampledFrom([]game.Cents{low, high, low + (high-low)/2, low + (high-low)/7}).Draw(t, "total")
	s.Pace = rapid.SampledFrom([]game.Pace{game.PaceBurst, game.PaceEven}).Draw(t, "pace")
	s.Cap = rapid.IntRange(1, 4).Draw(t, "cap")
	s.Countdown = game.Millis(rapid.IntRange(0, 60_000).Draw(t, "countdown"))
	s.Duration = game.Millis(rapid.IntRange(3000, 20_000).Draw(t, "duration"))
	if deal := rapid.SampledFrom([]game.Deal{"", game.DealDoubleMean, game.DealEqual, game.DealTiers}).Draw(t, "deal"); deal != "" {
		s.Split, s.Deal = game.SplitDealt, deal
		if deal == game.DealTiers {
			s.Max, s.Total = 0, 10*game.Cents(s.Packets)+s.Min*game.Cents(s.Packets+1)
			s.Packets++
			s.Tiers = []game.Tier{{Packets: s.Packets - 1, Cents: 10 + s.Min}, {Packets: 1, Cents: s.Min}}
		}
	}
	return s
}

// play is one round on a server, and the model of it.
type play struct {
	*model
	r   *fixture
	t   *rapid.T
	ctx context.Context
}

func (p *play) now() game.Moment { return game.Moment(p.r.now.Load()) }

func begin(ctx context.Context, t *rapid.T, r *fixture) *play {
	settings := anySettings(t)
	if err := settings.Validate(); err != nil {
		t.Fatalf("%+v: %v", settings, err)
	}
	round := game.Round{
		ID: uuid.NewString(), Room: "ROOM", Settings: settings,
		Secret: fixedSecret(rapid.IntRange(0, 1_000_000).Draw(t, "secret")),
	}
	r.now.Store(time.Now().UnixMilli())
	standing, err := r.Open(ctx, round, amountsOf(round))
	if err != nil {
		t.Fatal(err)
	}
	return &play{model: newModel(round, standing.StartsAt, standing.EndsAt), r: r, t: t, ctx: ctx}
}

// pass advances Redis' clock, often to a boundary.
func (p *play) pass(t *rapid.T) {
	s := p.round.Settings
	next := len(p.claims) * 9 * int(int64(s.Duration)) / (10 * s.Packets)
	edges := []game.Moment{
		p.startsAt - 1, p.startsAt, p.startsAt + game.Moment(next), p.startsAt + game.Moment(next) + 1, p.endsAt - 1, p.endsAt,
		p.now() + game.Moment(rapid.IntRange(0, 5000).Draw(t, "ms")),
	}
	to := rapid.SampledFrom(edges).Draw(t, "to")
	p.r.now.Store(int64(max(p.now(), to)))
}

func (p *play) tapSome(t *rapid.T) {
	one := rapid.Custom(func(t *rapid.T) game.Tap {
		return game.Tap{
			Player: rapid.SampledFrom([]string{"ann", "bob", "cy", "dee", "1", "11"}).Draw(t, "player"),
			Drop:   game.DropID(rapid.IntRange(1, 12).Draw(t, "drop")),
			Bomb:   rapid.IntRange(0, 5).Draw(t, "bomb") == 5,
		}
	})
	batch := rapid.SliceOfN(one, 1, 12).Draw(t, "batch")
	got, err := p.r.Grab(p.ctx, p.round.Room, p.round.ID, p.r.NewBatch(), batch)
	if err != nil {
		t.Fatal(err)
	}
	if want := p.grab(batch, p.now()); !slices.Equal(got.Answers, want) {
		t.Fatalf("at %d of [%d, %d) %v came to\n%v, want\n%v", got.Now, p.startsAt, p.endsAt, batch, got.Answers, want)
	}
	if got.Left != p.left {
		t.Fatalf("left %v, want %v", got.Left, p.left)
	}
}

func (p *play) closeIt(t *rapid.T) {
	reason := rapid.SampledFrom([]game.CloseReason{game.ByTime, game.BySoldOut, game.Cancelled, game.Stopped}).Draw(t, "reason")
	_, err := p.r.Close(p.ctx, p.round, reason)
	if want := p.close(reason, p.now()); !errors.Is(err, want) {
		t.Fatalf("closing for %s: error is %v, want %v", reason, err, want)
	}
}

func (p *play) freezeIt(*rapid.T) {
	p.frozen = !p.frozen
	flag := map[bool]string{true: "1", false: "0"}[p.frozen]
	if err := p.r.redis.HSet(p.ctx, stateKey(p.round.ID), "frozen", flag).Err(); err != nil {
		p.t.Fatal(err)
	}
}

func (p *play) openAgain(t *rapid.T) {
	again, err := p.r.Open(p.ctx, p.round, amountsOf(p.round))
	if err != nil || again.StartsAt != p.startsAt || again.EndsAt != p.endsAt || again.Reason != p.reason {
		t.Fatalf("opened again as %+v, %v", again, err)
	}
}

// check compares what Redis has with the model, and checks the invariants of the domain.
func (p *play) check(t *rapid.T) {
	standing, err := p.r.Snapshot(p.ctx, p.round.ID, boardSize, 0)
	if err != nil {
		t.Fatal(err)
	}
	held, err := p.r.ClaimsOf(p.ctx, p.round.ID, append(p.players(), "nobody")...)
	if err != nil {
		t.Fatal(err)
	}
	claims, err := p.r.Claims(p.ctx, p.round.ID, 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	p.checkBudget(t, standing, claims)
	p.checkPlayers(t, held)
	if fmt.Sprint(claims) != fmt.Sprint(p.claims) {
		t.Fatalf("the outbox has %v, want %v", claims, p.claims)
	}
	if want := ranking(p.claims); !slices.Equal(standing.Top, want) {
		t.Fatalf("the board has %v, want %v", standing.Top, want)
	}
}

// checkBudget keeps invariants 1 and 2.
func (p *play) checkBudget(t *rapid.T, standing game.Standing, claims []game.Claim) {
	s, sum := p.round.Settings, standing.Left.Cents
	for _, claim := range claims {
		if sum += claim.Cents; claim.Cents < s.Min || (s.Max > 0 && claim.Cents > s.Max) {
			t.Fatalf("invariant 2: a claim of %d is not within %d and %d", claim.Cents, s.Min, s.Max)
		}
	}
	if sum != s.Total {
		t.Fatalf("invariant 1: claims and what is left make %d, not %d", sum, s.Total)
	}
	if len(claims)+standing.Left.Packets != s.Packets {
		t.Fatalf("invariant 2: %d claims and %d packets left of %d", len(claims), standing.Left.Packets, s.Packets)
	}
}

// checkPlayers keeps invariant 3; that results never change, invariant 4, is in the model's answers.
func (p *play) checkPlayers(t *rapid.T, held map[string][]game.Claim) {
	total := 0
	for player, claims := range held {
		drops := make(map[game.DropID]bool)
		for _, claim := range claims {
			drops[claim.Drop] = true
		}
		if total += len(claims); len(claims) > p.round.Settings.Cap || len(drops) != len(claims) {
			t.Fatalf("invariant 3: %s has %v", player, claims)
		}
	}
	if total != len(p.claims) {
		t.Fatalf("players hold %d claims, %d were made", total, len(p.claims))
	}
}

func TestInvariantsHoldForAnyRoundAndAnyOrderOfTaps(t *testing.T) {
	t.Parallel()
	testkit.EachRedis(t, func(t *testing.T, url string) {
		r := newFixture(t, url)
		rapid.Check(t, func(rt *rapid.T) {
			p := begin(t.Context(), rt, r)
			rt.Repeat(map[string]func(*rapid.T){
				"tap":   p.tapSome,
				"taps":  p.tapSome,
				"more":  p.tapSome,
				"pass":  p.pass,
				"wait":  p.pass,
				"close": p.sometimes(p.closeIt),
				"flag":  p.sometimes(p.freezeIt),
				"open":  p.sometimes(p.openAgain),
				"":      p.check,
			})
		})
	})
}

// sometimes keeps rounds from ending before anything has happened.
func (p *play) sometimes(step func(*rapid.T)) func(*rapid.T) {
	return func(t *rapid.T) {
		if rapid.IntRange(0, 3).Draw(t, "sometimes") == 0 {
			step(t)
		}
	}
}

// sequence plays a burst round to its end and returns its amounts.
func sequence(t *testing.T, r *fixture, round game.Round) []game.Cents {
	t.Helper()
	r.open(round)
	var amounts []game.Cents
	for n := range (round.Settings.Packets + MaxBatch - 1) / MaxBatch {
		for _, answer := range r.grab(round, crowd(fmt.Sprintf("p%d-", n), MaxBatch, 1)).Answers {
			if answer.Outcome == game.Won {
				amounts = append(amounts, answer.Cents)
			}
		}
	}
	return amounts
}

func TestLuaAndGoAgreeDrawForDraw(t *testing.T) {
	t.Parallel()
	testkit.EachRedis(t, func(t *testing.T, url string) {
		r := newFixture(t, url)
		for i, edit := range []func(*game.Settings){
			func(s *game.Settings) { s.Total, s.Packets = game.MaxTotal, 1000 },
			func(s *game.Settings) { s.Total, s.Packets = game.MaxTotal, 2 },
			func(s *game.Settings) { s.Total, s.Packets = 4_000_000, 2 },
			func(s *game.Settings) { s.Total, s.Packets = 1234, 1000 },
			func(s *game.Settings) { s.Total, s.Packets, s.Min, s.Max = 50_000, 700, 50, 100 },
			func(s *game.Settings) { s.Total, s.Packets, s.Max = 69_999, 700, 100 },
			func(s *game.Settings) { s.Total, s.Packets, s.Min = 35_001, 700, 50 },
		} {
			round := newRound(t, edit)
			round.Secret = fixedSecret(i)
			m := newModel(round, 0, 1)
			for range round.Settings.Packets {
				m.tap(game.Tap{Player: fmt.Sprint(len(m.claims))}, 0)
			}
			for n, cents := range sequence(t, r, round) {
				if cents != m.claims[n].Cents {
					t.Fatalf("%+v: draw %d is %d in Lua and %d in Go", round.Settings, n, cents, m.claims[n].Cents)
				}
			}
			if m.left.Packets != 0 {
				t.Errorf("%d packets are left", m.left.Packets)
			}
		}
	})
}

// Redis seeds math.random of scripts the same after every restart, so amounts must come from the round's secret: two rounds differ,
// even each on a fresh server.
func TestRoundsDifferEvenOverFreshServers(t *testing.T) {
	t.Parallel()
	seen := make(map[string]string)
	testkit.EachRedis(t, func(t *testing.T, _ string) {
		for n := range 2 {
			url := "redis://" + testkit.Miniredis(t).Addr()
			if strings.HasSuffix(t.Name(), "/redis-server") {
				url = testkit.Redis(t).URL
			}
			r := newFixture(t, url)
			for _, split := range []func(*game.Settings){func(*game.Settings) {}, func(s *game.Settings) {
				s.Split, s.Deal = game.SplitDealt, game.DealDoubleMean
			}} {
				round := newRound(t, split)
				round.Secret = game.NewSecret()
				where := fmt.Sprintf("%s, server %d, %s", t.Name(), n, round.Settings.Split)
				amounts := fmt.Sprint(sequence(t, r, round))
				if other, known := seen[amounts]; known {
					t.Errorf("%s has the amounts %s of %s", where, amounts, other)
				}
				seen[amounts] = where
			}
		}
	})
}

// The same secret gives the same amounts wherever it is played: nothing else goes into them.
func TestAmountsDependOnTheSecretAlone(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool)
	testkit.EachRedis(t, func(t *testing.T, url string) {
		r := newFixture(t, url)
		for range 2 {
			seen[fmt.Sprint(sequence(t, r, newRound(t, nil)))] = true
		}
	})
	if len(seen) != 1 {
		t.Errorf("one secret gave %d sequences", len(seen))
	}
}
