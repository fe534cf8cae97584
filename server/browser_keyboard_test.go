package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"redrain/internal/testkit"
)

// A player with a keyboard and nothing else comes in, asks for calm, catches packets between bombs, and opens them.
func TestCalmModeByKeyboardOnly(t *testing.T) {
	t.Parallel()
	v := newBrowserSite(t)
	room := newRoom(t, v.books)
	page := newBrowserPage(t, v.browser, testkit.LaptopScreen, "the player at the keyboard", v.url, "en-GB")
	page.open("/")
	page.tabTo("code")
	page.press(room)
	page.tabTo("nickname")
	page.press("Ann" + kb.Enter)
	page.awaitPhase("waiting")
	page.tabTo("calm")
	page.press(" ")
	page.await("document.documentElement.dataset.calm === 'true'")

	round := newRound(t, v.books, room, map[string]any{
		"total_cents": 900, "packets": 9, "cap": 3, "pace": "burst", "countdown_ms": 1000, "duration_ms": 600_000, "bomb_percent": 30,
	})
	startRound(t, v.books, round.ID)
	page.awaitPhase("raining")
	page.tabTo("cell")
	before := page.text("said")
	for claims := range int64(3) {
		page.catchByArrows(claims + 1)
	}
	if said := page.text("said"); said == before || said == "" {
		t.Errorf("a screen reader hears %q after three wins, and heard %q before", said, before)
	}
	page.await("document.querySelector('" + byTestName("verdict") + "')?.dataset.verdict === 'capped'")
	if _, err := v.books.Stop(t.Context(), round.ID); err != nil {
		t.Fatal(err)
	}

	page.awaitPhase("closed")
	page.tabTo("open")
	page.press(kb.Enter)
	page.await("document.querySelector('" + byTestName("closed") + "').dataset.count === '2'")
	page.tabTo("open-all")
	page.press(kb.Enter)
	page.await("document.querySelector('" + byTestName("own-rank") + "').dataset.rank === '1'")
	page.tabTo("check")
	page.press(kb.Enter)
	page.await("document.querySelector('" + byTestName("findings") + "')?.dataset.right === 'true'")
	page.tabTo("check-back")
	page.press(kb.Enter)
	page.await("document.querySelector('" + byTestName("reason") + "')?.dataset.reason === 'stopped'")
	audit(t, v.books, round.ID, nil)
}

func (s *browserPage) press(keys string) {
	s.t.Helper()
	s.do(chromedp.KeyEvent(keys))
}

// tabTo presses Tab until something of this name has the focus, and finds that one can see it there.
func (s *browserPage) tabTo(name string) {
	s.t.Helper()
	s.await("document.querySelector('" + byTestName(name) + "')")
	for range 100 {
		if evaluate[bool](s, fmt.Sprintf("document.activeElement.matches('%s')", byTestName(name))) {
			if !evaluate[bool](s, "document.activeElement.matches(':focus-visible') && (({ outlineStyle, boxShadow }) => outlineStyle !== 'none' || boxShadow !== 'none')(getComputedStyle(document.activeElement))") {
				s.t.Errorf("%s: nobody sees that %s has the focus", s.who, name)
			}
			return
		}
		s.press(kb.Tab)
	}
	s.fail("Tab does not lead to %s", name)
}

// nextArrow is the key that leads from the cell with the focus towards the next packet, Enter on a packet, ” without any.
const nextArrow = `(() => {
	const cells = [...document.querySelectorAll('[data-test="cell"]')];
	const at = cells.indexOf(document.activeElement);
	const columns = getComputedStyle(cells[0].parentElement).gridTemplateColumns.split(' ').length;
	const to = cells.findIndex(({ dataset, ariaBusy }) => dataset.kind === 'packet' && ariaBusy !== 'true');
	if (at < 0 || to < 0) return '';
	if (at === to) return 'Enter';
	const down = Math.floor(to / columns) - Math.floor(at / columns);
	if (down !== 0) return down > 0 ? 'ArrowDown' : 'ArrowUp';
	return to > at ? 'ArrowRight' : 'ArrowLeft';
})()`

// catchByArrows goes from cell to cell until so many packets are caught.
func (s *browserPage) catchByArrows(claims int64) {
	s.t.Helper()
	keys := map[string]string{"ArrowDown": kb.ArrowDown, "ArrowUp": kb.ArrowUp, "ArrowRight": kb.ArrowRight, "ArrowLeft": kb.ArrowLeft, "Enter": kb.Enter}
	for deadline := time.Now().Add(soon); s.number("claims-count", "count") < claims; {
		if time.Now().After(deadline) {
			s.fail("not %d packets within %v", claims, soon)
		}
		if key := evaluate[string](s, nextArrow); key != "" {
			s.press(keys[key])
		}
	}
	if !evaluate[bool](s, fmt.Sprintf("document.activeElement.matches('%s')", byTestName("cell"))) {
		s.fail("a caught packet took the focus with it")
	}
}
