package main

import (
	_ "embed"
	"fmt"
	"testing"

	"redrain/internal/testkit"
)

//go:embed testdata/axe-core/axe.min.js
var axe string

// accessible complains about whatever keeps people out of what the page shows right now.
func (s *sheet) accessible(state string) {
	s.t.Helper()
	for _, fault := range s.faults() {
		s.t.Errorf("%s, %s: %s", s.who, state, fault)
	}
}

// faults are axe's serious and critical findings.
func (s *sheet) faults() []string {
	s.t.Helper()
	if !see[bool](s, "Boolean(window.axe)") {
		see[bool](s, axe+";true")
	}
	see[bool](s, `window.faults = null, axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => {
		window.faults = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
			.map(({ id, help, nodes }) => id + ': ' + help + ': ' + nodes.slice(0, 3).map(({ html }) => html.slice(0, 200)).join(' and '));
	}) instanceof Promise`)
	s.await("window.faults")
	return see[[]string](s, "window.faults")
}

// No page keeps anybody out: neither before a round nor in one nor after it, on phones, on the wall and at the host's desk.
// The host's other pages are looked at where they are clicked through.
func TestPagesKeepNobodyOut(t *testing.T) {
	e := openEvening(t, "en-GB", 1000)
	for _, s := range []*sheet{e.screen, e.ann, e.annsTab, e.bob} {
		s.calm() // the rain as buttons
	}
	door := newSheet(t, testkit.Chromium(t), testkit.PhoneScreen, "the door", e.url, "zh-CN")
	for _, path := range []string{"/", "/host"} {
		door.open(path)
		door.await("document.querySelector('button')")
		door.accessible(path)
	}
	e.makeRoom("Annual party", "Rooms")
	door.open("/r/" + e.code)
	door.awaitPhase("entry")
	door.accessible("entry")
	e.makeRound(map[string]string{"total_cents": "10", "packets": "8", "duration_ms": "30", "cap": "4", "countdown_ms": "5", "bomb_percent": "0"}, "pace-burst")
	e.comeIn("Ann", "Bob")
	look := func(state string) {
		t.Helper()
		for _, s := range []*sheet{e.ann, e.screen, e.host} {
			s.accessible(state)
		}
	}
	look("waiting")
	e.start()
	for _, s := range []*sheet{e.ann, e.screen} {
		s.awaitPhase("countdown")
	}
	e.ann.accessible("countdown")
	e.screen.accessible("countdown")
	for _, s := range []*sheet{e.ann, e.bob, e.screen, e.host} {
		s.awaitPhase("raining")
	}
	look("raining")
	e.host.click("stop")
	e.host.accessible("the question")
	e.host.click("dialog-yes")
	for _, s := range []*sheet{e.ann, e.screen, e.host} {
		s.awaitPhase("closed")
	}
	e.host.click("show-claims")
	e.host.await(fmt.Sprintf("document.querySelector('%s')", at("books")))
	look("closed")
	see[bool](door, "document.body.append(document.createElement('button')) === undefined")
	if len(door.faults()) == 0 {
		t.Error("a button without a name is no fault")
	}
}
