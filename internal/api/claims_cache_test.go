package api

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"redrain/internal/game"
)

// countingStore counts how often rounds, claims in Redis and claims in the ledger are read.
type countingStore struct {
	*fakeStore
	rounds, granted, booked int
	ledger                  []game.Claim
}

func (b *countingStore) Round(ctx context.Context, id string) (game.Round, error) {
	b.rounds++
	return b.fakeStore.Round(ctx, id)
}

type grantedClaims struct{ *countingStore }

func (g grantedClaims) ClaimsOf(ctx context.Context, round string, players ...string) (map[string][]game.Claim, error) {
	g.granted++
	return g.fakeStore.ClaimsOf(ctx, round, players...)
}

type bookedClaims struct{ *countingStore }

func (b bookedClaims) ClaimsOf(_ context.Context, _ string, players ...string) (map[string][]game.Claim, error) {
	b.booked++
	claims := map[string][]game.Claim{}
	for _, claim := range b.ledger {
		if slices.Contains(players, claim.Player) {
			claims[claim.Player] = append(claims[claim.Player], claim)
		}
	}
	return claims, b.fail
}

func newCountingServer(t *testing.T) (*testServer, *countingStore) {
	t.Helper()
	var c *countingStore
	r := newTestServer(t, func(o *Options) {
		c = &countingStore{fakeStore: o.Rooms.(*fakeStore)}
		c.ledger = c.claims
		o.Rounds, o.Claims, o.Results = c, grantedClaims{c}, bookedClaims{c}
	})
	return r, c
}

func TestClaimsAreReadFromRedisUntilSettledThenOnceFromTheLedger(t *testing.T) {
	r, c := newCountingServer(t)
	ask := func(player string) string {
		t.Helper()
		response := r.call("GET", "/api/rounds/"+roundA+"/claims/me", "", asPlayer(code, player))
		if response.Code != 200 {
			t.Fatalf("got %d %s", response.Code, response.Body)
		}
		return response.Body.String()
	}
	mine, none := ask(playerA), ask(newcomer)
	for range 8 {
		ask(playerA)
	}
	if c.rounds != 1 || c.granted != 10 || c.booked != 0 {
		t.Errorf("ten openings of a hot round asked for it %d times, Redis %d times and the ledger %d times", c.rounds, c.granted, c.booked)
	}
	c.fakeStore.rounds[1].Phase = game.Settled
	r.clock.advance(cachedRoundAge)
	c.granted = 0
	for range 10 {
		if ask(playerA) != mine || ask(newcomer) != none {
			t.Fatal("the answer is another one after the round was settled")
		}
	}
	if c.rounds != 2 || c.granted != 0 || c.booked != 2 {
		t.Errorf("twenty openings of a settled round asked for it %d times, Redis %d times and the ledger %d times", c.rounds-1, c.granted, c.booked)
	}
	c.fakeStore.rounds, c.fail = nil, errors.New("database went away")
	r.clock.advance(time.Hour)
	if ask(playerA) != mine {
		t.Error("the answer is another one without the database")
	}
}

// A page requests its result as soon as it receives that the round is settled, when the cached round may still say otherwise.
func TestResultIsNotRefusedBecauseOfACachedRound(t *testing.T) {
	r, c := newCountingServer(t)
	r.call("GET", "/api/rounds/"+roundA+"/claims/me", "", asPlayer(code, playerA))
	c.fakeStore.rounds[1].Phase = game.Settled
	if response := r.call("GET", "/api/rounds/"+roundA+"/result/me", "", asPlayer(code, playerA)); response.Code != 200 {
		t.Errorf("got %d %s", response.Code, response.Body)
	}
}

func TestFailureIsNotCached(t *testing.T) {
	r, c := newCountingServer(t)
	c.fakeStore.rounds[1].Phase, c.fail = game.Settled, errors.New("database went away")
	wantRefused(t, r.call("GET", "/api/rounds/"+roundA+"/claims/me", "", asPlayer(code, playerA)), 500, "fault")
	c.fail = nil
	wantJSON(t, r.call("GET", "/api/rounds/"+roundA+"/claims/me", "", asPlayer(code, playerB)), 200, `{"claims":[`+claimJSON(2, playerB, "", 9, 5)+`]}`)
	if response := r.call("GET", "/api/rounds/"+roundA+"/claims/me", "", asPlayer(code, playerA)); response.Code != 200 {
		t.Errorf("got %d", response.Code)
	}
}

// Redis lost a claim that the ledger has, and has granted one that is not booked yet. The player has received both.
func TestClaimsOfAFrozenRoundAreMergedFromRedisAndLedger(t *testing.T) {
	r, c := newCountingServer(t)
	c.fakeStore.rounds[1].Frozen = true
	c.ledger = []game.Claim{{Number: 1, Player: playerA, Drop: 9, Cents: 888}}
	c.claims = []game.Claim{{Number: 3, Player: playerA, Drop: 17, Cents: 612}}
	wantJSON(t, r.call("GET", "/api/rounds/"+roundA+"/claims/me", "", asPlayer(code, playerA)), 200,
		`{"claims":[`+claimJSON(1, playerA, "", 9, 888)+`,`+claimJSON(3, playerA, "", 17, 612)+`]}`)
}

// However many rounds and players ask, the cache keeps a bounded number of them.
func TestClaimsCacheIsBounded(t *testing.T) {
	cache := newClaimsCache()
	for i := range maxCachedResults + 1000 {
		cache.rounds.Add(fmt.Sprint(i), roundRead{})
		cache.claims.Add(roundPlayer{"round", fmt.Sprint(i)}, nil)
	}
	if rounds, claims := cache.rounds.Len(), cache.claims.Len(); rounds != maxCachedRounds || claims != maxCachedResults {
		t.Errorf("holds %d rounds, %d claims", rounds, claims)
	}
}
