package main

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"redrain/internal/testkit"
)

// evening is one room full of browsers: a host with two windows, the big screen, and two phones, one of them with a second
// tab, the other with a clock that is 10 minutes off.
type evening struct {
	*instance
	t        *testing.T
	database string
	language string
	code     string // of the room
	round    string
	total    int64 // cents

	host, hostAgain, screen, ann, annsTab, bob *sheet
}

// A whole round on the embedded defaults, by clicking only, in both languages: what every page shows adds up to the books to
// the cent, nothing is asked of any other site, and the content policy stops nothing.
func TestARoundInBrowsers(t *testing.T) {
	t.Run("in Chinese, until sold out", func(t *testing.T) {
		e := openEvening(t, "zh-CN", 888)
		e.makeRoom("年会现场", "房间")
		e.makeRound(map[string]string{"title": "开门红", "total_cents": "8.88", "packets": "12", "duration_ms": "40", "cap": "6", "countdown_ms": "4", "drops_per_second": "10"},
			"pace-burst")
		e.comeIn("小红", "🧧 阿明")
		e.start()
		e.countDown()
		e.play(6)
		e.end("sold_out", 12)
	})
	t.Run("in English and calm, until stopped", func(t *testing.T) {
		e := openEvening(t, "en-GB", 10_000)
		for _, s := range []*sheet{e.screen, e.ann, e.annsTab, e.bob} {
			s.calm()
		}
		e.makeRoom("Annual party", "Rooms")
		e.makeRound(map[string]string{"title": "Opening", "total_cents": "100", "packets": "50", "duration_ms": "40", "cap": "4", "countdown_ms": "4", "bomb_percent": "0"},
			"pace-burst", "split-dealt")
		e.comeIn("Ann", "Bob <b>")
		e.start()
		e.countDown()
		e.play(4)
		e.host.click("stop")
		e.host.click("dialog-yes")
		e.end("stopped", 8)
	})
	pictureForREADME(t)
}

func openEvening(t *testing.T, language string, total int64) *evening {
	t.Helper()
	browser := testkit.Chromium(t)
	e := &evening{t: t, language: language, total: total, database: t.TempDir() + "/books.db"}
	e.instance = startInstance(t, "DATABASE_URL=sqlite:"+e.database)
	e.host = newSheet(t, browser, testkit.LaptopScreen, "the host", e.url, language)
	e.hostAgain = e.host.newTab(testkit.LaptopScreen, "the host's second window", e.url, language)
	e.screen = newSheet(t, browser, testkit.BigScreen, "the screen", e.url, language)
	e.ann = newSheet(t, browser, testkit.PhoneScreen, "Ann", e.url, language)
	e.annsTab = e.ann.newTab(testkit.PhoneScreen, "Ann's second tab", e.url, language)
	e.bob = newSheet(t, browser, testkit.PhoneScreen, "Bob", e.url, language)
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

// makeRoom logs in and makes a room; rooms is the word for them on the page.
func (e *evening) makeRoom(name, rooms string) {
	e.t.Helper()
	e.host.open("/host")
	e.host.picture("host-login")
	e.host.fill("password", password)
	e.host.click("login")
	e.host.awaitPhase("rooms")
	if words := e.host.text("no-rooms") + see[string](e.host, "document.querySelector('h1').innerText"); !strings.Contains(words, rooms) {
		e.t.Errorf("the host's page is not in %s: %q", e.language, words)
	}
	e.host.fill("room-name", name)
	e.host.click("make-room")
	e.host.awaitPhase("waiting")
	e.code = see[string](e.host, "document.querySelector('"+at("room-code")+"').dataset.code")
	e.hostAgain.open("/host#/" + e.code)
	e.hostAgain.awaitPhase("waiting")
}

// makeRound fills the form in, sees what the settings mean, and makes the round.
func (e *evening) makeRound(fields map[string]string, choices ...string) {
	e.t.Helper()
	h := e.host
	h.click("new-round")
	h.click("more")
	for name, text := range fields {
		h.fill(name, text)
	}
	for _, name := range choices {
		h.choose(name)
	}
	h.await("document.querySelector('" + at("preview") + "').dataset.ready === 'true'")
	least, most := h.number("preview", "min"), h.number("preview", "max")
	if least < 1 || most < least || most > 10_000 {
		e.t.Errorf("the preview shows amounts from %d to %d cents", least, most)
	}
	h.picture("host-form")
	h.click("create-round")
	h.await("document.querySelector('" + at("start") + "')")
	e.round = see[string](h, "document.querySelector('"+at("round")+"').dataset.round")
	e.hostAgain.open("/host")
	e.hostAgain.open("/host#/" + e.code)
	e.hostAgain.await("document.querySelector('" + at("start") + "')")
}

// comeIn opens the big screen, and brings Ann in by the code and Bob by the link of the QR code.
func (e *evening) comeIn(ann, bob string) {
	e.t.Helper()
	e.screen.open("/screen/" + e.code)
	e.screen.awaitPhase("waiting")
	e.screen.await("document.querySelector('" + at("qr") + "').naturalWidth > 0")

	e.ann.open("/")
	e.ann.picture("join")
	e.ann.fill("code", e.code)
	e.ann.fill("nickname", ann)
	e.ann.click("join")
	e.ann.awaitPhase("waiting")
	e.annsTab.open("/r/" + e.code)
	e.annsTab.awaitPhase("waiting")

	e.bob.open("/r/" + e.code)
	e.bob.awaitPhase("entry")
	e.bob.picture("player-entry")
	e.bob.fill("nickname", bob)
	e.bob.click("join")
	e.bob.awaitPhase("waiting")
	for s, name := range map[*sheet]string{e.ann: ann, e.annsTab: ann, e.bob: bob} {
		if shown := s.text("you"); !strings.Contains(shown, name) {
			e.t.Errorf("%s is called %q, not %q", s.who, shown, name)
		}
	}
	e.bob.picture("player-waiting")
	e.screen.picture("screen-waiting")
	for _, s := range []*sheet{e.host, e.screen} {
		s.await("document.querySelector('" + at("online") + "').dataset.count === '2'") // people, not tabs
	}
}

// start clicks start twice in each of the host's windows.
//
// Case 34: elsewhere a second click, or a second host, started a second round or got an error. Here there is one round, both
// windows show it, and none of them complains; nor does an impatient click meet a button that has just come and undoes it all.
func (e *evening) start() {
	e.t.Helper()
	var clicking sync.WaitGroup
	for _, window := range []*sheet{e.host, e.hostAgain} {
		x := see[float64](window, middle("start", "left", "width"))
		y := see[float64](window, middle("start", "top", "height"))
		clicking.Go(func() {
			window.do(chromedp.MouseClickXY(x, y, chromedp.ClickCount(1)), chromedp.MouseClickXY(x, y, chromedp.ClickCount(2)))
		})
	}
	clicking.Wait()
	for _, window := range []*sheet{e.host, e.hostAgain} {
		window.await("['countdown', 'raining'].includes(document.body.dataset.phase)")
		if rounds := see[[]string](window, "[...document.querySelectorAll('"+at("round")+"')].map((one) => one.dataset.round)"); !slices.Equal(rounds, []string{e.round}) {
			e.t.Errorf("%s has the rounds %v, want only %s", window.who, rounds, e.round)
		}
		if see[bool](window, "document.querySelector('.toast-bad') !== null") {
			e.t.Errorf("%s complains: %s", window.who, window.text("toast"))
		}
	}
}

func middle(name, edge, size string) string {
	return fmt.Sprintf("(({ %s, %s }) => %s + %s / 2)(document.querySelector('%s').getBoundingClientRect())", edge, size, edge, size, at(name))
}

// countDown sees the seconds of the countdown on all pages at once.
//
// Case 26: elsewhere a phone whose clock was 10 minutes off saw a wrong countdown, or no rain at all. Here Bob's shows the
// same seconds as everybody's, and then the same drops at the same height.
func (e *evening) countDown() {
	e.t.Helper()
	seconds := "Number(document.querySelector('" + at("countdown") + "')?.innerText ?? NaN)"
	pages := []*sheet{e.ann, e.annsTab, e.bob, e.screen}
	for _, s := range pages {
		s.await(seconds + " > 0")
	}
	var shown []float64
	for _, s := range pages {
		shown = append(shown, see[float64](s, seconds))
	}
	if shown[0] > 4 || slices.Max(shown)-slices.Min(shown) > 1 { // a second may pass while they are read
		e.t.Errorf("the countdown shows %v on Ann's two pages, on Bob's and on the screen", shown)
	}
	e.bob.picture("player-countdown")
	e.screen.picture("screen-countdown")
	for _, s := range append(pages, e.host, e.hostAgain) {
		s.awaitPhase("raining")
	}
	wantSameFall(e.t, e.ann, e.bob)
}

// wantSameFall finds the same drops at the same height on two phones of the same size. Reading takes a moment, in which they
// fall a little.
func wantSameFall(t *testing.T, a, b *sheet) {
	t.Helper()
	testkit.Eventually(t, soon, func() error {
		before, there, after := heights(a), heights(b), heights(a)
		compared := 0
		for id, y := range there {
			from, seenBefore := before[id]
			to, seenAfter := after[id]
			if !seenBefore || !seenAfter {
				continue
			}
			if y < from-40 || y > to+40 {
				t.Fatalf("drop %d is at %v on one phone, and went from %v to %v on the other", id, y, from, to)
			}
			compared++
		}
		if compared == 0 {
			return fmt.Errorf("no drop is on both phones: %v, %v, %v", before, there, after)
		}
		return nil
	})
}

func heights(s *sheet) map[int64]float64 {
	falling := make(map[int64]float64)
	for _, one := range s.dropsInReach("packet") {
		falling[one.Drop] = one.Y
	}
	return falling
}

// play lets both players win so many packets each; Bob reloads in between.
//
// Case 8: elsewhere two tabs of one player had two results. Here they show the same claims.
//
// Case 30: elsewhere a reload in the middle of a round lost what one had won. Here it is all there again, and the rain goes on.
func (e *evening) play(each int64) {
	e.t.Helper()
	e.bob.tapDrops(2)
	count, sum := e.bob.number("claims-count", "count"), e.bob.number("sum", "cents")
	e.bob.do(chromedp.Reload())
	e.bob.awaitPhase("raining")
	if countNow, sumNow := e.bob.number("claims-count", "count"), e.bob.number("sum", "cents"); countNow != count || sumNow != sum {
		e.t.Errorf("after a reload Bob has %d claims of %d cents, before it were %d of %d", countNow, sumNow, count, sum)
	}
	wantSameFall(e.t, e.ann, e.bob)
	e.ann.tapDrops(1)
	e.annsTab.await(fmt.Sprintf("document.querySelector('%s').dataset.count === '1'", at("claims-count")))
	e.annsTab.tapDrops(each - 1) // the other tab takes over
	e.ann.await(fmt.Sprintf("document.querySelector('%s').dataset.count === '%d'", at("claims-count"), each-1))
	e.bob.picture("player-raining")
	e.host.picture("host-raining")
	e.screen.picture("screen-raining")
	e.ann.tapDrops(each)
	e.bob.tapDrops(each)
}

// end waits for the end everywhere, and adds up.
func (e *evening) end(reason string, claims int) {
	e.t.Helper()
	for _, s := range []*sheet{e.ann, e.annsTab, e.bob, e.screen} {
		s.awaitPhase("closed")
		s.await(fmt.Sprintf("document.querySelector('%s')?.dataset.reason === %q", at("reason"), reason))
	}
	anns, bobs := e.ann.numbers("claim", "cents"), e.bob.numbers("claim", "cents")
	if tab := e.annsTab.numbers("claim", "cents"); !slices.Equal(slices.Sorted(slices.Values(anns)), slices.Sorted(slices.Values(tab))) {
		e.t.Errorf("Ann's two tabs show the claims %v and %v", anns, tab)
	}
	if len(anns)+len(bobs) != claims || sum(anns) != e.ann.number("sum", "cents") || sum(bobs) != e.bob.number("sum", "cents") {
		e.t.Errorf("the phones show %v = %d and %v = %d, want %d claims", anns, e.ann.number("sum", "cents"), bobs, e.bob.number("sum", "cents"), claims)
	}
	given := sum(anns) + sum(bobs)
	e.screen.await(fmt.Sprintf("document.querySelector('%s').dataset.cents === '%d'", at("claimed-cents"), given))
	for _, window := range []*sheet{e.host, e.hostAgain} {
		window.await(fmt.Sprintf("document.querySelector('%s').dataset.cents === '%d'", at("claimed-cents"), given))
		if left := window.number("left-cents", "cents"); left != e.total-given {
			e.t.Errorf("%s shows %d cents left of %d after %d", window.who, left, e.total, given)
		}
		window.click("show-claims")
		window.await(fmt.Sprintf("document.querySelectorAll('%s').length === %d", at("claim-row"), claims))
		if rows := window.numbers("claim-row", "cents"); sum(rows) != given {
			e.t.Errorf("%s lists claims of %d cents, the phones show %d", window.who, sum(rows), given)
		}
	}
	e.books(slices.Concat(anns, bobs))
	e.bob.picture("player-end")
	e.screen.picture("screen-end")
	e.host.picture("host-end")
}

// books holds what the players saw against the claims and against the database.
func (e *evening) books(seen []int64) {
	e.t.Helper()
	host := hostOf(e.t, e.instance)
	audit(e.t, host, e.round, nil)
	claims, err := host.Claims(e.t.Context(), e.round)
	if err != nil {
		e.t.Fatal(err)
	}
	var booked []int64
	for _, claim := range claims {
		booked = append(booked, int64(claim.Cents))
	}
	slices.Sort(seen)
	slices.Sort(booked)
	if !slices.Equal(seen, booked) {
		e.t.Errorf("the phones show %v, the claims are %v", seen, booked)
	}
	books, err := sql.Open("sqlite", "file:"+e.database+"?mode=ro")
	if err != nil {
		e.t.Fatal(err)
	}
	defer books.Close()
	var total, packets, cents int64
	row := books.QueryRowContext(e.t.Context(), "SELECT total_cents, claimed_packets, claimed_cents FROM rounds WHERE id = ?", e.round)
	if err := row.Scan(&total, &packets, &cents); err != nil {
		e.t.Fatal(err)
	}
	if total != e.total || packets != int64(len(seen)) || cents != sum(seen) {
		e.t.Errorf("the database has %d packets of %d cents of %d, the pages show %d of %d of %d", packets, cents, total, len(seen), sum(seen), e.total)
	}
}

func sum(amounts []int64) int64 {
	var total int64
	for _, amount := range amounts {
		total += amount
	}
	return total
}
