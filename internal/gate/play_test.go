package gate_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"redrain/internal/game"
	"redrain/internal/testkit"
	"redrain/internal/wire"
)

// Two taps of one player on one drop at once, from two tabs, on two instances: one claim, and both tabs know it. The
// losing tab hears of it as its result, or it knew before.
func TestTwoTabsOnTwoInstancesWinOnce(t *testing.T) {
	testkit.EachRedis(t, func(t *testing.T, url string) {
		s := newSiteOn(t, url)
		one, two := s.instance(), s.instance()
		round := s.rain(func(set *game.Settings) { set.Cap = 100 })
		player := s.books.Join(room, "ann")
		tabs := []*testkit.Client{testkit.Connect(t, one.visit(player)), testkit.Connect(t, two.visit(player))}
		for _, drop := range drops(t, tabs[0], round, 10)[:10] {
			var results [2]wire.Result
			var taps sync.WaitGroup
			for i, tab := range tabs {
				taps.Go(func() { results[i] = tab.TapAndHear(round.ID, drop.Drop) })
			}
			taps.Wait()
			outcomes := []string{string(results[0].Outcome), string(results[1].Outcome)}
			slices.Sort(outcomes)
			if !slices.Equal(outcomes, []string{"duplicate", "won"}) || results[0].Cents != results[1].Cents {
				t.Fatalf("drop %d: %v", drop.Drop, results)
			}
		}
		held, err := s.redis.ClaimsOf(t.Context(), round.ID, player.ID)
		if err != nil || len(held[player.ID]) != 10 {
			t.Fatalf("claims %v, %v", held, err)
		}
		for _, tab := range tabs {
			knowsAll(t, tab, round, held[player.ID])
		}
	})
}

// knowsAll waits until a page has been told of exactly these claims, with their numbers, by welcome, result or claim.
func knowsAll(t *testing.T, c *testkit.Client, round game.Round, claims []game.Claim) {
	t.Helper()
	type taken struct {
		number int
		cents  game.Cents
	}
	want := make(map[game.DropID]taken)
	for _, claim := range claims {
		want[claim.Drop] = taken{claim.Number, claim.Cents}
	}
	testkit.Eventually(t, 10*time.Second, func() error {
		known := make(map[game.DropID]taken)
		for _, claim := range c.Welcome.Claims {
			known[claim.Drop] = taken{claim.Number, claim.Cents}
		}
		for _, said := range testkit.All[wire.ClaimMade](c) {
			known[said.Claim.Drop] = taken{said.Claim.Number, said.Claim.Cents}
		}
		for _, said := range testkit.All[wire.Result](c) {
			if said.Round == round.ID && (said.Outcome == game.Won || said.Outcome == game.Duplicate) {
				known[said.Drop] = taken{said.Number, said.Cents}
			}
		}
		if fmt.Sprint(known) != fmt.Sprint(want) {
			return fmt.Errorf("the page knows of %v, the claims are %v", known, want)
		}
		return nil
	})
}

// Late join, reload, and a change of network onto another instance in the middle of a round: the same claims, and
// the rain goes on.
func TestAReloadLosesNothing(t *testing.T) {
	s := newSite(t)
	one, two := s.instance(), s.instance()
	round := s.rain()
	player := s.books.Join(room, "ann")
	first := testkit.Connect(t, one.visit(player))
	var won []wire.Result
	for _, drop := range drops(t, first, round, 2)[:2] {
		won = append(won, first.TapAndHear(round.ID, drop.Drop))
	}
	first.Drop() // the network is gone, without a word
	for name, i := range map[string]*instance{"same instance": one, "another instance": two} {
		t.Run(name, func(t *testing.T) {
			again := testkit.Connect(t, i.visit(player))
			w := again.Welcome
			if w.Round == nil || w.Round.ID != round.ID || w.Round.Phase != game.Raining || w.Round.StartsAt != round.StartsAt {
				t.Fatalf("the round is %+v", w.Round)
			}
			if len(w.Claims) != 2 {
				t.Fatalf("claims %v, want two", w.Claims)
			}
			for n, claim := range w.Claims {
				if claim.Drop != won[n].Drop || claim.Cents != won[n].Cents || claim.Number != n+1 || claim.Player != player.ID {
					t.Errorf("claim %d is %+v, its result was %+v", n+1, claim, won[n])
				}
				if result := again.TapAndHear(round.ID, claim.Drop); result.Outcome != game.Duplicate || result.Cents != claim.Cents || result.Number != claim.Number {
					t.Errorf("tapped again: %+v", result)
				}
			}
			testkit.Expect[wire.Drops](again, nil) // the rain goes on
			if tapped := drops(t, again, round, 10); again.TapAndHear(round.ID, tapped[9].Drop).Outcome != game.Capped {
				t.Error("a third claim with a cap of two")
			}
		})
	}
}

// A second tab hears of what the first one won, and the first one only once.
func TestAnotherTabHearsOfAClaim(t *testing.T) {
	s := newSite(t)
	i := s.instance()
	round := s.rain()
	player := s.books.Join(room, "ann")
	one, two := testkit.Connect(t, i.visit(player)), testkit.Connect(t, i.visit(player))
	stranger := testkit.Connect(t, i.as("bob"))
	drop := drops(t, one, round, 1)[0].Drop
	result := one.TapAndHear(round.ID, drop)
	claim := testkit.Expect[wire.ClaimMade](two, nil).Claim
	if result.Outcome != game.Won || claim.Drop != drop || claim.Cents != result.Cents || claim.Player != player.ID || claim.Round != round.ID {
		t.Errorf("result %+v, claim %+v", result, claim)
	}
	// The instance has heard of the claim, and so would they.
	testkit.Expect(one, func(tally wire.Tally) bool { return tally.ClaimedPackets == 1 })
	for name, c := range map[string]*testkit.Client{"the tab that tapped": one, "a stranger": stranger} {
		c.Ping(1)
		if said := testkit.All[wire.ClaimMade](c); len(said) != 0 {
			t.Errorf("%s hears %v", name, said)
		}
	}
	if said := testkit.All[wire.ClaimMade](two); len(said) != 1 {
		t.Errorf("the other tab hears %v", said)
	}
}

// Whoever connects in the middle of broadcasts hears welcome first, then everything that comes, nothing twice that
// must come once, and nothing older after something newer.
func TestConnectingInTheMiddleOfBroadcasts(t *testing.T) {
	s := newSite(t)
	i := s.instance()
	round := s.rain(func(set *game.Settings) { set.Cap = 50 })
	tapping := testkit.Connect(t, i.as("ann"))
	falling := drops(t, tapping, round, 20)
	done := make(chan struct{})
	var people sync.WaitGroup
	var mu sync.Mutex
	var all []*testkit.Client
	for n := range 4 {
		people.Go(func() {
			for range 60 {
				select {
				case <-done:
					return
				default:
				}
				visit := i.screen()
				if n%2 == 0 {
					visit = i.as(fmt.Sprintf("player %d", n))
				}
				c := testkit.Connect(t, visit)
				mu.Lock()
				all = append(all, c)
				mu.Unlock()
			}
		})
	}
	for _, drop := range falling {
		tapping.TapAndHear(round.ID, drop.Drop)
	}
	if _, err := s.redis.Close(t.Context(), round, game.Stopped); err != nil {
		t.Fatal(err)
	}
	testkit.Expect(tapping, func(said wire.RoundChanged) bool { return said.Round.Phase == game.Closed })
	close(done)
	people.Wait()
	if len(all) < 8 {
		t.Fatalf("only %d connections in the meantime", len(all))
	}
	for _, c := range append(all, tapping) {
		inOrder(t, c)
	}
}

// inOrder checks what one connection heard, and that all of it ends in the same state.
func inOrder(t *testing.T, c *testkit.Client) {
	t.Helper()
	testkit.Eventually(t, 10*time.Second, func() error {
		phase := c.Welcome.Round.Phase
		for _, said := range testkit.All[wire.RoundChanged](c) {
			phase = said.Round.Phase
		}
		if phase != game.Closed {
			return errors.New("the last phase heard is " + string(phase))
		}
		return nil
	})
	heard := c.Heard()
	if heard[0].Type != wire.TypeWelcome {
		t.Errorf("the first message is a %s", heard[0].Type)
	}
	last := c.Welcome.Tally
	for _, tally := range testkit.All[wire.Tally](c) {
		if tally.Epoch < last.Epoch || (tally.Epoch == last.Epoch && tally.Serial < last.Serial) {
			t.Errorf("tally %d.%d after %d.%d", tally.Epoch, tally.Serial, last.Epoch, last.Serial)
		}
		last = tally
	}
	over := c.Welcome.Round.Phase.Over()
	for _, said := range testkit.All[wire.RoundChanged](c) {
		if over && !said.Round.Phase.Over() {
			t.Errorf("phase %s after the end", said.Round.Phase)
		}
		over = said.Round.Phase.Over()
	}
	seen := make(map[game.DropID]bool)
	for _, said := range testkit.All[wire.Drops](c) {
		for _, drop := range said.Drops {
			if seen[drop.Drop] {
				t.Errorf("drop %d came twice", drop.Drop)
			}
			seen[drop.Drop] = true
		}
	}
}
