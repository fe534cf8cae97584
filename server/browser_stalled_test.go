package main

import (
	"fmt"
	"testing"
	"time"

	"redrain/internal/testkit"
)

// An instance hears nothing from Redis any more, though Redis answers it: its wall stood at what it had heard last, past the end
// of the round and beyond. Now the wall, the host's page and a phone read the round themselves, the phone a little later; and
// while Redis does not answer either, the wall and the host's page say how old their figures are.
func TestPagesReadTheRoundWithoutMessages(t *testing.T) {
	t.Parallel()
	browser, server := testkit.Chromium(t), testkit.Redis(t)
	proxy := testkit.NewSwallowProxy(t, server.Addr)
	books := "DATABASE_URL=sqlite:" + t.TempDir() + "/books.db"
	other, deaf := startInstance(t, "REDIS_URL="+server.URL, books), startInstance(t, "REDIS_URL=redis://"+proxy.Addr, books)
	host := loginHost(t, other)
	room := newRoom(t, host)
	player := joinByLink(t, browser, other, room, "Ann")
	wall := newBrowserPage(t, browser, testkit.BigScreen, "the wall", deaf.url, "zh-CN")
	wall.open("/screen/" + room)
	hostPage := newBrowserPage(t, browser, testkit.LaptopScreen, "the host", deaf.url, "en")
	hostPage.open("/host#/" + room)
	hostPage.fill("password", password)
	hostPage.click("login")
	phone := joinByLink(t, browser, deaf, room, "Bob")
	round := newRound(t, host, room, map[string]any{
		"total_cents": 2000, "packets": 200, "cap": 20, "pace": "burst", "countdown_ms": 0, "duration_ms": 600_000, "bomb_percent": 0,
	})
	startRound(t, host, round.ID)
	for _, page := range []*browserPage{wall, hostPage, player, phone} {
		page.awaitPhase("raining")
	}
	player.tapDrops(1)
	wall.await(countScript("claimed-packets", 1))

	proxy.SwallowReplies(-1, "subscribe")
	proxy.Stall()
	player.tapDrops(3)
	wall.awaitFor(soon, countScript("claimed-packets", 3))
	for _, page := range []*browserPage{wall, hostPage} {
		page.awaitFor(soon, "!document.querySelector('"+byTestName("tally-age")+"')")
	}

	proxy.Refuse()
	proxy.Cut()
	for _, page := range []*browserPage{wall, hostPage} {
		page.awaitFor(15*time.Second+soon, "document.querySelector('"+byTestName("tally-age")+"')?.dataset.seconds >= 15")
		page.readable("with old figures")
		page.fits("with old figures")
		page.accessible("with old figures")
	}
	proxy.Heal()
	proxy.SwallowReplies(-1, "subscribe")
	for _, page := range []*browserPage{wall, hostPage} {
		page.awaitFor(time.Minute, "!document.querySelector('"+byTestName("tally-age")+"')") // the failures before it made the waits longer
	}

	if _, err := host.Stop(t.Context(), round.ID); err != nil {
		t.Fatal(err)
	}
	wall.awaitFor(soon, "document.body.dataset.phase === 'closed'")
	wall.awaitFor(soon, countScript("claimed-packets", 3))
	phone.awaitFor(time.Minute, "document.body.dataset.phase !== 'raining'")
}

// countScript is whether something on a page has a count.
func countScript(name string, count int) string {
	return fmt.Sprintf("document.querySelector('%s')?.dataset.count === '%d'", byTestName(name), count)
}
