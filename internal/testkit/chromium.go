package testkit

import (
	"context"
	"fmt"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// Screen is the size of a page in CSS pixels.
type Screen struct {
	Width, Height int64
	Scale         float64 // device pixels a CSS pixel
	Handheld      bool    // touch, portrait and the mobile viewport rules, as phones and tablets have them
}

// The screens that the product is made for.
var (
	PhoneScreen  = Screen{Width: 390, Height: 844, Scale: 2, Handheld: true}
	TabletScreen = Screen{Width: 820, Height: 1180, Scale: 1, Handheld: true}
	LaptopScreen = Screen{Width: 1280, Height: 800, Scale: 1}
	BigScreen    = Screen{Width: 1920, Height: 1080, Scale: 1}
)

// Emulate gives a page this size from now on.
func (s Screen) Emulate() chromedp.Action[chromedp.Void] {
	options := []chromedp.EmulateViewportOption{chromedp.EmulateScale(s.Scale)}
	if s.Handheld {
		options = append(options, chromedp.EmulatePortrait, chromedp.EmulateMobile, chromedp.EmulateTouch)
	}
	return chromedp.EmulateViewport(s.Width, s.Height, options...)
}

// Browser is one headless Chromium. Pages may be opened and driven by several goroutines, each page by
// one at a time.
type Browser struct {
	t   testing.TB
	ctx context.Context
}

// chromiumNames are the programs that will do, the first one found is taken.
var chromiumNames = []string{"chromium", "chromium-browser", "google-chrome"}

// running bounds how many browsers run at a time in one test binary: pages that get no time to draw miss what lasts for seconds only.
var running = make(chan struct{}, 2)

// Chromium starts a browser with a profile of its own, and ends it with the test. Options come after the
// defaults and win: Chromium(t, chromedp.Flag("lang", "zh-CN")). Without a Chromium the test is skipped,
// see Missing. It waits while two other tests have a browser, so a test must not start a second one.
func Chromium(t testing.TB, options ...chromedp.ExecAllocatorOption) *Browser {
	t.Helper()
	path := findChromium()
	if path == "" {
		Missing(t, "chromium", "chromium")
	}
	running <- struct{}{}
	t.Cleanup(func() { <-running })
	options = append(quietFlags(path), options...)
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	ctx, _ := chromedp.NewContext(allocator) // its cancel function would not wait for the browser to end
	t.Cleanup(func() {
		withTimeout, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		if err := chromedp.Cancel(withTimeout); err != nil {
			t.Logf("close chromium: %v", err)
		}
	})
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("start chromium: %v", err)
	}
	return &Browser{t: t, ctx: ctx}
}

func findChromium() string {
	for _, name := range chromiumNames {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// quietFlags keep Chromium to the pages under test: no network of its own, no sandbox (root has none),
// no graphics card.
func quietFlags(path string) []chromedp.ExecAllocatorOption {
	options := append([]chromedp.ExecAllocatorOption{}, chromedp.DefaultExecAllocatorOptions[:]...)
	return append(options,
		chromedp.ExecPath(path),
		chromedp.NoSandbox,
		chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-domain-reliability", true),
		chromedp.Flag("no-pings", true),
		chromedp.Flag("mute-audio", true),
	)
}

// In is the same browser for a test within the one that started it: pages that it opens end with that test, which also
// fails for what is uncaught in them.
func (b *Browser) In(t testing.TB) *Browser {
	return &Browser{t: t, ctx: b.ctx}
}

// Page opens an empty page with cookies and storage of its own, as another person's device would have.
// An uncaught exception in it fails the test when that ends. The context is for chromedp.Run and Do.
func (b *Browser) Page(screen Screen) context.Context {
	b.t.Helper()
	var mu sync.Mutex
	var uncaught []string
	listen := chromedp.WithListener(func(event any) {
		if thrown, ok := event.(*runtime.EventExceptionThrown); ok {
			mu.Lock()
			defer mu.Unlock()
			uncaught = append(uncaught, exceptionText(thrown))
		}
	})
	page, closePage := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext(), listen)
	b.t.Cleanup(func() {
		closePage()
		mu.Lock()
		defer mu.Unlock()
		for _, exception := range uncaught {
			b.t.Errorf("uncaught in the page: %s", exception)
		}
	})
	if err := chromedp.Do(page, screen.Emulate()); err != nil {
		b.t.Fatalf("open page: %v", err)
	}
	return page
}

func exceptionText(thrown *runtime.EventExceptionThrown) string {
	details := thrown.ExceptionDetails
	text := details.Text
	if details.Exception != nil && details.Exception.Description != "" {
		text = details.Exception.Description
	}
	return fmt.Sprintf("%s (%s:%d)", text, details.URL, details.LineNumber+1)
}
