package live

import (
	"testing"
	"testing/synctest"

	"redrain/internal/game"
)

// A player's two tabs, on two instances, tapped the same drop. Here it was a miss; a moment later, there, it won; and word of
// the claim came before the answer. This tab was told of the miss only, and never of the claim. Now its result is the claim.
func TestAMissThatWasOvertakenByAClaimIsToldAsIt(t *testing.T) {
	for _, outcome := range []game.Outcome{game.Missed, game.Capped, game.SoldOut, game.Late, game.Frozen} {
		t.Run(string(outcome), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newTestPlayer(t)
				p.sleepUntil(5000)
				p.wantTap(3, submitted)
				claim := p.fixture.redis.claim(p.round.ID, 3, p.session.player)[0]
				synctest.Wait()
				p.answer(outcome)
				want := game.Answer{Outcome: game.Duplicate, Cents: claim.Cents, Number: claim.Number}
				if len(p.answers.all) != 1 || p.answers.all[0] != want {
					t.Errorf("heard %v, want %v", p.answers.all, want)
				}
				p.wantTap(3, game.Duplicate)
			})
		})
	}
}
