package live

import (
	"testing"
	"testing/synctest"

	"redrain/internal/game"
)

// A player has tabs on two instances, which tap the same drop. The tap here fails; a moment later the tap there wins; and the event with
// the claim arrives here before the answer. The tab here was then sent the failure only, and never the claim. Now its answer is the claim.
func TestAFailedTapIsADuplicateIfAClaimArrivedFirst(t *testing.T) {
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
					t.Errorf("got %v, want %v", p.answers.all, want)
				}
				p.wantTap(3, game.Duplicate)
			})
		})
	}
}

// A player has two tabs, and one of them taps. Redis' answer is lost, but the event with the claim has arrived. So the tap is answered
// as won.
func TestALostAnswerIsWonIfItsClaimArrived(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newTestPlayer(t)
		_, other := p.fixture.join(p.fixture.room, game.Player{ID: p.session.player, Nickname: "ann"})
		p.sleepUntil(5000)
		p.wantTap(3, submitted)
		claim := p.fixture.redis.claim(p.round.ID, 3, p.session.player)[0]
		synctest.Wait()
		p.answer(game.Busy)
		want := game.Answer{Outcome: game.Won, Cents: claim.Cents, Number: claim.Number}
		if len(p.answers.all) != 1 || p.answers.all[0] != want {
			t.Errorf("got %v, want %v", p.answers.all, want)
		}
		if sent := claimMessages(t, p.tab); len(sent) != 0 {
			t.Errorf("the tapping tab got %v besides its result", sent)
		}
		if sent := claimMessages(t, other); len(sent) != 1 || sent[0].Claim.Drop != 3 {
			t.Errorf("the other tab got %v", sent)
		}
	})
}

// Busy means that the outcome is not known. If a claim arrives later, the tab is sent it.
func TestAClaimOverridesBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newTestPlayer(t)
		p.sleepUntil(5000)
		p.wantTap(3, submitted)
		p.answer(game.Busy)
		p.fixture.redis.claim(p.round.ID, 3, p.session.player)
		synctest.Wait()
		if sent := claimMessages(t, p.tab); len(sent) != 1 || sent[0].Claim.Drop != 3 {
			t.Errorf("the tab got %v", sent)
		}
		p.wantTap(3, game.Duplicate)
	})
}
