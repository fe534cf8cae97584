package main

import (
	"fmt"
	"time"

	"redrain/internal/game"
)

// planThreeRounds fills a form, changes a preset, and copies a round.
func (e *eventPages) planThreeRounds() {
	e.t.Helper()
	e.host.click("new-round")
	e.host.click("more")
	e.fillForm(map[string]string{
		"title": e.inLanguage("开门红", "Opening"), "total_cents": "8.88", "packets": "10", "duration_ms": "600", "cap": "5",
		"countdown_ms": "10", "drops_per_second": "10", "bomb_percent": "0",
	}, "pace-burst", "split-dealt")
	e.checkLookAndAccess(e.host, "host-form")
	e.saveRound(1)

	e.host.click("preset-test")
	e.fillForm(map[string]string{"total_cents": "4", "packets": "200"})
	e.saveRound(2)
	e.host.clickOn(".plan-item:last-child " + byTestName("edit"))
	e.host.click("more")
	e.fillForm(map[string]string{"duration_ms": "600", "countdown_ms": "2", "bomb_percent": "20"})
	e.saveRound(2)

	e.host.clickOn(".plan-item:first-child " + byTestName("copy-round"))
	e.fillForm(map[string]string{"title": e.inLanguage("压轴", "Finale"), "total_cents": "5.20", "packets": "4", "cap": "2"})
	e.host.click("more")
	e.fillForm(map[string]string{"countdown_ms": "2"})
	e.saveRound(3)
	e.bothWindows("document.querySelectorAll('.plan-item').length === 3")
	e.checkLookAndAccess(e.host, "host-plan")
	e.readPlan()
}

func (e *eventPages) fillForm(fields map[string]string, choices ...string) {
	e.t.Helper()
	for name, text := range fields {
		e.host.fill(name, text)
	}
	for _, name := range choices {
		e.host.choose(name)
	}
	e.host.await("document.querySelector('" + byTestName("preview") + "').dataset.ready === 'true'")
	least, most := e.host.number("preview", "min"), e.host.number("preview", "max")
	if least < 1 || most < least || most > 10_000 {
		e.t.Errorf("the preview shows amounts from %d to %d cents", least, most)
	}
}

// saveRound leaves the form; so many rounds are planned then.
func (e *eventPages) saveRound(count int) {
	e.t.Helper()
	e.host.click("create-round")
	e.host.await(fmt.Sprintf("!document.querySelector('%s') && document.querySelectorAll('.plan-item').length === %d", byTestName("round-form"), count))
}

// readPlan finds the rounds that were planned, in their order.
func (e *eventPages) readPlan() {
	e.t.Helper()
	for place, want := range []struct {
		cents   game.Cents
		packets int
	}{{888, 10}, {400, 200}, {520, 4}} {
		id := evaluate[string](e.host, fmt.Sprintf("document.querySelector('.plan-item[data-place=\"%d\"]').dataset.round", place+1))
		round, err := e.books.Round(e.t.Context(), id)
		if err != nil {
			e.t.Fatal(err)
		}
		if round.Total != want.cents || round.Packets != want.packets || round.Phase != game.Draft {
			e.t.Fatalf("round %d of the plan is %+v, want %d cents in %d packets", place+1, round, want.cents, want.packets)
		}
		e.rounds = append(e.rounds, round)
	}
}

// beginRehearsal lets bots play a copy of the first round.
func (e *eventPages) beginRehearsal() {
	e.t.Helper()
	e.host.clickOn(inRound(e.rounds[0].ID, "to-rehearsal"))
	e.host.await("document.querySelector('" + byTestName("no-rehearsals") + "')") // until then the form may move under the finger
	e.host.fill("bots_players", "12")
	e.host.click("rehearse")
	e.host.await("document.querySelector('" + byTestName("rehearsal") + "')?.dataset.state === 'running'")
	e.look(e.host, "host-rehearsing")
}

// readRehearsal finds all sums right, and nobody who noticed.
func (e *eventPages) readRehearsal() {
	e.t.Helper()
	e.host.click("tab-rehearsals")
	e.host.awaitFor(time.Minute, "['done', 'failed'].includes(document.querySelector('"+byTestName("rehearsal")+"')?.dataset.state)")
	if !evaluate[bool](e.host, "document.querySelector('"+byTestName("rehearsal")+"').dataset.conserved === 'true'") {
		e.t.Errorf("the report says %s", e.host.text("rehearsal"))
	}
	for _, figure := range []string{"players", "taps", "rate", "won", "p50", "p99"} {
		if e.host.text("report-"+figure) == "" {
			e.t.Errorf("the report has no %s", figure)
		}
	}
	e.checkLookAndAccess(e.host, "host-rehearsal")
	e.host.click("tab-rounds")
	for _, s := range e.playersAndScreen() {
		s.awaitPhase("waiting")
	}
	if got := evaluate[int](e.hostAgain, "document.querySelectorAll('"+byTestName("round")+"').length"); got != 3 {
		e.t.Errorf("the room has %d rounds after a rehearsal, want 3", got)
	}
}
