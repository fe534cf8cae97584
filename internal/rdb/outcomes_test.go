package rdb

import (
	"fmt"
	"slices"
	"testing"

	"redrain/internal/game"
	"redrain/internal/testkit"
)

// eachSplit runs a suite over both kinds of servers, for live and for dealt rounds.
func eachSplit(t *testing.T, suite func(r *fixture, split func(*game.Settings))) {
	t.Helper()
	splits := map[game.Split]func(*game.Settings){
		game.SplitLive: func(*game.Settings) {},
		game.SplitDealt: func(s *game.Settings) {
			s.Split, s.Deal = game.SplitDealt, game.DealDoubleMean
		},
	}
	testkit.EachRedis(t, func(t *testing.T, url string) {
		for name, split := range splits {
			t.Run(string(name), func(t *testing.T) { suite(newFixture(t, url), split) })
		}
	})
}

func TestGrabReachesEveryOutcome(t *testing.T) {
	t.Parallel()
	eachSplit(t, func(r *fixture, split func(*game.Settings)) {
		round := r.started(func(s *game.Settings) {
			split(s)
			s.Packets, s.Pace, s.Countdown = 2, game.PaceEven, 5_000
		})
		r.at(round, -5000)
		r.expect(round, "ann1", game.Early)
		r.at(round, 0)
		won := r.expect(round, "ann1 ann1 ann2 bob1", game.Won, game.Duplicate, game.Capped, game.Missed)
		if won.Answers[0].Cents != won.Answers[1].Cents || won.Answers[1].Number != 1 {
			t.Errorf("the repeated tap came to %v", won.Answers)
		}
		r.at(round, 29_000)
		r.expect(round, "bob230 cy230", game.Won, game.SoldOut)
		r.at(round, 30_000)
		r.expect(round, "cy230 bob230", game.Late, game.Duplicate)
		r.freeze(round)
		r.expect(round, "cy230 bob230", game.Frozen, game.Duplicate)
	})
}

// tapConditions is a combination of conditions in which a tap of ann's on a new drop must come to one outcome, whatever else holds.
type tapConditions struct {
	frozen, closed, capped bool
	stock                  game.Outcome // Won, Missed or SoldOut
	time                   game.Outcome // Early, Won or Late
}

func (w tapConditions) want() game.Outcome {
	switch {
	case w.frozen:
		return game.Frozen
	case w.time == game.Early:
		return game.Early
	case w.closed || w.time == game.Late:
		return game.Late
	case w.capped:
		return game.Capped
	case w.time == game.Won && w.stock != game.Won:
		return w.stock
	}
	return game.Won
}

func allTapConditions() []tapConditions {
	var all []tapConditions
	for _, stock := range []game.Outcome{game.Won, game.Missed, game.SoldOut} {
		for _, time := range []game.Outcome{game.Early, game.Won, game.Late} {
			for bits := range 8 {
				all = append(all, tapConditions{frozen: bits&1 > 0, closed: bits&2 > 0, capped: bits&4 > 0, stock: stock, time: time})
			}
		}
	}
	return all
}

// make builds them: ann has claimed drop 1, with a result that never changes.
func (w tapConditions) make(r *fixture, split func(*game.Settings)) (game.Round, game.Answer) {
	round := r.started(func(s *game.Settings) {
		split(s)
		s.Packets = map[game.Outcome]int{game.Won: 5, game.Missed: 5, game.SoldOut: 1}[w.stock]
		s.Cap = map[bool]int{true: 1, false: 2}[w.capped]
		if w.stock == game.Missed {
			s.Pace = game.PaceEven
		}
	})
	first := r.expect(round, "ann1", game.Won).Answers[0]
	if w.closed {
		r.close(round, game.Stopped)
	}
	if w.frozen {
		r.freeze(round)
	}
	r.at(round, map[game.Outcome]int64{game.Early: -1, game.Won: 0, game.Late: 30_000}[w.time])
	return round, first
}

func TestGrabChecksInOrder(t *testing.T) {
	t.Parallel()
	eachSplit(t, func(r *fixture, split func(*game.Settings)) {
		for _, w := range allTapConditions() {
			round, first := w.make(r, split)
			got := r.grab(round, taps("ann1 ann2 ann1")).Answers
			if got[1].Outcome != w.want() {
				r.t.Errorf("in %+v a tap came to %s, want %s", w, got[1].Outcome, w.want())
			}
			first.Outcome = game.Duplicate
			if got[0] != first || got[2] != first {
				r.t.Errorf("in %+v a won tap repeated came to %+v and %+v, want %+v", w, got[0], got[2], first)
			}
		}
	})
}

// After the last packet a tap always gets sold_out, but a repeated winning tap gets its own result.
func TestClosedWhenSoldOutSaysSoldOutEvenAfterTheEnd(t *testing.T) {
	t.Parallel()
	eachSplit(t, func(r *fixture, split func(*game.Settings)) {
		round := r.started(func(s *game.Settings) { split(s); s.Packets = 1 })
		first := r.expect(round, "ann1 bob1", game.Won, game.SoldOut).Answers[0]
		r.close(round, game.BySoldOut)
		r.at(round, 40_000)
		again := r.expect(round, "bob1 ann1", game.SoldOut, game.Duplicate).Answers[1]
		if again.Cents != first.Cents || again.Cents != round.Settings.Total {
			r.t.Errorf("the winner hears %+v, had %+v", again, first)
		}
	})
}

// A round is open in [starts_at, ends_at) by Redis' clock: not a millisecond before, and not at the end itself.
func TestWindowIsExactToTheMillisecond(t *testing.T) {
	t.Parallel()
	eachSplit(t, func(r *fixture, split func(*game.Settings)) {
		round := r.started(split)
		for i, edge := range []struct {
			ms   int64
			want game.Outcome
		}{{-1, game.Early}, {0, game.Won}, {29_999, game.Won}, {30_000, game.Late}} {
			r.at(round, edge.ms)
			r.expect(round, fmt.Sprintf("p%c%d", 'a'+i, 230), edge.want)
		}
	})
}

func TestEvenPaceReleasesEachPacketAtItsMillisecond(t *testing.T) {
	t.Parallel()
	eachSplit(t, func(r *fixture, split func(*game.Settings)) {
		const packets, duration = 7, 3001
		round := r.started(func(s *game.Settings) {
			split(s)
			s.Packets, s.Pace, s.Duration, s.Cap = packets, game.PaceEven, duration, packets
		})
		for k := range packets {
			due := int64(k) * 9 * duration
			at := (due + 10*packets - 1) / (10 * packets) // the first whole millisecond not before it
			if k > 0 {
				r.at(round, at-1)
				r.expect(round, fmt.Sprintf("ann%d", k+1), game.Missed)
			}
			r.at(round, at)
			r.expect(round, fmt.Sprintf("ann%d bob1", k+1), game.Won, map[bool]game.Outcome{
				true: game.SoldOut, false: game.Missed,
			}[k+1 == packets])
		}
	})
}

func TestGrabOfNoRoundIsGone(t *testing.T) {
	t.Parallel()
	testkit.EachRedis(t, func(t *testing.T, url string) {
		r := newFixture(t, url)
		_, err := r.Grab(t.Context(), "ROOM", "nowhere", r.NewBatch(), taps("ann1"))
		mustBe(t, err, game.ErrGone)
		if keys := r.allKeys(); len(keys) > 0 {
			t.Errorf("keys %v were made", keys)
		}
	})
}

func TestGrabFromAListThatIsTooShortTakesNothing(t *testing.T) {
	t.Parallel()
	testkit.EachRedis(t, func(t *testing.T, url string) {
		r := newFixture(t, url)
		round := r.started(func(s *game.Settings) { dealtEqual(s); s.Packets = 3 })
		first := r.expect(round, "ann1", game.Won).Answers[0]
		if err := r.redis.RPop(t.Context(), amountsKey(round.ID)).Err(); err != nil {
			t.Fatal(err)
		}
		before := r.contents()
		_, err := r.Grab(t.Context(), round.Room, round.ID, r.NewBatch(), taps("bob1 cy1 ann1"))
		mustBe(t, err, game.ErrTorn)
		same(t, before, r.contents())
		if again := r.expect(round, "ann1", game.Duplicate).Answers[0]; again.Cents != first.Cents {
			t.Errorf("ann hears %v, had %v", again, first)
		}
	})
}

func TestDealtAmountsComeInTheirOrder(t *testing.T) {
	t.Parallel()
	for _, deal := range []game.Deal{game.DealDoubleMean, game.DealEqual, game.DealTiers} {
		t.Run(string(deal), func(t *testing.T) {
			testkit.EachRedis(t, func(t *testing.T, url string) {
				r := newFixture(t, url)
				round := r.started(func(s *game.Settings) {
					s.Split, s.Deal = game.SplitDealt, deal
					if deal == game.DealTiers {
						s.Tiers = []game.Tier{{Packets: 5, Cents: 1250}, {Packets: 15, Cents: 250}}
					}
				})
				var got []game.Cents
				for _, answer := range r.grab(round, crowd("p", 25, 1)).Answers[:20] {
					got = append(got, answer.Cents)
				}
				if want := game.DealtAmounts(round.Settings, round.Secret); !slices.Equal(got, want) {
					t.Errorf("dealt %v, want %v", got, want)
				}
				if n, err := r.redis.Exists(t.Context(), amountsKey(round.ID)).Result(); n != 0 || err != nil {
					t.Errorf("after the last packet amounts are left (%d, %v)", n, err)
				}
			})
		})
	}
}

// A script that tapped bombs lost nothing by it: only its page would have waited. The penalty is the player's, whichever tab or instance
// taps.
func TestABombHoldsItsPlayer(t *testing.T) {
	t.Parallel()
	eachSplit(t, func(r *fixture, split func(*game.Settings)) {
		round := r.started(func(s *game.Settings) { split(s); s.Cap = 5 })
		r.at(round, 1000)
		won := r.expect(round, "ann1 ann!2 ann3 ann!2 ann!4 bob3", game.Won, game.Bomb, game.Throttled, game.Bomb, game.Throttled, game.Won)
		r.at(round, 2999)
		again := r.expect(round, "ann1 ann5 bob5", game.Duplicate, game.Throttled, game.Won)
		if again.Answers[0].Cents != won.Answers[0].Cents {
			r.t.Errorf("the first win came to %v", again.Answers[0])
		}
		r.at(round, 3000) // a bomb that was tapped meanwhile holds nobody longer
		r.expect(round, "ann5 ann!4 ann6", game.Won, game.Bomb, game.Throttled)
		r.at(round, 30_000)
		r.expect(round, "cy!6 cy7", game.Bomb, game.Late)
	})
}

// A script kept the drops of the whole round and tapped them when packets were released, long after they had left every screen.
func TestADropWinsNothingAfterItsEnd(t *testing.T) {
	t.Parallel()
	eachSplit(t, func(r *fixture, split func(*game.Settings)) {
		round := r.started(split)
		for _, drop := range []game.DropID{1, 40} {
			end := round.Settings.EndMS(drop) + int64(game.DropGrace)
			r.at(round, end-1)
			r.expect(round, fmt.Sprintf("ann%d", drop), game.Won)
			r.at(round, end)
			r.expect(round, fmt.Sprintf("ann%d bob%d", drop, drop), game.Duplicate, game.Missed)
			round = r.started(split)
		}
	})
}
