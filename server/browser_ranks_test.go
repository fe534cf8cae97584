package main

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"redrain/internal/testkit"
)

// Elsewhere players with the same sum stood in another order on another screen.
//
// Here whoever reached it first stands first, on both walls, though each hangs on an instance of its own, on the host's page, and
// on the phones.
func TestTiesHaveTheSameOrderOnEveryScreen(t *testing.T) {
	t.Parallel()
	a, b := startTwo(t, testkit.Redis(t).URL)
	host, browser := loginHost(t, a), testkit.Chromium(t)
	room := newRoom(t, host)
	round := newRound(t, host, room, map[string]any{
		"total_cents": 700, "packets": 7, "cap": 1, "split": "dealt", "deal": "equal", "pace": "burst",
		"countdown_ms": 0, "duration_ms": 600_000, "bomb_percent": 0,
	})
	var pages []*browserPage
	for who, in := range map[string]*instance{"the wall on the first instance": a, "the wall on the second": b} {
		wall := newBrowserPage(t, browser, testkit.BigScreen, who, in.url, "en")
		wall.open("/screen/" + room)
		wall.awaitPhase("waiting")
		pages = append(pages, wall)
	}
	hostPage := newBrowserPage(t, browser, testkit.LaptopScreen, "the host", b.url, "en")
	hostPage.open("/host#/" + room)
	hostPage.fill("password", password)
	hostPage.click("login")
	hostPage.awaitPhase("waiting")
	pages = append(pages, hostPage)
	ann, bob := joinByLink(t, browser, a, room, "Ann"), joinByLink(t, browser, b, room, "Bob")
	others := joinPlayers(t, room, 4, a, b)

	startRound(t, host, round.ID)
	bob.awaitPhase("raining")
	bob.tapDrops(1)
	for _, other := range others {
		testkit.Eventually(t, soon, func() error {
			if drop := other.NextDrop(); drop != 0 {
				_ = other.Tap(t.Context(), drop, time.Now()) // what came of it shows in what was won
			}
			if len(other.Won()) == 0 {
				return errors.New("nothing won yet")
			}
			return nil
		})
	}
	ann.tapDrops(1)

	claims, err := host.Claims(t.Context(), round.ID)
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, claim := range claims {
		order = append(order, claim.Nickname)
	}
	if len(order) != 6 || order[0] != "Bob" || order[5] != "Ann" {
		t.Fatalf("the claims are %+v", claims)
	}
	for _, page := range pages {
		page.awaitRanks(order)
	}
	if _, err := host.Stop(t.Context(), round.ID); err != nil {
		t.Fatal(err)
	}
	for _, page := range append(pages, ann, bob) {
		page.awaitPhase("closed")
		page.awaitRanks(order)
	}
	for phone, rank := range map[*browserPage]string{bob: "1", ann: "6"} {
		phone.click("open-all")
		phone.await("document.querySelector('" + byTestName("own-rank") + "')?.dataset.rank === '" + rank + "'")
	}
}

// joinByLink brings a player in on a phone of their own.
func joinByLink(t *testing.T, browser *testkit.Browser, in *instance, room, name string) *browserPage {
	t.Helper()
	phone := newBrowserPage(t, browser, testkit.PhoneScreen, name, in.url, "en")
	phone.open("/r/" + room)
	phone.awaitPhase("entry")
	phone.fill("nickname", name)
	phone.click("join")
	phone.awaitPhase("waiting")
	return phone
}

// awaitRanks waits for the leaderboard's names, on the podium and below it, in their order.
func (s *browserPage) awaitRanks(names []string) {
	s.t.Helper()
	const shown = `[...document.querySelectorAll('[data-test="rank"], [data-test="podium"]')]
		.sort((a, b) => a.dataset.rank - b.dataset.rank).map((one) => one.querySelector('bdi').textContent)`
	testkit.Eventually(s.t, soon, func() error {
		if got := evaluate[[]string](s, shown); !slices.Equal(got, names) {
			return fmt.Errorf("%s shows the ranks %q, want %q", s.who, got, names)
		}
		return nil
	})
}
