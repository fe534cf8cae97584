package bots

import (
	"context"
	"fmt"

	"redrain/internal/game"
	"redrain/internal/wire"
)

// Audit checks the books of a closed round against the invariants and against what the players were told, and returns every
// violation as a sentence. Players that are tabs of one another may all be given.
func Audit(ctx context.Context, host *Host, id string, players []*Player) ([]string, error) {
	round, err := host.Round(ctx, id)
	if err != nil {
		return nil, err
	}
	claims, err := host.Claims(ctx, id)
	if err != nil {
		return nil, err
	}
	var a audit
	a.checkClaims(round, claims)
	told := make(map[string]map[game.DropID]game.Cents)
	for _, claim := range claims {
		if told[claim.Player] == nil {
			told[claim.Player] = make(map[game.DropID]game.Cents)
		}
		told[claim.Player][claim.Drop] = claim.Cents
	}
	for _, player := range players {
		a.checkPlayer(player, told[player.ID])
	}
	return a.violations, nil
}

type audit struct{ violations []string }

func (a *audit) report(format string, args ...any) {
	a.violations = append(a.violations, fmt.Sprintf(format, args...))
}

// checkClaims checks invariants 1 to 3 over the claims.
func (a *audit) checkClaims(round wire.Round, claims []wire.Claim) {
	var sum game.Cents
	drops := make(map[game.Tap]bool)
	count := make(map[string]int)
	for i, claim := range claims {
		sum += claim.Cents
		tap := game.Tap{Player: claim.Player, Drop: claim.Drop}
		if drops[tap] {
			a.report("player %s has two claims for drop %d", claim.Player, claim.Drop)
		}
		drops[tap] = true
		if count[claim.Player]++; count[claim.Player] > round.Cap {
			a.report("player %s has %d claims, the cap is %d", claim.Player, count[claim.Player], round.Cap)
		}
		if claim.Number != i+1 {
			a.report("claim %d has the number %d", i+1, claim.Number)
		}
		if claim.Cents < round.Min || (round.Max > 0 && claim.Cents > round.Max) {
			a.report("claim %d is of %d cents, outside %d to %d", claim.Number, claim.Cents, round.Min, round.Max)
		}
	}
	switch {
	case len(claims) > round.Packets:
		a.report("%d claims of %d packets", len(claims), round.Packets)
	case sum > round.Total:
		a.report("claims sum to %d cents, the budget is %d", sum, round.Total)
	case len(claims) == round.Packets && sum != round.Total:
		a.report("all packets are claimed, but %d of %d cents", sum, round.Total)
	}
}

// checkPlayer checks invariants 4 and 6: a player was told exactly the claims in the books. One that is disconnected at the end may
// not have been told of all.
func (a *audit) checkPlayer(p *Player, booked map[game.DropID]game.Cents) {
	if err := p.Err(); err != nil {
		a.report("player %s: %v", p.ID, err)
	}
	won := p.Won()
	for drop, cents := range won {
		if booked[drop] != cents {
			a.report("player %s was told %d cents for drop %d, the books say %d", p.ID, cents, drop, booked[drop])
		}
	}
	for drop, cents := range booked {
		if won[drop] != cents {
			a.report("player %s has %d cents for drop %d and was never told", p.ID, cents, drop)
		}
	}
}
