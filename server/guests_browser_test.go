package main

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/uuid"

	"redrain/internal/bots"
	"redrain/internal/testkit"
)

// manyGuests is a crowd beyond what a page should draw or a server should send at each join.
const manyGuests = 10_000

// openCrowd is an instance with a room of so many guests: 客人 0 joined first.
func openCrowd(t *testing.T, guests int) (in *instance, room string) {
	t.Helper()
	path := t.TempDir() + "/books.db"
	in = startInstance(t, "DATABASE_URL=sqlite:"+path)
	room = newRoom(t, loginHost(t, in))
	books, err := sql.Open("sqlite", "file:"+path+"?_busy_timeout=10000")
	if err != nil {
		t.Fatal(err)
	}
	defer books.Close()
	began := time.Now().Add(-time.Hour).UnixMilli()
	rows := make([]string, guests)
	for i := range rows {
		rows[i] = fmt.Sprintf("('%s', '%s', '客人 %d', %d)", uuid.NewString(), room, i, began+int64(i)*300)
	}
	for some := range slices.Chunk(rows, 1000) {
		if _, err := books.ExecContext(t.Context(), "INSERT INTO players (id, room, nickname, joined_at) VALUES "+strings.Join(some, ", ")); err != nil {
			t.Fatal(err)
		}
	}
	return in, room
}

// networkConditions are those that a browser plays, see
// https://chromedevtools.github.io/devtools-protocol/tot/Network#method-emulateNetworkConditions.
type networkConditions struct {
	Offline            bool    `json:"offline"`
	Latency            float64 `json:"latency"`            // ms from a request to its answer, at least
	DownloadThroughput float64 `json:"downloadThroughput"` // bytes a second, -1: as it is
	UploadThroughput   float64 `json:"uploadThroughput"`
}

var emulateNetwork = cdp.Command[networkConditions, cdp.Empty]{Method: "Network.emulateNetworkConditions"}

// slowLine gives a page the latency of a poor mobile network.
func (s *browserPage) slowLine(latency time.Duration) {
	s.t.Helper()
	conditions := networkConditions{Latency: float64(latency.Milliseconds()), DownloadThroughput: -1, UploadThroughput: -1}
	if _, err := chromedp.Call(s.ctx, emulateNetwork, conditions); err != nil {
		s.t.Fatal(err)
	}
}

// joinContinuously lets guests in, five a second, until the test or the returned function ends it. That returns how many came.
func joinContinuously(t *testing.T, in *instance, room string) (stop func() int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var joins sync.WaitGroup
	joined := 0
	joins.Go(func() {
		every := time.NewTicker(200 * time.Millisecond)
		defer every.Stop()
		for ctx.Err() == nil {
			select {
			case <-ctx.Done():
			case <-every.C:
				if _, err := bots.Join(t.Context(), in.url, "", room, fmt.Sprint("新来的 ", joined)); err == nil {
					joined++
				} else if ctx.Err() == nil {
					t.Errorf("join: %v", err)
				}
			}
		}
	})
	stop = func() int {
		cancel()
		joins.Wait()
		return joined
	}
	t.Cleanup(func() { stop() })
	return stop
}

const rowCount = `document.querySelectorAll('[data-test="player"]').length`

// A room of 10,000 guests on a phone behind a slow line, while five more join each second: the list opens at once and keeps
// up, more of it is shown by keyboard, a search finds the first guest of all, and who is renamed or blocked shows at once.
func TestLongPlayersListStaysUsable(t *testing.T) {
	t.Parallel()
	in, room := openCrowd(t, manyGuests)
	browser := testkit.Chromium(t)
	for _, language := range []string{"zh-CN", "en-GB"} {
		t.Run(language, func(t *testing.T) {
			s := newBrowserPage(t, browser.In(t), testkit.PhoneScreen, "the host", in.url, language)
			s.calm()
			s.open("/host")
			s.fill("password", password)
			s.click("login")
			s.awaitPhase("rooms")
			stop := joinContinuously(t, in, room)
			s.slowLine(450 * time.Millisecond)
			s.open("/host#/" + room)
			s.awaitPhase("waiting")
			s.openList()
			s.followJoins()
			s.showMore()
			s.findFirst(language)
			s.click("players-search")
			s.fill("players-search", "x")
			s.fill("players-search", "新来的")
			s.await("document.querySelector('" + byTestName("players") + "').dataset.sought === '新来的' && " + rowCount + " > 0")
			s.do(chromedp.KeyEvent(kb.Escape)) // empties the field
			joined := int64(stop())
			s.await("document.querySelector('" + byTestName("players") + "').dataset.sought === ''")
			testkit.Eventually(t, soon, func() error {
				if count := s.number("players", "count"); count < manyGuests+joined {
					return fmt.Errorf("%d guests are counted", count)
				}
				return nil
			})
			s.readable("10,000 guests")
			s.fits("10,000 guests")
			s.accessible("10,000 guests")
		})
	}
}

// openList opens the tab, and finds the first page within a couple of seconds.
func (s *browserPage) openList() {
	s.t.Helper()
	took := evaluatePromise[float64](s, fmt.Sprintf(`new Promise((done) => {
		const began = performance.now();
		document.querySelector('%s').click();
		const look = () => (%s >= 50 ? done(performance.now() - began) : setTimeout(look, 10));
		look();
	})`, byTestName("tab-players"), rowCount))
	s.t.Logf("the first page of 10,000 guests is there after %.0f ms", took)
	if took > 2000 {
		s.t.Errorf("the list took %.0f ms", took)
	}
	if rows := evaluate[int](s, rowCount); rows != 50 {
		s.t.Errorf("%d rows are drawn at first", rows)
	}
}

// followJoins sees newcomers on top and counted, by small answers.
func (s *browserPage) followJoins() {
	s.t.Helper()
	before := s.number("players", "count")
	evaluate[bool](s, "performance.clearResourceTimings() === undefined")
	s.await(fmt.Sprintf("document.querySelector('%s').dataset.count >= %d", byTestName("players"), before+8))
	s.await("document.querySelector('" + byTestName("player") + "').innerText.includes('新来的')")
	const sizes = `performance.getEntriesByType('resource').filter(({ name }) => name.includes('/players?')).map(({ transferSize }) => transferSize)`
	for _, size := range evaluate[[]int](s, sizes) {
		if size > 8000 {
			s.t.Errorf("an answer about newcomers has %d bytes", size)
		}
	}
}

// showMore shows the next page by keyboard, and finds the focus on its first row.
func (s *browserPage) showMore() {
	s.t.Helper()
	last := evaluate[string](s, "[...document.querySelectorAll('"+byTestName("player")+"')].at(-1).dataset.player")
	evaluate[bool](s, "document.querySelector('"+byTestName("more-players")+"').focus() === undefined")
	s.press(kb.Enter)
	s.await(rowCount + " >= 95")
	s.await("document.activeElement.matches('" + byTestName("rename") + "')")
	if !evaluate[bool](s, fmt.Sprintf("[...document.querySelectorAll('%s')].some((row) => row.dataset.player === %q)", byTestName("player"), last)) {
		s.t.Error("who was shown is not any more")
	}
	s.picture(fmt.Sprintf("host-players-more-%dx%d", s.screen.Width, s.screen.Height))
}

// findFirst searches the oldest guest, renames and blocks them, and lets them in again.
func (s *browserPage) findFirst(language string) {
	s.t.Helper()
	s.fill("players-search", "客人 77")
	s.fill("players-search", "客人 7777")
	s.await(rowCount + " === 1")
	s.click("rename")
	s.await("document.activeElement.matches('" + byTestName("new-name") + "')")
	name := "客人 7777 " + language
	s.fill("new-name", name)
	s.press(kb.Enter)
	s.await(fmt.Sprintf("document.querySelector('%s')?.innerText.includes(%q)", byTestName("player"), name))
	s.await("document.activeElement.matches('" + byTestName("rename") + "')")
	s.click("block")
	s.await(fmt.Sprintf("document.querySelector('%s')?.innerText === %q", byTestName("dialog-about"), name))
	s.readable("the question")
	s.accessible("the question")
	s.picture(fmt.Sprintf("host-block-%dx%d", s.screen.Width, s.screen.Height))
	s.click("dialog-yes")
	s.await("document.querySelector('" + byTestName("player") + "').dataset.blocked === 'true'")
	s.await("document.activeElement.matches('" + byTestName("unblock") + "')")
	s.accessible("a blocked guest")
	s.click("unblock")
	s.await("document.querySelector('" + byTestName("player") + "').dataset.blocked === 'false'")
}

// Rows stay under the finger of who is at work on the list, and who joins meanwhile waits above it. When the server does not
// answer the list says that it is not up to date, and catches up by itself.
func TestPlayersListIsHeldDuringUseAndShowsItsAge(t *testing.T) {
	t.Parallel()
	browser := testkit.Chromium(t)
	in := startInstance(t)
	cut := testkit.NewSwallowProxy(t, strings.TrimPrefix(in.url, "http://"))
	room := newRoom(t, loginHost(t, in))
	join := func(name string) {
		t.Helper()
		if _, err := bots.Join(t.Context(), in.url, "", room, name); err != nil {
			t.Fatal(err)
		}
	}
	join("Ann")
	s := newBrowserPage(t, browser, testkit.PhoneScreen, "the host", "http://"+cut.Addr, "en-GB")
	s.calm()
	s.open("/host#/" + room + "/players")
	s.fill("password", password)
	s.click("login")
	s.await(rowCount + " === 1")
	s.click("rename")
	join("Bob")
	s.await("document.querySelector('" + byTestName("players-new") + "')?.dataset.count === '1'")
	if rows := evaluate[int](s, rowCount); rows != 1 {
		t.Errorf("%d rows while one of them is at work on", rows)
	}
	s.accessible("somebody waits above")
	s.picture("host-players-held-390x844")
	s.fill("new-name", "Anna")
	s.press(kb.Enter)
	s.await(rowCount + " === 2") // once nobody touches it any more
	if first := s.text("player"); !strings.Contains(first, "Bob") {
		t.Errorf("the newest is not first: %q", first)
	}

	cut.Refuse()
	cut.Cut()
	s.await("document.querySelector('" + byTestName("stale") + "')")
	join("Cat")
	s.accessible("the list is old")
	s.picture("host-players-stale-390x844")
	cut.Heal()
	s.await(rowCount + " === 3 && !document.querySelector('" + byTestName("stale") + "')")
}

// The list is within the width of phones, tablets and desks, readable in both languages, and keeps nobody out in either theme.
func TestPlayersListFitsEveryScreen(t *testing.T) {
	t.Parallel()
	in, room := openCrowd(t, 120)
	browser := testkit.Chromium(t)
	for i, screen := range []testkit.Screen{testkit.PhoneScreen, testkit.TabletScreen, {Width: 1440, Height: 900, Scale: 1}} {
		s := newBrowserPage(t, browser, screen, "the host", in.url, []string{"zh-CN", "en-GB"}[i%2])
		s.calm()
		s.open("/host#/" + room + "/players")
		s.fill("password", password)
		s.click("login")
		s.await(rowCount + " === 50")
		s.await("document.querySelector('" + byTestName("doors") + "')")
		for _, theme := range []string{"one theme", "the other theme"} {
			s.readable(theme)
			s.fits(theme)
			s.accessible(theme)
			s.picture(fmt.Sprintf("host-guests-%dx%d-%s", screen.Width, screen.Height, strings.ReplaceAll(theme, " ", "-")))
			s.click("theme")
		}
	}
}
