package main

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"redrain/internal/testkit"
)

// browserPage is one page in a browser, driven by clicking and typing as people do. It is for one goroutine at a time. With the
// test it complains about requests to anybody but the site, about what the content policy stopped, and about console errors.
type browserPage struct {
	t        testing.TB
	who      string
	site     string
	language string // as browsers ask for it: zh-CN
	screen   testkit.Screen
	late     time.Duration // between seeing something and touching it
	ctx      context.Context

	mu         sync.Mutex
	complaints []string
}

// newBrowserPage opens an empty page on a device of its own.
func newBrowserPage(t testing.TB, browser *testkit.Browser, screen testkit.Screen, who, site, language string) *browserPage {
	t.Helper()
	return newPageDriver(t, browser.Page(screen), screen, who, site, language)
}

// newTab opens another page on the same device: they share cookies and storage.
func (s *browserPage) newTab(screen testkit.Screen, who, site, language string) *browserPage {
	s.t.Helper()
	ctx, end := chromedp.NewContext(s.ctx)
	s.t.Cleanup(end)
	tab := newPageDriver(s.t, ctx, screen, who, site, language)
	tab.do(screen.Emulate())
	return tab
}

func newPageDriver(t testing.TB, ctx context.Context, screen testkit.Screen, who, site, language string) *browserPage {
	t.Helper()
	s := &browserPage{t: t, who: who, site: site, language: language, screen: screen, ctx: ctx}
	if err := chromedp.Listen(ctx, s.notice); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, complaint := range s.complaints {
			t.Errorf("%s: %s", who, complaint)
		}
	})
	agent := evaluate[string](s, "navigator.userAgent")
	for _, enable := range []func() error{
		func() error { _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); return err },
		func() error {
			_, err := chromedp.Call(ctx, emulation.SetUserAgentOverride, emulation.SetUserAgentOverrideParams{UserAgent: agent, AcceptLanguage: language})
			return err
		},
	} {
		if err := enable(); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// notice hears what the browser reports of the page.
func (s *browserPage) notice(event any) {
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		s.askedFor(e.Request.URL)
	case *network.EventWebSocketCreated:
		s.askedFor(e.URL)
	case *log.EventEntryAdded:
		// The network's entries are refusals that the page expects (who am I?) and cuts that tests make.
		if e.Entry.Source != log.EntrySourceNetwork && (e.Entry.Level == log.EntryLevelError || e.Entry.Source == log.EntrySourceSecurity) {
			s.complain("the browser says: " + e.Entry.Text)
		}
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			s.complain(fmt.Sprintf("the page wrote a console %s", e.Type))
		}
	}
}

func (s *browserPage) askedFor(address string) {
	asked, err := url.Parse(address)
	if err != nil {
		s.complain(err.Error())
		return
	}
	own := strings.TrimPrefix(s.site, "http://")
	if asked.Host != own && asked.Scheme != "data" && asked.Scheme != "blob" && asked.Scheme != "about" {
		s.complain("the page asked another host: " + address)
	}
}

func (s *browserPage) complain(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.complaints = append(s.complaints, text)
}

// do does something in the page, and fails the test with what the page showed when that takes too long.
func (s *browserPage) do(actions ...chromedp.Action[chromedp.Void]) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.ctx, soon)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		s.fail("%v", err)
	}
}

func (s *browserPage) fail(format string, values ...any) {
	s.t.Helper()
	shown, err := chromedp.Run(s.ctx, chromedp.Evaluate[string]("`${location} ${document.body.dataset.phase}\n${document.body.innerText}`"))
	s.t.Fatalf("%s: %s; the page shows (%v)\n%s", s.who, fmt.Sprintf(format, values...), err, shown)
}

// see evaluates an expression in a page.
func evaluate[T any](s *browserPage, expression string) T {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.ctx, soon)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		s.t.Fatalf("%s: %s: %v", s.who, expression, err)
	}
	return value
}

// promised evaluates an expression in a page and waits for what it promises, without asking again and again.
func evaluatePromise[T any](s *browserPage, expression string) T {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.ctx, time.Minute)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		s.fail("%s: %v", expression, err)
	}
	return value
}

// lookEvery is the pause between two looks at a page: looking takes time from the page's own work.
const lookEvery = 10 * time.Millisecond

// await waits until an expression is true in the page.
func (s *browserPage) await(expression string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.ctx, soon)
	defer cancel()
	for {
		// A page that is being left cannot be asked; the next one can.
		if yes, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("Boolean("+expression+")")); err == nil && yes {
			return
		}
		if ctx.Err() != nil {
			s.fail("not within %v: %s", soon, expression)
		}
		time.Sleep(lookEvery)
	}
}

func (s *browserPage) awaitPhase(phase string) {
	s.t.Helper()
	s.await(fmt.Sprintf("document.body.dataset.phase === %q", phase))
}

// at is the selector of what a test may touch or read.
func byTestName(name string) string { return fmt.Sprintf(`[data-test="%s"]`, name) }

func (s *browserPage) open(path string) {
	s.t.Helper()
	s.do(chromedp.Navigate(s.site + path))
}

// inRound is the selector of what stands in the part of the host's page that shows one round.
func inRound(round, name string) string {
	return fmt.Sprintf(`[data-round="%s"] %s`, round, byTestName(name))
}

func (s *browserPage) click(name string) {
	s.t.Helper()
	s.clickOn(byTestName(name))
}

func (s *browserPage) clickOn(selector string) {
	s.t.Helper()
	s.awaitStill(selector)
	s.do(chromedp.Click(chromedp.CSS(selector), chromedp.NodeVisible))
}

// awaitStill waits until an element is where it was a moment ago. A click goes to where its element was when it was looked for: on
// a page that is just moving it meets another one.
func (s *browserPage) awaitStill(selector string) {
	s.t.Helper()
	const still = `(async (find) => {
		const place = () => { const { x, y } = find().getBoundingClientRect(); return [Math.round(x), Math.round(y)].join(); };
		if (!find()) return false;
		const before = place();
		await new Promise((resolve) => setTimeout(resolve, 60));
		return find() !== null && place() === before;
	})(() => document.querySelector(%q))`
	testkit.Eventually(s.t, soon, func() error {
		if !evaluatePromise[bool](s, fmt.Sprintf(still, selector)) {
			return fmt.Errorf("%s: %s is not there, or does not hold still", s.who, selector)
		}
		return nil
	})
}

// touch puts a finger on a place of a phone or tablet, and clicks there with the mouse elsewhere.
func (s *browserPage) touch(x, y float64) {
	s.t.Helper()
	if s.screen.Handheld {
		s.do(chromedp.TapXY(x, y))
	} else {
		s.do(chromedp.MouseClickXY(x, y))
	}
}

// choose clicks the label around a choice: the choice itself is drawn by its label.
func (s *browserPage) choose(name string) {
	s.t.Helper()
	s.clickOn(fmt.Sprintf("label:has(%s)", byTestName(name)))
}

// fill replaces what is in a field by typing.
func (s *browserPage) fill(name, text string) {
	s.t.Helper()
	s.click(name)
	evaluate[bool](s, fmt.Sprintf("document.querySelector('%s').select() === undefined", byTestName(name)))
	s.do(chromedp.KeyEvent(text))
	s.await(fmt.Sprintf("document.querySelector('%s').value === %q", byTestName(name), text))
}

// number is a count or an amount in cents of an element: those stand in attributes, whatever the language; -1: no such
// element.
func (s *browserPage) number(name, attribute string) int64 {
	s.t.Helper()
	return s.numberOn(byTestName(name), attribute)
}

func (s *browserPage) numberOn(selector, attribute string) int64 {
	s.t.Helper()
	text := evaluate[string](s, fmt.Sprintf("document.querySelector('%s')?.dataset.%s ?? '-1'", selector, attribute))
	number, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		s.fail("%s of %s: %v", attribute, selector, err)
	}
	return number
}

// numbers are those of all elements of a name, in the order in which the page shows them.
func (s *browserPage) numbers(name, attribute string) []int64 {
	s.t.Helper()
	return evaluate[[]int64](s, fmt.Sprintf("[...document.querySelectorAll('%s')].map((one) => Number(one.dataset.%s))", byTestName(name), attribute))
}

func (s *browserPage) text(name string) string {
	s.t.Helper()
	return evaluate[string](s, fmt.Sprintf("document.querySelector('%s')?.innerText ?? ''", byTestName(name)))
}

// beforeEachDocument runs a script before the scripts of every page that is opened from now on.
func (s *browserPage) beforeEachDocument(script string) {
	s.t.Helper()
	if _, err := chromedp.Call(s.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script}); err != nil {
		s.t.Fatal(err)
	}
}

// calm gives a page the setting of people who want less motion.
func (s *browserPage) calm() {
	s.t.Helper()
	if _, err := chromedp.Call(s.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-reduced-motion", Value: "reduce"}},
	}); err != nil {
		s.t.Fatal(err)
	}
}
