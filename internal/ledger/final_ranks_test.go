package ledger_test

import (
	"slices"
	"testing"

	"redrain/internal/game"
	"redrain/internal/ledger"
)

// The final ranks keep the order of the live leaderboard: the sum, then who reached it first.
func TestFinalRanksAreByTheSumThenByWhoReachedItFirst(t *testing.T) {
	onEach(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l := open()
		room := newRoom(t, l)
		round := begin(t, l, newRound(t, l, room).ID)
		must[game.Round](t)(l.NoteOpened(t.Context(), round.ID, 1000, 2000))
		claims := []game.Claim{
			{Number: 1, Player: "early", Drop: 1, Cents: 50}, {Number: 2, Player: "late", Drop: 1, Cents: 100},
			{Number: 3, Player: "early", Drop: 2, Cents: 50}, {Number: 4, Player: "rich", Drop: 3, Cents: 900},
			{Number: 5, Player: "poor", Drop: 3, Cents: 1},
		}
		must[game.Booked](t)(l.Book(t.Context(), round.ID, []game.Entry{{ID: "1-0", At: 1500, Claims: claims}}))
		want := []string{"rich", "late", "early", "poor"} // late had its 100 with claim 2, early only with claim 3
		if got := must[[]string](t)(open().FinalRanks(t.Context(), round.ID)); !slices.Equal(got, want) {
			t.Errorf("ranks are %v, want %v", got, want)
		}
		if got := must[[]string](t)(l.FinalRanks(t.Context(), "no round")); len(got) != 0 {
			t.Errorf("a round without claims ranks %v", got)
		}
	})
}
