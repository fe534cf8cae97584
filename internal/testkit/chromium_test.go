package testkit

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

const measure = "`${innerWidth}×${innerHeight} ${navigator.maxTouchPoints > 0} ${document.cookie}`"

func serveDocument(t *testing.T, document string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, document)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func evaluate(t *testing.T, page context.Context, script string) string {
	t.Helper()
	result, err := chromedp.Run(page, chromedp.Evaluate[string](script))
	if err != nil {
		t.Fatalf("%s: %v", script, err)
	}
	return result
}

func TestPagesHaveTheirOwnSizeAndCookies(t *testing.T) {
	url := serveDocument(t, `<!doctype html><meta name="viewport" content="width=device-width"><p>抢红包 🧧`)
	browser := Chromium(t)
	phone, screen := browser.Page(PhoneScreen), browser.Page(BigScreen)
	for _, page := range []context.Context{phone, screen} {
		if err := chromedp.Do(page, chromedp.Navigate(url)); err != nil {
			t.Fatal(err)
		}
	}
	evaluate(t, phone, "document.cookie = 'player=ann'")
	if got, want := evaluate(t, phone, measure), "390×844 true player=ann"; got != want {
		t.Errorf("phone: %s, want %s", got, want)
	}
	if got, want := evaluate(t, screen, measure), "1920×1080 false "; got != want {
		t.Errorf("screen: %s, want %s", got, want)
	}
}

// complaints stands for the test of a page and keeps what would have failed it.
type complaints struct {
	testing.TB
	atEnd []func()
	said  []string
}

func (c *complaints) Cleanup(end func()) { c.atEnd = append(c.atEnd, end) }

func (c *complaints) Errorf(format string, args ...any) {
	c.said = append(c.said, fmt.Sprintf(format, args...))
}

func TestUncaughtExceptionFailsTheTest(t *testing.T) {
	url := serveDocument(t, `<!doctype html><script>throw new Error('the rain stopped')</script>`)
	test := &complaints{TB: t}
	browser := Chromium(t).In(test)
	if err := chromedp.Do(browser.Page(LaptopScreen), chromedp.Navigate(url)); err != nil {
		t.Fatal(err)
	}
	for _, end := range test.atEnd {
		end()
	}
	if len(test.said) != 1 || !strings.Contains(test.said[0], "the rain stopped") {
		t.Errorf("complaints: %q", test.said)
	}
}
