package main

import (
	_ "embed"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"redrain/internal/testkit"
	"redrain/internal/wire"
)

//go:embed testdata/axe-core/axe.min.js
var axe string

// accessible complains about whatever keeps people out of what the page shows right now.
func (s *browserPage) accessible(state string) {
	s.t.Helper()
	for _, fault := range s.faults() {
		s.t.Errorf("%s, %s: %s", s.who, state, fault)
	}
}

// faults are axe's serious and critical findings.
func (s *browserPage) faults() []string {
	s.t.Helper()
	if !evaluate[bool](s, "Boolean(window.axe)") {
		evaluate[bool](s, axe+";true")
	}
	evaluate[bool](s, `window.faults = null, axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => {
		window.faults = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
			.map(({ id, help, nodes }) => id + ': ' + help + ': ' + nodes.slice(0, 3).map(({ html }) => html.slice(0, 200)).join(' and '));
	}) instanceof Promise`)
	s.await("window.faults")
	return evaluate[[]string](s, "window.faults")
}

// No page keeps anybody out: neither before a round nor in one nor after it, nor where one cannot go on, on phones, on the wall
// and at the host's page. The host's other pages are looked at where they are clicked through.
func TestPagesKeepNobodyOut(t *testing.T) {
	t.Parallel()
	e := newBrowserSite(t).openEvent(t, testkit.PhoneScreen, "en-GB")
	for _, s := range []*browserPage{e.screen, e.ann, e.annsTab} {
		s.calm() // the rain as buttons; Bob's falls
	}
	door := newBrowserPage(t, e.browser, testkit.PhoneScreen, "the door", e.url, "zh-CN")
	for _, path := range []string{"/", "/host", "/r/NOROOM", "/screen/NOROOM"} {
		door.open(path)
		door.await("document.querySelector('button')")
		door.accessible(path)
	}
	e.makeRoom()
	door.open("/r/" + e.code)
	door.awaitPhase("entry")
	door.accessible("entry")
	round := newRound(t, e.books, e.code, map[string]any{
		"title": "Opening", "total_cents": 1000, "packets": 8, "duration_ms": 600_000, "cap": 4, "countdown_ms": 5000, "bomb_percent": 0, "pace": "burst",
	})
	e.joinPlayers()
	e.host.click("tab-rounds")
	e.accessibleTo("waiting", e.ann, e.screen, e.host)
	e.host.fill("announce", "The draw begins")
	e.host.click("send-announcement")
	e.ann.await("document.querySelector('" + byTestName("toast") + "')")
	e.accessibleTo("announced", e.ann)

	startRound(t, e.books, round.ID)
	for _, s := range e.playersAndScreen() {
		s.awaitPhase("countdown")
	}
	e.accessibleTo("countdown", e.ann, e.screen)
	for _, s := range append(e.playersAndScreen(), e.host) {
		s.awaitPhase("raining")
	}
	e.accessibleTo("raining", e.ann, e.bob, e.screen, e.host)
	e.ann.tapDrops(2)
	e.comeLate(door)
	e.host.click("stop")
	e.accessibleTo("the question", e.host)
	e.host.click("dialog-yes")
	for _, s := range append(e.playersAndScreen(), e.host) {
		s.awaitPhase("closed")
	}
	e.accessibleTo("closed", e.ann, e.bob, e.screen)
	e.ann.click("open-all")
	e.ann.await("document.querySelector('" + byTestName("own-rank") + "')")
	e.accessibleTo("opened", e.ann)
	e.checkAmounts()
	e.accessibleTo("the check", e.ann)
	e.accessibleAside(round, door)
	evaluate[bool](door, "document.body.append(document.createElement('button')) === undefined")
	if len(door.faults()) == 0 {
		t.Error("a button without a name is no fault")
	}
}

// comeLate joins in the middle of a round, and plays in what is left of it.
func (e *eventPages) comeLate(s *browserPage) {
	e.t.Helper()
	s.fill("nickname", "迟到的")
	s.click("join")
	s.awaitPhase("raining")
	s.tapDrops(1)
}

func (e *eventPages) accessibleTo(state string, pages ...*browserPage) {
	e.t.Helper()
	for _, s := range pages {
		s.accessible(state)
	}
}

// accessibleAside looks at what a host sees beside the usual: errors, questions, help, the other theme; and at a player who is
// sent away.
func (e *eventPages) accessibleAside(round wire.Round, late *browserPage) {
	e.t.Helper()
	h := e.host
	e.openRound(h, round)
	h.click("theme")
	e.accessibleTo("closed, in the other theme", h)
	h.do(chromedp.KeyEvent("?"))
	h.await("document.querySelector('" + byTestName("keys") + "')")
	e.accessibleTo("the shortcuts", h)
	h.do(chromedp.KeyEvent(kb.Escape))
	h.await("!document.querySelector('" + byTestName("keys") + "')")
	h.click("new-round")
	h.fill("packets", "0")
	h.await("document.querySelector('" + byTestName("error-packets") + "')?.innerText")
	e.accessibleTo("a form with an error", h)
	h.click("tab-players")
	h.await("document.querySelectorAll('" + byTestName("player") + "').length === 3")
	e.accessibleTo("players, in the other theme", h)
	h.fill("players-search", "迟到的")
	h.await("document.querySelectorAll('" + byTestName("player") + "').length === 1")
	h.click("block")
	e.accessibleTo("the question whether to block", h)
	h.click("dialog-yes")
	late.await("document.querySelector('" + byTestName("action") + "')")
	e.accessibleTo("sent away", late)
	h.choose("door-locked")
	h.await("document.querySelector('" + byTestName("doors") + "').dataset.locked === 'true'")
	stranger := newBrowserPage(e.t, e.browser, testkit.PhoneScreen, "a stranger", e.url, "zh-CN")
	stranger.open("/r/" + e.code)
	stranger.await("document.querySelector('" + byTestName("message") + "')")
	e.accessibleTo("a locked door", stranger)
}
