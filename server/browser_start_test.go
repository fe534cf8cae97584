package main

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"

	"redrain/internal/testkit"
)

// losingLine is a way to an instance on which some answers get lost: of each path, without its release, as many as lost says.
type losingLine struct {
	mu   sync.Mutex
	lost map[string]int
}

var releaseOfFile = regexp.MustCompile("^/assets/~[0-9a-f]+/")

func (l *losingLine) loses(path string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	path = releaseOfFile.ReplaceAllString(path, "/assets/")
	l.lost[path]--
	return l.lost[path] >= 0
}

func newLosingLine(t *testing.T, in *instance, lost map[string]int) string {
	t.Helper()
	target, err := url.Parse(in.url)
	if err != nil {
		t.Fatal(err)
	}
	line, proxy := &losingLine{lost: lost}, httputil.NewSingleHostReverseProxy(target)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if line.loses(r.URL.Path) {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

const (
	always      = 1 << 30
	deepModule  = "/assets/shared/view.js"
	noticeShown = "getComputedStyle(document.querySelector('#not-running')).visibility === 'visible'"
)

// Pages start though a module or a style sheet was lost once, or the browser's language is no language tag. Where they cannot
// start they say so in both languages, also with calm mode's ban on animations, and where no script runs at all.
func TestPagesStartOrSayThatTheyCannot(t *testing.T) {
	t.Parallel()
	in, browser := startInstance(t), testkit.Chromium(t)
	open := func(who, path string, lost map[string]int) *browserPage {
		s := newBrowserPage(t, browser, testkit.PhoneScreen, who, newLosingLine(t, in, lost), "en")
		s.beforeEachDocument("Object.defineProperty(navigator, 'language', { value: 'en-US@posix', configurable: true })")
		s.open(path)
		return s
	}
	styles := "getComputedStyle(document.querySelector('#page')).display === 'contents'"
	for _, path := range []string{"/", "/host", "/r/WXYZ23", "/screen/WXYZ23"} {
		s := open("the page "+path+" with a module lost once", path, map[string]int{deepModule: 1, "/assets/shared/base.css": 1})
		s.await("document.querySelector('#page').childElementCount > 0 && !document.querySelector('#page noscript')")
		s.await("document.querySelector('#not-running') === null && " + styles)
	}

	broken := open("a page whose module is always lost", "/", map[string]int{deepModule: always})
	broken.await(noticeShown)
	if got := evaluate[string](broken, "document.querySelector('#not-running').innerText"); !saysBoth(got) {
		t.Errorf("the page says only %q", got)
	}

	bare := open("a page without scripts", "/", map[string]int{deepModule: always, "/assets/shared/load-again.js": always})
	evaluate[string](bare, "document.documentElement.dataset.calm = 'true'")
	bare.await(noticeShown)
}

// saysBoth reports whether words tell in Chinese and in English to load a page again.
func saysBoth(words string) bool {
	return strings.Contains(words, "重新加载") && strings.Contains(words, "load it again")
}

// A server that cannot answer for a while, as while it starts again, does not leave a phone standing: its page says so, and comes in
// by itself once there is an answer.
func TestAPhoneGetsInWhenTheServerCan(t *testing.T) {
	t.Parallel()
	in, browser := startInstance(t), testkit.Chromium(t)
	room := newRoom(t, loginHost(t, in))
	line := newLosingLine(t, in, map[string]int{"/api/rooms/" + room: 3})
	phone := newBrowserPage(t, browser, testkit.PhoneScreen, "a phone", line, "en")
	phone.open("/r/" + room)
	phone.awaitPhase("failed")
	phone.awaitFor(soon, "document.body.dataset.phase === 'entry'")
}
