package main

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/chromedp/chromedp"

	"redrain/internal/testkit"
	"redrain/internal/wire"
)

// playUntilSoldOut starts the next round by its button, and lets each player catch all that one may have: five packets.
//
// Elsewhere two tabs of one player had two results. Here they show the same claims.
//
// Elsewhere a reload in the middle of a round lost what one had won. Here it is all there again, and the rain goes on.
func (e *eventPages) playUntilSoldOut(round wire.Round) {
	e.t.Helper()
	e.host.click("start-next")
	e.countDown(round)
	wantSameFall(e.t, e.ann, e.bob)
	e.bob.tapDrops(2)
	e.reload(e.bob)
	wantSameFall(e.t, e.ann, e.bob)
	e.ann.tapDrops(1)
	e.annsTab.await(claimCountScript(1))
	e.annsTab.tapDrops(4) // the other tab takes over
	e.ann.await(claimCountScript(4))
	e.lookWhileItRains()
	e.ann.tapDrops(5)
	e.bob.tapDrops(5)
	e.checkRoundEnd(round, "sold_out")
	e.openPackets()
}

func claimCountScript(count int64) string {
	return fmt.Sprintf("document.querySelector('%s')?.dataset.count === '%d'", byTestName("claims-count"), count)
}

// countDown sees the seconds of the countdown on all pages in step with the server's clock.
//
// Elsewhere a phone whose clock was 10 minutes off saw a wrong countdown, or no rain at all. Here Bob's shows the
// same seconds as everybody's, and then the same drops at the same height.
func (e *eventPages) countDown(round wire.Round) {
	e.t.Helper()
	for _, s := range e.playersAndScreen() {
		s.awaitPhase("countdown")
	}
	startsAt := e.startOf(round)
	for _, s := range e.playersAndScreen() {
		s.inStepWith(startsAt)
	}
	e.look(e.bob, "player-countdown")
	e.look(e.screen, "screen-countdown")
	for _, s := range append(e.playersAndScreen(), e.host, e.hostAgain) {
		s.awaitPhase("raining")
	}
}

// startOf is the start as the books have it, which note it a moment after the pages hear of it.
func (e *eventPages) startOf(round wire.Round) time.Time {
	e.t.Helper()
	var started wire.Round
	testkit.Eventually(e.t, soon, func() (err error) {
		if started, err = e.books.Round(e.t.Context(), round.ID); err == nil && started.StartsAt == 0 {
			err = errors.New("the round has no start yet")
		}
		return err
	})
	return time.UnixMilli(int64(started.StartsAt))
}

// inStepWith waits until the page's countdown shows the seconds until a moment. A busy machine may draw them late; a page that
// goes by a wrong clock never shows them.
func (s *browserPage) inStepWith(moment time.Time) {
	s.t.Helper()
	testkit.Eventually(s.t, time.Until(moment), func() error {
		most := secondsUntil(moment)
		shown := evaluate[int](s, "Number(document.querySelector('"+byTestName("countdown")+"')?.innerText ?? -1)")
		if least := secondsUntil(moment); shown < least || shown > most {
			return fmt.Errorf("%s counts down from %d when it is %d to %d", s.who, shown, least, most)
		}
		return nil
	})
}

// secondsUntil is what a countdown shows: 3, 2, 1.
func secondsUntil(moment time.Time) int {
	return int((time.Until(moment) + time.Second - time.Millisecond) / time.Second)
}

func (e *eventPages) reload(s *browserPage) {
	e.t.Helper()
	count, cents := s.number("claims-count", "count"), s.number("sum", "cents")
	s.do(chromedp.Reload())
	s.awaitPhase("raining")
	if countNow, centsNow := s.number("claims-count", "count"), s.number("sum", "cents"); countNow != count || centsNow != cents {
		e.t.Errorf("after a reload %s has %d claims of %d cents, before it were %d of %d", s.who, countNow, centsNow, count, cents)
	}
}

func (e *eventPages) lookWhileItRains() {
	e.t.Helper()
	e.host.await("document.querySelector('" + byTestName("chart-claimed") + "').dataset.points > 3")
	e.look(e.bob, "player-raining")
	e.look(e.screen, "screen-raining")
	e.checkLookAndAccess(e.host, "host-raining")
}

// openPackets opens one packet and then all others, until the sum is known and with it the rank.
func (e *eventPages) openPackets() {
	e.t.Helper()
	e.look(e.bob, "player-won")
	closed := e.bob.number("closed", "count") // a last touch may have opened one already
	e.bob.click("open")
	e.bob.await(fmt.Sprintf("document.querySelector('%s').dataset.count === '%d'", byTestName("closed"), closed-1))
	e.bob.click("open-all")
	e.bob.await("document.querySelector('" + byTestName("own-rank") + "')?.dataset.rank > 0")
	e.look(e.bob, "player-end")
}

// playUntilStopped has a round start at a set time, and stops it by hand. One of the drops is a bomb, which Bob touches.
func (e *eventPages) playUntilStopped(round wire.Round) {
	e.t.Helper()
	e.host.clickOn(inRound(round.ID, "plan"))
	e.host.set("starts-on", time.Now().Add(3*time.Second).UTC().Format("2006-01-02T15:04:05"))
	e.host.click("save-start")
	for _, s := range append(e.playersAndScreen(), e.host, e.hostAgain) {
		s.awaitPhase("raining") // nobody has clicked start
	}
	e.touchBomb(e.bob)
	e.ann.tapDrops(1)
	e.bob.await("!document.querySelector('" + byTestName("held") + "')")
	e.bob.tapDrops(1)
	e.host.click("stop")
	e.host.click("dialog-yes")
	e.checkRoundEnd(round, "stopped")
}

// touchBomb waits for a bomb and touches it: the page is held.
func (e *eventPages) touchBomb(s *browserPage) {
	e.t.Helper()
	testkit.Eventually(e.t, 2*soon, func() error {
		if s.touchOne("bomb") {
			s.awaitOrMiss("document.querySelector('" + byTestName("held") + "')")
		}
		if !evaluate[bool](s, "document.querySelector('"+byTestName("held")+"') !== null") {
			return fmt.Errorf("%s is not held by a bomb", s.who)
		}
		return nil
	})
}

// playCalmly plays the last round with less motion, switched on by whoever wants it.
func (e *eventPages) playCalmly(round wire.Round) {
	e.t.Helper()
	e.ann.click("calm")
	e.bob.click("calm")
	e.startFromBothWindows(round)
	for _, s := range append(e.playersAndScreen(), e.host, e.hostAgain) {
		s.awaitPhase("raining")
	}
	e.ann.tapDrops(1)
	e.look(e.ann, "player-calm")
	e.ann.tapDrops(2)
	e.bob.tapDrops(2)
	e.checkRoundEnd(round, "sold_out")
	closed := "document.querySelectorAll('" + byTestName("open") + "').length"
	before := evaluate[int64](e.ann, closed)
	e.ann.click("open")
	e.ann.await(fmt.Sprintf("%s === %d", closed, before-1))
	e.checkAmounts()
	e.ann.click("check-back")
	e.ann.await(fmt.Sprintf("%s === %d", closed, before-1)) // what was opened before stays open
	e.screen.await("document.querySelector('" + byTestName("totals") + "')?.dataset.rounds === '3'")
	e.look(e.screen, "screen-end")
}

// startFromBothWindows clicks start twice in each of the host's windows.
//
// Elsewhere a second click, or a second host, started a second round or got an error. Here there is one round, both
// windows show it, and none of them complains; nor does an impatient click meet a button that has just come and undoes it all.
func (e *eventPages) startFromBothWindows(round wire.Round) {
	e.t.Helper()
	windows := []*browserPage{e.host, e.hostAgain}
	before := e.roundsShown(e.host)
	var clicking sync.WaitGroup
	for _, window := range windows {
		evaluate[bool](window, fmt.Sprintf("document.querySelector('%s').scrollIntoView({ block: 'center' }) === undefined", inRound(round.ID, "start")))
		x := evaluate[float64](window, centreScript(inRound(round.ID, "start"), "left", "width"))
		y := evaluate[float64](window, centreScript(inRound(round.ID, "start"), "top", "height"))
		clicking.Go(func() {
			window.do(chromedp.MouseClickXY(x, y, chromedp.ClickCount(1)), chromedp.MouseClickXY(x, y, chromedp.ClickCount(2)))
		})
	}
	clicking.Wait()
	for _, window := range windows {
		window.await("['countdown', 'raining'].includes(document.body.dataset.phase)")
		if rounds := e.roundsShown(window); !slices.Equal(rounds, before) {
			e.t.Errorf("%s has the rounds %v, before the start they were %v", window.who, rounds, before)
		}
		if evaluate[bool](window, "document.querySelector('.toast-bad') !== null") {
			e.t.Errorf("%s complains: %s", window.who, window.text("toast"))
		}
	}
}

func (e *eventPages) roundsShown(window *browserPage) []string {
	e.t.Helper()
	return slices.Sorted(slices.Values(evaluate[[]string](window, "[...document.querySelectorAll('"+byTestName("round")+"')].map((one) => one.dataset.round)")))
}

func centreScript(selector, edge, size string) string {
	return fmt.Sprintf("(({ %s, %s }) => %s + %s / 2)(document.querySelector('%s').getBoundingClientRect())", edge, size, edge, size, selector)
}

// checkAmounts has Ann's page recompute what everybody got and what fell on it, once the books are settled.
func (e *eventPages) checkAmounts() {
	e.t.Helper()
	e.ann.click("check")
	e.ann.await("document.querySelector('" + byTestName("findings") + "')?.dataset.right === 'true'")
	if drops := evaluate[int](e.ann, "Number(document.querySelector('"+byTestName("findings")+"').dataset.drops)"); drops == 0 {
		e.t.Errorf("%s compares no drops", e.ann.who)
	}
	e.look(e.ann, "player-check")
}
