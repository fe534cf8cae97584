package main

import (
	"fmt"
	"strings"
	"testing"

	"redrain/internal/bots"
	"redrain/internal/testkit"
	"redrain/internal/wire"
)

// browserSite is one server with its embedded defaults, and the browser that opens its pages.
type browserSite struct {
	*instance
	browser  *testkit.Browser
	database string     // the file
	books    *bots.Host // reads the books over the API
}

func newBrowserSite(t *testing.T) *browserSite {
	t.Helper()
	v := &browserSite{browser: testkit.Chromium(t), database: t.TempDir() + "/books.db"}
	v.instance = startInstance(t, "DATABASE_URL=sqlite:"+v.database)
	v.books = loginHost(t, v.instance)
	return v
}

// eventPages is one room full of browsers, all of one size: a host, who has a second window on a laptop; the big screen; and two
// players, one of them with a second tab, the other with a clock that is 10 minutes off.
type eventPages struct {
	*browserSite
	t        *testing.T
	size     string
	language string
	code     string       // of the room
	rounds   []wire.Round // in the order in which they are played, as they were planned

	host, hostAgain, screen, ann, annsTab, bob *browserPage
}

// Three rounds are played in browsers by clicking, tapping and typing only, with a host, players and a big screen, in each size and
// both languages: what every page shows agrees with the books to the cent, nothing is requested from other sites, and the content
// security policy blocks nothing. On tablets it ends after the first round.
func TestThreeRoundsByClickingOnEveryScreen(t *testing.T) {
	t.Parallel()
	v := newBrowserSite(t)
	for _, on := range []struct {
		screen   testkit.Screen
		language string
		whole    bool
	}{{testkit.PhoneScreen, "zh-CN", true}, {testkit.TabletScreen, "zh-CN", false}, {testkit.BigScreen, "en-GB", true}} {
		t.Run(screenSize(on.screen)+" in "+on.language, func(t *testing.T) {
			e := v.openEvent(t, on.screen, on.language)
			e.makeRoom()
			e.planThreeRounds()
			e.beginRehearsal()
			e.joinPlayers()
			e.readRehearsal()
			e.playUntilSoldOut(e.rounds[0])
			if on.whole {
				e.playUntilStopped(e.rounds[1])
				e.playCalmly(e.rounds[2])
				e.export()
				e.checkBooksOfAllRounds()
			}
		})
	}
	pictureForREADME(t)
}

func screenSize(screen testkit.Screen) string {
	return fmt.Sprintf("%dx%d", screen.Width, screen.Height)
}

// openEvent gives everybody a device of the size; nobody has opened a page yet.
func (v *browserSite) openEvent(t *testing.T, screen testkit.Screen, language string) *eventPages {
	t.Helper()
	browser := v.browser.In(t)
	e := &eventPages{browserSite: v, t: t, size: screenSize(screen), language: language}
	e.host = newBrowserPage(t, browser, screen, "the host", v.url, language)
	e.host.calm() // what is just fading in has no contrast yet
	e.hostAgain = e.host.newTab(testkit.LaptopScreen, "the host's second window", v.url, language)
	e.screen = newBrowserPage(t, browser, screen, "the screen", v.url, language)
	e.ann = newBrowserPage(t, browser, screen, "Ann", v.url, language)
	e.annsTab = e.ann.newTab(screen, "Ann's second tab", v.url, language)
	e.bob = newBrowserPage(t, browser, screen, "Bob", v.url, language)
	e.bob.beforeEachDocument(tenMinutesFast)
	return e
}

// tenMinutesFast gives a page the clock of a device that is 10 minutes ahead.
const tenMinutesFast = `{
	const ahead = 600_000, RealDate = Date;
	Date = class extends RealDate {
		constructor(...parts) { parts.length > 0 ? super(...parts) : super(RealDate.now() + ahead); }
		static now() { return RealDate.now() + ahead; }
	};
	const { timeOrigin } = performance;
	Object.defineProperty(performance, 'timeOrigin', { get: () => timeOrigin + ahead });
}`

// inLanguage returns the text in the language of these pages.
func (e *eventPages) inLanguage(chinese, english string) string {
	if strings.HasPrefix(e.language, "zh") {
		return chinese
	}
	return english
}

// look finds the page in its language and within its width, and keeps a picture of it where those are wanted.
func (e *eventPages) look(s *browserPage, state string) {
	e.t.Helper()
	s.readable(state)
	s.fits(state)
	s.picture(state + "-" + e.size)
}

// checkLookAndAccess also finds nothing that keeps somebody out.
func (e *eventPages) checkLookAndAccess(s *browserPage, state string) {
	e.t.Helper()
	e.look(s, state)
	s.accessible(state)
}

// bothWindows waits until both of the host's windows show something.
func (e *eventPages) bothWindows(expression string) {
	e.t.Helper()
	e.host.await(expression)
	e.hostAgain.await(expression)
}

// playersAndScreen is everybody who plays or watches.
func (e *eventPages) playersAndScreen() []*browserPage {
	return []*browserPage{e.ann, e.annsTab, e.bob, e.screen}
}

func (e *eventPages) makeRoom() {
	e.t.Helper()
	e.host.open("/host")
	e.host.awaitPhase("login")
	e.checkLookAndAccess(e.host, "host-login")
	e.host.fill("password", password)
	e.host.click("login")
	e.host.awaitPhase("rooms")
	e.host.fill("room-name", e.inLanguage("年会现场", "Annual party"))
	e.checkLookAndAccess(e.host, "host-rooms")
	e.host.click("make-room")
	e.host.awaitPhase("waiting")
	e.code = evaluate[string](e.host, "document.querySelector('"+byTestName("room-code")+"').dataset.code")
	e.hostAgain.open("/host#/" + e.code)
	e.hostAgain.awaitPhase("waiting")
}

// joinPlayers opens the big screen, and brings Ann in by the code and Bob by the link of the QR code.
//
// New players must be in the host's list at once.
func (e *eventPages) joinPlayers() {
	e.t.Helper()
	e.host.click("tab-players")
	e.host.await("document.querySelector('" + byTestName("no-players") + "')")
	e.screen.open("/screen/" + e.code)
	e.screen.awaitPhase("waiting")
	e.screen.await("document.querySelector('" + byTestName("qr") + "').naturalWidth > 0")

	ann, bob := e.inLanguage("小红", "Ann"), e.inLanguage("🧧 阿明", "Bob <b>")
	e.ann.open("/")
	e.look(e.ann, "join")
	e.ann.fill("code", e.code)
	e.ann.fill("nickname", ann)
	e.ann.click("join")
	e.ann.awaitPhase("waiting")
	e.host.await("document.querySelectorAll('" + byTestName("player") + "').length === 1")
	e.annsTab.open("/r/" + e.code)
	e.annsTab.awaitPhase("waiting")

	e.bob.open("/r/" + e.code)
	e.bob.awaitPhase("entry")
	e.look(e.bob, "player-entry")
	e.bob.fill("nickname", bob)
	e.bob.click("join")
	e.bob.awaitPhase("waiting")
	e.host.await("document.querySelectorAll('" + byTestName("player") + "').length === 2")
	for s, name := range map[*browserPage]string{e.ann: ann, e.annsTab: ann, e.bob: bob} {
		if shown := s.text("you"); !strings.Contains(shown, name) {
			e.t.Errorf("%s is called %q, not %q", s.who, shown, name)
		}
	}
	for _, s := range []*browserPage{e.hostAgain, e.screen} {
		s.await("document.querySelector('" + byTestName("online") + "').dataset.count === '2'") // people, not tabs
	}
	e.checkLookAndAccess(e.host, "host-players")
	e.look(e.bob, "player-waiting")
	e.look(e.screen, "screen-waiting")
}
