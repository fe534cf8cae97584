package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/redis/go-redis/v9"

	"redrain/internal/testkit"
)

// Redis loses a running round, and everything went on raining while taps heard that nobody knows. Here the phone, the one in
// calm mode, the wall and the host's page say that it is on hold, the host's why, and a page that is opened then says so too.
// The host stops the round, and what was won is there.
func TestEveryPageShowsThatARoundIsOnHold(t *testing.T) {
	t.Parallel()
	browser := testkit.Chromium(t)
	for _, language := range []string{"zh-CN", "en-GB"} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			h := startRoundToHold(t, browser, language)
			h.phone.tapDrops(1)
			h.awaitBooked(1)
			h.lose()
			h.look()
			h.phone.do(chromedp.Reload())
			h.phone.await(h.onHold("keys_lost"))
			if won := h.phone.number("claims-count", "count"); won != 1 {
				t.Errorf("after the reload the phone shows %d claims", won)
			}
			h.giveUp()
		})
	}
}

// heldRound is a round in the rain that is about to be on hold, and everybody who looks at it.
type heldRound struct {
	t                           *testing.T
	direct                      *redis.Client
	round                       string
	phone, calm, wall, hostPage *browserPage
	claims                      func() (int, error)
}

func startRoundToHold(t *testing.T, browser *testkit.Browser, language string) *heldRound {
	t.Helper()
	server := testkit.Redis(t)
	in := startInstance(t, "REDIS_URL="+server.URL)
	host := loginHost(t, in)
	made, err := host.MakeRoom(t.Context(), "2026") // which is no word of either language
	if err != nil {
		t.Fatal(err)
	}
	room := made.Code
	h := &heldRound{t: t, direct: connectRedis(t, server)}
	h.round = newRound(t, host, room, map[string]any{
		"title": "第一场", "total_cents": 88_800, "packets": 100, "cap": 5, "countdown_ms": 0, "duration_ms": 600_000, "pace": "burst", "bomb_percent": 0,
	}).ID
	h.claims = func() (int, error) {
		claims, err := host.Claims(t.Context(), h.round)
		return len(claims), err
	}
	h.phone = newBrowserPage(t, browser, testkit.PhoneScreen, "the phone", in.url, language)
	h.calm = newBrowserPage(t, browser, testkit.PhoneScreen, "the phone in calm mode", in.url, language)
	h.calm.calm()
	for name, phone := range map[string]*browserPage{"安": h.phone, "静": h.calm} {
		phone.open("/r/" + room)
		phone.awaitPhase("entry")
		phone.fill("nickname", name)
		phone.click("join")
		phone.awaitPhase("waiting")
	}
	h.wall = newBrowserPage(t, browser, testkit.BigScreen, "the wall", in.url, language)
	h.wall.open("/screen/" + room)
	h.hostPage = newBrowserPage(t, browser, testkit.PhoneScreen, "the host", in.url, language)
	h.hostPage.open("/host#/" + room)
	h.hostPage.fill("password", password)
	h.hostPage.click("login")
	h.hostPage.awaitPhase("waiting")
	startRound(t, host, h.round)
	for _, page := range h.pages() {
		page.awaitPhase("raining")
	}
	return h
}

func (h *heldRound) pages() map[string]*browserPage {
	return map[string]*browserPage{"player": h.phone, "calm": h.calm, "screen": h.wall, "host": h.hostPage}
}

func (h *heldRound) onHold(why string) string {
	return fmt.Sprintf("document.querySelector('%s')?.dataset.hold === %q", byTestName("on-hold"), why)
}

func (h *heldRound) awaitBooked(claims int) {
	h.t.Helper()
	testkit.Eventually(h.t, soon, func() error {
		if booked, err := h.claims(); err != nil || booked != claims {
			return fmt.Errorf("%d claims are booked, %w", booked, err)
		}
		return nil
	})
}

// lose takes the round's keys away, and waits for every page to say so.
func (h *heldRound) lose() {
	h.t.Helper()
	keys, err := h.direct.Keys(h.t.Context(), "redrain:{"+h.round+"}:*").Result()
	if err != nil || len(keys) == 0 {
		h.t.Fatalf("the round has the keys %v, %v", keys, err)
	}
	if err := h.direct.Del(h.t.Context(), keys...).Err(); err != nil {
		h.t.Fatal(err)
	}
	lost := time.Now()
	for _, page := range h.pages() {
		page.await(h.onHold("keys_lost"))
	}
	h.t.Logf("every page shows it within %v", time.Since(lost))
}

func (h *heldRound) look() {
	h.t.Helper()
	for name, page := range h.pages() {
		page.readable("on hold")
		page.fits("on hold")
		page.picture("hold-" + name)
	}
	h.calm.accessible("on hold")
	h.hostPage.accessible("on hold")
}

// giveUp stops the round, which cannot go on.
func (h *heldRound) giveUp() {
	h.t.Helper()
	h.hostPage.await(fmt.Sprintf("document.querySelector('%s')", byTestName("stop")))
	h.hostPage.click("stop")
	h.hostPage.click("dialog-yes")
	for _, page := range h.pages() {
		page.awaitPhase("closed")
		page.await(fmt.Sprintf("!document.querySelector('%s')", byTestName("on-hold")))
	}
	h.phone.await("document.querySelector('" + byTestName("reason") + "').dataset.reason === 'interrupted'")
	h.phone.await(claimCountScript(1))
	h.awaitBooked(1)
}
