package bots

import (
	"context"
	"fmt"

	"redrain/internal/game"
	"redrain/internal/wire"
)

// Audit holds the books of a closed round against the invariants and against what the players were told, and returns
// every violation as a sentence. Players that are tabs of one another may all be given.
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
	a.books(round, claims)
	told := make(map[string]map[game.DropID]game.Cents)
	for _, claim := range claims {
		if told[claim.Player] == nil {
			told[claim.Player] = make(map[game.DropID]game.Cents)
		}
		told[claim.Player][claim.Drop] = claim.Cents
	}
	for _, player := range players {
		a.player(player, told[player.ID])
	}
	return a.violations, nil
}

type audit struct{ violations []string }

func (a *audit) say(format string, args ...any) {
	a.violations = append(a.violations, fmt.Sprintf(format, args...))
}

// books checks invariants 1 to 3 over the claims.
func (a *audit) books(round wire.Round, claims []wire.Claim) {
	var sum game.Cents
	drops := make(map[game.Tap]bool)
	count := make(map[string]int)
	for i, claim := range claims {
		sum += claim.Cents
		tap := game.Tap{Player: claim.Player, Drop: claim.Drop}
		if drops[tap] {
			a.say("player %s has two claims for drop %d", claim.Player, claim.Drop)
		}
		drops[tap] = true
		if count[claim.Player]++; count[claim.Player] > round.Cap {
			a.say("player %s has %d claims, the cap is %d", claim.Player, count[claim.Player], round.Cap)
		}
		if claim.Number != i+1 {
			a.say("claim %d has the number %d", i+1, claim.Number)
		}
		if claim.Cents < round.MinCents || (round.MaxCents > 0 && claim.Cents > round.MaxCents) {
			a.say("claim %d is of %d cents, outside %d to %d", claim.Number, claim.Cents, round.MinCents, round.MaxCents)
		}
	}
	switch {
	case len(claims) > round.Packets:
		a.say("%d claims of %d packets", len(claims), round.Packets)
	case sum > round.TotalCents:
		a.say("claims sum to %d cents, the budget is %d", sum, round.TotalCents)
	case len(claims) == round.Packets && sum != round.TotalCents:
		a.say("all packets are claimed, but %d of %d cents", sum, round.TotalCents)
	}
}

// player checks invariants 4 and 6: what was told is what is in the books. A player without a connection at the end may
// not have heard of every claim.
func (a *audit) player(p *Player, booked map[game.DropID]game.Cents) {
	if err := p.Err(); err != nil {
		a.say("player %s: %v", p.ID, err)
	}
	won := p.Won()
	for drop, cents := range won {
		if booked[drop] != cents {
			a.say("player %s was told %d cents for drop %d, the books say %d", p.ID, cents, drop, booked[drop])
		}
	}
	for drop, cents := range booked {
		if won[drop] != cents {
			a.say("player %s has %d cents for drop %d and was never told", p.ID, cents, drop)
		}
	}
}
