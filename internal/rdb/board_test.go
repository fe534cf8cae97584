package rdb

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"redrain/internal/game"
)

// ranking is the expected leaderboard: total descending, then the number of the claim that reached it.
func ranking(claims []game.Claim) []game.Rank {
	players := make(map[string]game.Rank)
	for _, claim := range claims {
		players[claim.Player] = game.Rank{
			Player: claim.Player, Cents: players[claim.Player].Cents + claim.Cents, Number: claim.Number,
		}
	}
	var ranks []game.Rank
	for _, rank := range players {
		ranks = append(ranks, rank)
	}
	slices.SortFunc(ranks, func(a, b game.Rank) int {
		return cmp.Or(cmp.Compare(b.Cents, a.Cents), cmp.Compare(a.Number, b.Number))
	})
	return ranks[:min(len(ranks), boardSize)]
}

func claimsOf(batch []game.Tap, grabbed game.Grabbed) []game.Claim {
	var claims []game.Claim
	for i, answer := range grabbed.Answers {
		if answer.Outcome == game.Won {
			claims = append(claims, game.Claim{
				Player: batch[i].Player, Drop: batch[i].Drop, Cents: answer.Cents, Number: answer.Number,
			})
		}
	}
	return claims
}

func (r *fixture) checkBoard(round game.Round, claims []game.Claim) {
	r.t.Helper()
	snapshot, err := r.Snapshot(r.t.Context(), round.ID, 2*boardSize, 0)
	if err != nil {
		r.t.Fatal(err)
	}
	want := ranking(claims)
	for i := range max(len(want), len(snapshot.Top)) {
		if i >= len(want) || i >= len(snapshot.Top) || snapshot.Top[i] != want[i] {
			r.t.Fatalf("after %d claims the board differs at %d:\n%v, want\n%v", len(claims), i, snapshot.Top, want)
		}
	}
}

// Ties must have one order. Many players tie, fall off the board and come back, one at a time and within a batch.
func TestBoardKeepsTheBestHundred(t *testing.T) {
	t.Parallel()
	budgets := map[string]func(*game.Settings){
		"all tie":    func(s *game.Settings) { s.Total, s.Packets, s.Max = 5000, 500, 10; s.Min = 10 },
		"few amount": func(s *game.Settings) { s.Total, s.Packets, s.Max = 1000, 500, 3 },
		"many":       func(s *game.Settings) { s.Total, s.Packets = game.MaxTotal, 500 },
	}
	for name, budget := range budgets {
		t.Run(name, func(t *testing.T) {
			eachSplit(t, func(r *fixture, split func(*game.Settings)) {
				round := r.started(func(s *game.Settings) { split(s); budget(s); s.Cap = 5 })
				random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same in every run
				var claims []game.Claim
				for size := 1; len(claims) < 500; size = size*3%61 + 1 {
					batch := make([]game.Tap, size)
					for i := range batch {
						batch[i] = game.Tap{Player: fmt.Sprint("p", random.IntN(180)), Drop: game.DropID(1 + random.IntN(9))}
					}
					claims = append(claims, claimsOf(batch, r.grab(round, batch))...)
					r.checkBoard(round, claims)
				}
			})
		})
	}
}

// The refund entry of a closed round must not count as one of the latest batches.
func TestSnapshotShowsTheHeadOfTheBoardAndTheLatestBatches(t *testing.T) {
	t.Parallel()
	eachSplit(t, func(r *fixture, split func(*game.Settings)) {
		round := r.started(split)
		r.expect(round, "ann1 bob1", game.Won, game.Won)
		r.expect(round, "cy1", game.Won)
		r.expect(round, "dee1 eve1", game.Won, game.Won)
		check := func(when string) {
			r.t.Helper()
			snapshot, err := r.Snapshot(r.t.Context(), round.ID, 3, 2)
			if err != nil {
				r.t.Fatal(err)
			}
			var numbers []int
			for _, claim := range snapshot.Latest {
				numbers = append(numbers, claim.Number)
			}
			if len(snapshot.Top) != 3 || !slices.Equal(numbers, []int{5, 4, 3}) {
				r.t.Errorf("%s: top %v, latest %v", when, snapshot.Top, snapshot.Latest)
			}
		}
		check("open")
		r.close(round, game.Stopped)
		check("closed") // its refund lies in the outbox too
	})
}

// The embedded Redis writes scores that are round in decimal with an exponent, -1e+08, which once could not be read.
func TestBoardShowsRoundTotals(t *testing.T) {
	t.Parallel()
	for _, total := range []game.Cents{1, 10, 99, 100_000, 100_000_000, 900_000_000, game.MaxTotal} {
		t.Run(fmt.Sprint(int64(total)), func(t *testing.T) {
			eachSplit(t, func(r *fixture, split func(*game.Settings)) {
				round := r.started(func(s *game.Settings) { split(s); s.Total, s.Packets, s.Min, s.Cap = total, 1, 1, 1 })
				batch := []game.Tap{{Player: "ann", Drop: 1}}
				r.checkBoard(round, claimsOf(batch, r.grab(round, batch)))
			})
		})
	}
}
