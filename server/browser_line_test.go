package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"redrain/internal/testkit"
)

// The network of a phone is cut in the middle of a round, and comes back: the page says so at once, comes back by itself, and
// has what the player won meanwhile on another device.
func TestAPhoneComesBackAfterACut(t *testing.T) {
	t.Parallel()
	browser := testkit.Chromium(t)
	in := startInstance(t)
	cut := testkit.NewSwallowProxy(t, strings.TrimPrefix(in.url, "http://"))
	host := loginHost(t, in)
	code := newRoom(t, host)

	phone := newBrowserPage(t, browser, testkit.PhoneScreen, "the phone behind the cut", "http://"+cut.Addr, "en")
	phone.calm()
	phone.open("/r/" + code)
	phone.awaitPhase("entry")
	phone.fill("nickname", "Ann")
	phone.click("join")
	phone.awaitPhase("waiting")
	other := phone.newTab(testkit.PhoneScreen, "the same player's other line", in.url, "en") // cookies know no ports
	other.calm()
	other.open("/r/" + code)
	other.awaitPhase("waiting")

	round := newRound(t, host, code, map[string]any{
		"total_cents": 2000, "packets": 200, "cap": 20, "pace": "burst", "countdown_ms": 0, "duration_ms": 600_000, "bomb_percent": 0,
	})
	startRound(t, host, round.ID)
	phone.awaitPhase("raining")
	phone.tapDrops(1)
	state := func(s *browserPage) string {
		return evaluate[string](s, "document.querySelector('"+byTestName("connection")+"').dataset.state")
	}
	if got := state(phone); got != "open" {
		t.Errorf("before the cut the connection is %s", got)
	}

	cut.Refuse()
	cut.Cut()
	phone.await("['waiting', 'connecting'].includes(document.querySelector('" + byTestName("connection") + "').dataset.state)")
	if words := phone.text("connection"); words == "" {
		t.Error("a cut connection is not told in words")
	}
	phone.accessible("cut off")
	other.tapDrops(3)
	if count := phone.number("claims-count", "count"); count != 1 {
		t.Errorf("the phone behind the cut knows of %d claims", count)
	}

	cut.Heal()
	phone.await("document.querySelector('" + byTestName("connection") + "').dataset.state === 'open'")
	phone.await(fmt.Sprintf("document.querySelector('%s').dataset.count === '3'", byTestName("claims-count")))
	if phones, others := phone.number("sum", "cents"), other.number("sum", "cents"); phones != others {
		t.Errorf("the phone shows %d cents, the other line %d", phones, others)
	}
	phone.tapDrops(4) // and plays on
	other.await(fmt.Sprintf("document.querySelector('%s').dataset.count === '4'", byTestName("claims-count")))
	audit(t, host, round.ID, nil)
}

// The watch over all these pages sees what it is there for: a page that asks another host, and what the policy stops.
func TestTheWatchOverPagesSees(t *testing.T) {
	in := startInstance(t)
	s := newBrowserPage(t, testkit.Chromium(t), testkit.LaptopScreen, "a page", in.url, "en")
	s.open("/")
	s.do(chromedp.Evaluate[chromedp.Void](`void fetch('http://127.0.0.2:9/').catch(() => {})`))
	s.do(chromedp.Evaluate[chromedp.Void](`console.error('something is wrong')`))
	if words := s.unreadableWords("en"); len(words) > 0 {
		t.Errorf("the page has words like %q", words)
	}
	s.do(chromedp.Evaluate[chromedp.Void](`document.body.insertAdjacentHTML('beforeend',
		'<p>form.title</p><p>in {n} minutes</p><p>抢红包</p><bdi>小红</bdi><i hidden>form.hidden</i><button aria-label="form.more">…</button>')`))
	if words := s.unreadableWords("en"); !slices.Equal(words, []string{"form.title", "{n}", "抢红包", "form.more"}) {
		t.Errorf("what nobody can read is %q", words)
	}
	testkit.Eventually(t, soon, func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		said := strings.Join(s.complaints, "\n")
		for _, words := range []string{"Content Security Policy", "127.0.0.2", "console error"} {
			if !strings.Contains(said, words) {
				return fmt.Errorf("nothing says %q: %q", words, said)
			}
		}
		s.complaints = nil
		return nil
	})
}

// Elsewhere a phone's tab slept, its socket died without a word, and when it woke it still said that it was connected
// and showed what had been. Here the line is tried as soon as the tab is looked at again, and what was missed is fetched.
func TestATabWakesUpOnADeadLine(t *testing.T) {
	t.Parallel()
	browser := testkit.Chromium(t)
	in := startInstance(t)
	line := testkit.NewSwallowProxy(t, strings.TrimPrefix(in.url, "http://"))
	host := loginHost(t, in)
	code := newRoom(t, host)
	phone := newBrowserPage(t, browser, testkit.PhoneScreen, "the sleeping phone", "http://"+line.Addr, "en")
	phone.calm()
	phone.open("/r/" + code)
	phone.awaitPhase("entry")
	phone.fill("nickname", "Ann")
	phone.click("join")
	phone.awaitPhase("waiting")
	round := newRound(t, host, code, map[string]any{
		"total_cents": 2000, "packets": 200, "cap": 20, "pace": "burst", "countdown_ms": 0, "duration_ms": 600_000, "bomb_percent": 0,
	})
	startRound(t, host, round.ID)
	phone.awaitPhase("raining")
	phone.tapDrops(1)

	line.SwallowReplies(-1, "") // whatever is sent next goes through, and nothing comes back any more
	testkit.Eventually(t, soon, func() error {
		phone.touchOne("packet")
		if claims, err := host.Claims(t.Context(), round.ID); err != nil || len(claims) < 2 {
			return fmt.Errorf("%d claims, %w", len(claims), err)
		}
		return nil
	})
	line.Heal()
	if state := evaluate[string](phone, "document.querySelector('"+byTestName("connection")+"').dataset.state"); state != "open" {
		t.Errorf("the dead line says %s before anybody tries it", state)
	}
	phone.do(chromedp.Evaluate[chromedp.Void]("document.dispatchEvent(new Event('visibilitychange'))"))
	phone.await(fmt.Sprintf("document.querySelector('%s').dataset.count > 1", byTestName("claims-count")))
	phone.await("document.querySelector('" + byTestName("connection") + "').dataset.state === 'open'")
	claims, err := host.Claims(t.Context(), round.ID)
	if err != nil {
		t.Fatal(err)
	}
	if shown := phone.number("claims-count", "count"); shown != int64(len(claims)) {
		t.Errorf("the phone shows %d claims, the books have %d", shown, len(claims))
	}
}

// Elsewhere proxies cut sockets that had been idle for a minute, and a player whose line had died without a word was
// counted for as long. Here both sides ask each other in time: the wall counts the player no more, the phone says that it lost
// the room, and comes back when the line does.
func TestADeadLineIsNoticedOnBothSides(t *testing.T) {
	t.Parallel()
	in, browser := startInstance(t), testkit.Chromium(t)
	line := testkit.NewSwallowProxy(t, strings.TrimPrefix(in.url, "http://"))
	room := newRoom(t, loginHost(t, in))
	wall := newBrowserPage(t, browser, testkit.BigScreen, "the wall", in.url, "en")
	wall.open("/screen/" + room)
	phone := joinByLink(t, browser, &instance{url: "http://" + line.Addr}, room, "Ann")
	online := func(count int) string {
		return fmt.Sprintf("document.querySelector('%s').dataset.count === '%d'", byTestName("online"), count)
	}
	wall.await(online(1))

	line.SwallowReplies(-1, "")
	wall.awaitFor(pingsWithin+soon, online(0))
	phone.awaitFor(pingsWithin+soon, "document.querySelector('"+byTestName("connection")+"').dataset.state !== 'open'")
	line.Heal()
	phone.awaitFor(time.Minute, "document.querySelector('"+byTestName("connection")+"').dataset.state === 'open'")
	wall.await(online(1))
}

// pingsWithin is how long either side of a connection believes in it without hearing anything.
const pingsWithin = 35 * time.Second
