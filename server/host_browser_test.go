package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"redrain/internal/bots"
	"redrain/internal/game"
	"redrain/internal/testkit"
)

// hostPages is a host with two windows on one room.
type hostPages struct {
	*instance
	t             *testing.T
	code          string
	window, other *browserPage
}

// What a host does besides playing rounds as planned, by clicking and typing only, on a phone: what one window does the
// other shows without a reload.
func TestTheHostsPage(t *testing.T) {
	t.Parallel()
	h := openHostPages(t)
	h.plan()
	h.schedule()
	h.exchange()
	h.shortcuts()
	h.players()
	h.refuseRehearsal()
	h.run()
}

func openHostPages(t *testing.T) *hostPages {
	t.Helper()
	browser := testkit.Chromium(t)
	h := &hostPages{t: t, instance: startInstance(t)}
	const language = "en-GB"
	h.window = newBrowserPage(t, browser, testkit.PhoneScreen, "the host", h.url, language)
	h.window.calm() // what is just fading in has no contrast yet
	h.window.open("/host")
	h.window.fill("password", password)
	h.window.click("login")
	h.window.awaitPhase("rooms")
	h.window.fill("room-name", "年会现场")
	h.window.click("make-room")
	h.window.awaitPhase("waiting")
	h.code = evaluate[string](h.window, "document.querySelector('"+byTestName("room-code")+"').dataset.code")
	h.other = h.window.newTab(testkit.LaptopScreen, "the host's second window", h.url, language)
	h.other.open("/host#/" + h.code)
	h.other.awaitPhase("waiting")
	return h
}

// look finds the page in its language, within its width and keeping nobody out.
func (h *hostPages) look(state string) {
	h.t.Helper()
	h.window.readable(state)
	h.window.fits(state)
	h.window.accessible(state)
}

const titles = `[...document.querySelectorAll('.plan-item .round-title')].map((one) => one.textContent).join()`

// both waits until both windows show something.
func (h *hostPages) both(expression string) {
	h.t.Helper()
	h.window.await(expression)
	h.other.await(expression)
}

func (h *hostPages) plan() {
	h.t.Helper()
	for _, preset := range []string{"party", "test"} {
		h.window.click("preset-" + preset)
		h.window.await("document.querySelector('" + byTestName("preview") + "').dataset.ready === 'true'")
		h.window.click("create-round")
		h.window.await("!document.querySelector('" + byTestName("round-form") + "')")
	}
	h.both("document.querySelectorAll('.plan-item').length === 2")
	before := evaluate[string](h.window, titles)
	h.window.click("move-down") // the first one
	h.both(fmt.Sprintf("%s === %q", titles, swapPair(before)))
}

func swapPair(pair string) string {
	first, second, _ := strings.Cut(pair, ",")
	return second + "," + first
}

func (h *hostPages) schedule() {
	h.t.Helper()
	h.window.click("plan")
	type moment struct {
		value  string
		refuse bool
	}
	for _, m := range []moment{{"2020-01-01T00:00", true}, {time.Now().Add(time.Hour).UTC().Format("2006-01-02T15:04"), false}} {
		h.window.set("starts-on", m.value)
		h.window.click("save-start")
		if m.refuse {
			h.window.await("document.querySelector('" + byTestName("error-starts-on") + "')?.innerText.length > 5")
		}
	}
	h.both("document.querySelector('" + byTestName("planned") + "')?.dataset.on > Date.now()")
	h.window.click("unplan")
	h.both("!document.querySelector('" + byTestName("planned") + "')")
}

// set gives a field of the browser's own making, like a date's, its value.
func (s *browserPage) set(name, value string) {
	s.t.Helper()
	evaluate[bool](s, fmt.Sprintf(`((field) => { field.value = %q; return field.dispatchEvent(new Event('input', { bubbles: true })); })(document.querySelector('%s'))`, value, byTestName(name)))
}

// exchange exports the rounds, and imports them once as they are and once with nonsense in the second.
func (h *hostPages) exchange() {
	h.t.Helper()
	address := evaluate[string](h.window, "document.querySelector('"+byTestName("export")+"').getAttribute('href')")
	choose := func(change string) {
		evaluate[bool](h.window, fmt.Sprintf(`fetch(%q).then((answer) => answer.json()).then((file) => {
			%s;
			const files = new DataTransfer();
			files.items.add(new File([JSON.stringify(file)], 'rounds.json'));
			const input = document.querySelector('%s');
			input.files = files.files;
			return input.dispatchEvent(new Event('change', { bubbles: true }));
		}) instanceof Promise`, address, change, byTestName("import-file")))
	}
	choose("file.rounds[1].packets = 0")
	h.window.await("document.querySelector('" + byTestName("error-import") + "')?.innerText.includes('2')")
	if got := evaluate[int](h.window, "document.querySelectorAll('.plan-item').length"); got != 2 {
		h.t.Errorf("a file with nonsense made %d rounds", got-2)
	}
	choose("file.rounds.length = 2")
	h.both("document.querySelectorAll('.plan-item').length === 4")
	h.window.do(chromedp.Click(chromedp.CSS(".plan-item:last-child "+byTestName("drop")), chromedp.NodeVisible))
	h.window.click("dialog-yes")
	h.both("document.querySelectorAll('.plan-item').length === 3")
}

// Hotkeys of the host's page fired while somebody typed. Here they rest.
func (h *hostPages) shortcuts() {
	h.t.Helper()
	const typed = "n s x 1 2 3 ?"
	h.window.fill("announce", typed)
	if evaluate[bool](h.window, "document.querySelector('"+byTestName("round-form")+"') || document.querySelector('dialog[open]') || location.hash.includes('players')") {
		h.t.Error("a shortcut fired while somebody typed")
	}
	h.window.click("send-announcement")
	h.other.await(fmt.Sprintf("[...document.querySelectorAll('%s')].some((one) => one.innerText.includes(%q))", byTestName("toast"), typed))
	evaluate[bool](h.window, "document.activeElement.blur() === undefined")
	h.window.do(chromedp.KeyEvent("n"))
	h.window.await("document.querySelector('" + byTestName("round-form") + "')")
	h.window.click("close-form")
	evaluate[bool](h.window, "document.activeElement.blur() === undefined")
	h.window.do(chromedp.KeyEvent("2"))
	h.window.await("location.hash.endsWith('/players')")
}

// A new player was accepted but missing from the host's list. Here the list has them at once, and a
// player whom the host blocks is sent away.
func (h *hostPages) players() {
	h.t.Helper()
	w := h.window
	w.await("document.querySelector('" + byTestName("no-players") + "')")
	player, err := bots.Join(h.t.Context(), h.url, "", h.code, "<i>小明</i>")
	if err != nil {
		h.t.Fatal(err)
	}
	w.await("document.querySelectorAll('" + byTestName("player") + "').length === 1")
	if shown := w.text("player"); !strings.Contains(shown, "<i>小明</i>") {
		h.t.Errorf("the list shows %q", shown)
	}
	if err := player.Connect(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
	w.click("rename")
	w.fill("new-name", "明明")
	w.click("save-name")
	w.await("document.querySelector('" + byTestName("player") + "').innerText.includes('明明')")
	w.click("block")
	w.click("dialog-yes")
	w.await("document.querySelector('" + byTestName("player") + "').dataset.blocked === 'true'")
	testkit.Eventually(h.t, soon, func() error {
		if player.Err() == nil {
			return fmt.Errorf("the blocked player is still connected")
		}
		return nil
	})
	w.fill("players-search", "nobody")
	w.await("document.querySelectorAll('" + byTestName("player") + "').length === 0")
	w.choose("door-locked")
	w.await("document.querySelector('" + byTestName("doors") + "').dataset.locked === 'true'")
	if _, err := bots.Join(h.t.Context(), h.url, "", h.code, "late"); err == nil || !strings.Contains(err.Error(), "room_locked") {
		h.t.Errorf("a newcomer to a locked room: %v", err)
	}
	w.choose("door-locked")
	h.look("players")
}

func (h *hostPages) refuseRehearsal() {
	h.t.Helper()
	w := h.window
	w.click("tab-rehearsals")
	w.await("document.querySelector('" + byTestName("no-rehearsals") + "')") // until then the form may move under the finger
	w.await("document.querySelector('" + byTestName("rehearse-round") + "')?.options.length === 3")
	w.fill("bots_players", "501")
	w.click("rehearse")
	w.await("document.querySelector('" + byTestName("error-bots_players") + "')?.innerText.includes('500')")
	h.look("a refused rehearsal")
}

// awaitFor is await for what takes its time.
func (s *browserPage) awaitFor(within time.Duration, expression string) {
	s.t.Helper()
	testkit.Eventually(s.t, within, func() error {
		if !evaluate[bool](s, "Boolean("+expression+")") {
			return fmt.Errorf("not yet: %s", expression)
		}
		return nil
	})
}

// run starts the next round, watches three players, stops, and reads results and books.
func (h *hostPages) run() {
	h.t.Helper()
	w := h.window
	w.click("tab-rounds")
	players := joinPlayers(h.t, h.code, 3, h.instance)
	w.click("start-next")
	h.both("document.body.dataset.phase === 'raining'")
	for _, p := range players {
		testkit.Eventually(h.t, soon, func() error {
			if drop := p.NextDrop(); drop != 0 {
				_ = p.Tap(h.t.Context(), drop, time.Now()) // what came of it shows in what was won
			}
			if len(p.Won()) == 0 {
				return fmt.Errorf("%s has won nothing", p.ID)
			}
			return nil
		})
	}
	h.hold()
	evaluate[bool](w, "document.activeElement.blur() === undefined")
	w.do(chromedp.KeyEvent("x"))
	w.click("dialog-yes")
	h.both("document.body.dataset.phase === 'closed'")
	h.results(players)
}

// hold freezes the round in one window, which both show, and releases it again.
func (h *hostPages) hold() {
	h.t.Helper()
	h.window.click("show-claims")
	h.window.click("freeze")
	h.window.click("dialog-yes")
	h.both("document.querySelector('" + byTestName("frozen") + "')")
	testkit.Eventually(h.t, soon, func() error { // not while a claim is on its way into the books
		if evaluate[bool](h.window, "document.querySelector('"+byTestName("release")+"')?.click() === undefined && document.querySelector('"+byTestName("frozen")+"') !== null") {
			return fmt.Errorf("the round is still on hold")
		}
		return nil
	})
	h.other.await("!document.querySelector('" + byTestName("frozen") + "')")
}

// results sorts and searches the claims.
func (h *hostPages) results(players []*bots.Player) {
	h.t.Helper()
	w := h.window
	w.click("show-claims")
	var won []int64
	for _, p := range players {
		for _, cents := range p.Won() {
			won = append(won, int64(cents))
		}
	}
	w.await(fmt.Sprintf("document.querySelectorAll('%s').length === %d", byTestName("claim-row"), len(won)))
	w.click("sort-cents")
	slices.SortFunc(won, func(a, b int64) int { return int(b - a) })
	w.await(fmt.Sprintf("[...document.querySelectorAll('%s')].map((one) => one.dataset.cents).join() === %q", byTestName("claim-row"), joinNumbers(won)))
	w.fill("claims-search", "玩家1")
	w.await(fmt.Sprintf("document.querySelectorAll('%s').length === %d", byTestName("claim-row"), len(players[1].Won())))
	if round := players[0].Round(); round.Phase != game.Closed && round.Phase != game.Settled {
		h.t.Errorf("the players' round is %s", round.Phase)
	}
}

func joinNumbers(numbers []int64) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(numbers), " ", ","), "[]")
}
