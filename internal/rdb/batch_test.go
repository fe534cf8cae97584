package rdb

import (
	"fmt"
	"slices"
	"testing"

	"redrain/internal/game"
)

// count counts the outcomes of a batch.
func count(grabbed game.Grabbed) map[game.Outcome]int {
	n := make(map[game.Outcome]int)
	for _, answer := range grabbed.Answers {
		n[answer.Outcome]++
	}
	return n
}

func TestBatchWithTheSamePlayerTwice(t *testing.T) {
	t.Parallel()
	eachSplit(t, func(r *fixture, split func(*game.Settings)) {
		round := r.started(func(s *game.Settings) { split(s); s.Cap = 2 })
		got := r.expect(round, "ann1 ann1 ann2 ann3 ann2 ann1",
			game.Won, game.Duplicate, game.Won, game.Capped, game.Duplicate, game.Duplicate).Answers
		if got[1].Cents != got[0].Cents || got[4].Cents != got[2].Cents || got[5].Number != got[0].Number {
			r.t.Errorf("repeated taps came to %v", got)
		}
		got = r.expect(round, "ann2 ann4 ann1", game.Duplicate, game.Capped, game.Duplicate).Answers
		if got[0].Number != 2 || got[2].Number != 1 {
			r.t.Errorf("in the next batch they came to %v", got)
		}
	})
}

func TestOneDropWinsForManyPlayers(t *testing.T) {
	t.Parallel()
	eachSplit(t, func(r *fixture, split func(*game.Settings)) {
		round := r.started(split)
		got := r.expect(round, "ann1 bob1 cy1", game.Won, game.Won, game.Won).Answers
		if numbers := []int{got[0].Number, got[1].Number, got[2].Number}; !slices.Equal(numbers, []int{1, 2, 3}) {
			r.t.Errorf("claims have the numbers %v", numbers)
		}
		claims, err := r.ClaimsOf(r.t.Context(), round.ID, "ann", "bob", "cy", "nobody")
		if err != nil || len(claims) != 3 || claims["bob"][0].Cents != got[1].Cents {
			r.t.Errorf("claims are %v, %v", claims, err)
		}
	})
}

// In the stored text drops 1 and 11, or a drop and a claim's cents, must not be confused.
func TestSimilarDropNumbersAreNotConfused(t *testing.T) {
	t.Parallel()
	eachSplit(t, func(r *fixture, split func(*game.Settings)) {
		round := r.started(func(s *game.Settings) { split(s); s.Cap, s.Total = 20, 20 })
		var batch []game.Tap
		for _, drop := range []game.DropID{11, 1, 111, 10, 2, 21, 12, 3, 2147483647} {
			batch = append(batch, game.Tap{Player: "ann", Drop: drop})
		}
		first, again := r.grab(round, batch), r.grab(round, batch)
		for i := range batch {
			if first.Answers[i].Outcome != game.Won || again.Answers[i] != (game.Answer{Outcome: game.Duplicate, Cents: 1, Number: i + 1}) {
				r.t.Errorf("drop %d came to %v, then %v", batch[i].Drop, first.Answers[i], again.Answers[i])
			}
		}
	})
}

func TestFullBatchOverAnAlmostEmptyPool(t *testing.T) {
	t.Parallel()
	eachSplit(t, func(r *fixture, split func(*game.Settings)) {
		round := r.started(func(s *game.Settings) { split(s); s.Packets = 200 })
		if n := count(r.grab(round, crowd("p", MaxBatch, 1))); n[game.Won] != 200 || n[game.SoldOut] != 56 {
			r.t.Errorf("outcomes %v", n)
		}
		again := r.grab(round, crowd("p", MaxBatch, 1))
		if n := count(again); n[game.Duplicate] != 200 || n[game.SoldOut] != 56 || again.Left != (game.Total{}) {
			r.t.Errorf("again: outcomes %v, left %v", n, again.Left)
		}
		var sum game.Cents
		for _, answer := range again.Answers {
			sum += answer.Cents
		}
		if sum != round.Settings.Total {
			r.t.Errorf("claims sum to %v of %v", sum, round.Settings.Total)
		}
	})
}

func TestOnePlayerFillsABatchUpToTheCap(t *testing.T) {
	t.Parallel()
	eachSplit(t, func(r *fixture, split func(*game.Settings)) {
		round := r.started(func(s *game.Settings) { split(s); s.Packets, s.Cap = 300, game.MaxCap })
		batch := make([]game.Tap, MaxBatch)
		for i := range batch {
			batch[i] = game.Tap{Player: "ann", Drop: game.DropID(i + 1)}
		}
		if n := count(r.grab(round, batch)); n[game.Won] != game.MaxCap || n[game.Capped] != MaxBatch-game.MaxCap {
			r.t.Errorf("outcomes %v", n)
		}
		if n := count(r.grab(round, batch)); n[game.Duplicate] != game.MaxCap {
			r.t.Errorf("again: outcomes %v", n)
		}
	})
}

// A batch with both the last released packets and more taps must not run ahead of the pace.
func TestBatchKeepsThePace(t *testing.T) {
	t.Parallel()
	eachSplit(t, func(r *fixture, split func(*game.Settings)) {
		round := r.started(func(s *game.Settings) { split(s); s.Pace = game.PaceEven })
		for _, ms := range []int64{0, 1350, 13_500, 26_999} {
			r.at(round, ms)
			grabbed := r.grab(round, crowd(fmt.Sprintf("p%d-", ms), 21, game.DropID(1+ms/125)))
			if taken := round.Settings.Packets - grabbed.Left.Packets; taken != round.Settings.Released(ms) {
				r.t.Errorf("%d ms after the start %d are taken, %d released", ms, taken, round.Settings.Released(ms))
			}
		}
	})
}

func TestGrabSaysWhatIsLeft(t *testing.T) {
	t.Parallel()
	eachSplit(t, func(r *fixture, split func(*game.Settings)) {
		round := r.started(split)
		got := r.grab(round, crowd("p", 7, 1))
		rest := round.Settings.Total
		for _, answer := range got.Answers {
			rest -= answer.Cents
		}
		want := game.Total{Packets: 13, Cents: rest}
		if got.Left != want || int64(got.Now) != r.now.Load() {
			r.t.Errorf("left %v at %d, want %v at %d", got.Left, got.Now, want, r.now.Load())
		}
		if closed := r.close(round, game.Stopped); closed.Left != want {
			r.t.Errorf("closed with %v left, want %v", closed.Left, want)
		}
		if late := r.grab(round, taps("zoe1")); late.Left != want {
			r.t.Errorf("after the close left is %v, want %v", late.Left, want)
		}
	})
}
