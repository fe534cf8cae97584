package api

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"path"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"redrain/web"
)

func TestPagesAreServedAtTheirPaths(t *testing.T) {
	r := newTestServer(t)
	for path, title := range map[string]string{
		"/": "join", "/r/RAXN88": "player", "/r/raxn88": "player", "/host": "host", "/screen/RAXN88": "screen", "/r/RAXN88/": "player", "/host/": "host", "/screen/RAXN88/": "screen", "/r/RAXN88?lang=en": "player",
	} {
		response := r.call("GET", path, "")
		if response.Code != 200 || !strings.Contains(response.Body.String(), "<title>"+title+"</title>") ||
			response.Header().Get("Content-Type") != "text/html; charset=utf-8" {
			t.Errorf("%s: got %d %s", path, response.Code, response.Body)
		}
		if head := r.call("HEAD", path, ""); head.Code != 200 || head.Body.Len() != 0 {
			t.Errorf("HEAD %s: got %d with %d bytes", path, head.Code, head.Body.Len())
		}
	}
}

func TestFilesAreRevalidated(t *testing.T) {
	r := newTestServer(t)
	for _, path := range []string{"/", "/assets/shared/app.js", "/assets/shared/base.css", "/assets/shared/icon.png"} {
		first := r.call("GET", path, "")
		tag := first.Header().Get("ETag")
		if first.Code != 200 || len(tag) < 34 || first.Header().Get("Cache-Control") != "no-cache" {
			t.Fatalf("%s: got %d, tag %s, %s", path, first.Code, tag, first.Header().Get("Cache-Control"))
		}
		again := r.call("GET", path, "", withHeader("If-None-Match", tag))
		if again.Code != http.StatusNotModified || again.Body.Len() != 0 || again.Header().Get("ETag") != tag {
			t.Errorf("%s again: got %d with %d bytes", path, again.Code, again.Body.Len())
		}
		if changed := r.call("GET", path, "", withHeader("If-None-Match", `"older"`)); changed.Code != 200 || changed.Body.Len() == 0 {
			t.Errorf("%s after an update: got %d", path, changed.Code)
		}
	}
}

// What a page loads belongs to the page's release and is kept for good; the next release has other addresses, and whoever asks for
// the files of another release, as during an update of several instances, gets those that are here without keeping them.
func TestFilesOfAReleaseAreKeptForGood(t *testing.T) {
	r := newTestServer(t)
	release, err := hashFiles(testPages())
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"/assets/" + release + "/shared/app.js":             immutable,
		"/assets/" + release + "/shared/icon.png":           immutable,
		"/assets/shared/app.js":                             revalidated,
		"/assets/~0123456789abcdef/shared/app.js":           revalidated,
		"/assets/" + release + "/" + release + "/app.js":    "",
		"/assets/" + release + "/host/index.html":           "",
		"/assets/" + release + "/nothing.js":                "",
		"/assets/" + release:                                "",
		"/assets/" + release + "/shared/testdata/a.json":    "",
		"/assets/" + release + "/../" + release + "/go.mod": "",
	} {
		response := r.call("GET", path, "")
		if got := response.Header().Get("Cache-Control"); want == "" && (response.Code != 404 || got == immutable) || want != "" && got != want {
			t.Errorf("%s: got %d, %q", path, response.Code, got)
		}
	}

	assets, err := loadAssets(web.Files, "")
	if err != nil {
		t.Fatal(err)
	}
	for name, file := range assets.byName {
		for _, match := range loadedFile.FindAllStringSubmatch(string(file.plain), -1) {
			if path.Ext(name) == ".html" && !strings.HasPrefix(match[1], assets.release+"/") || path.Ext(name) != ".html" {
				t.Errorf("%s loads %s without naming its release", name, match[1])
			}
		}
	}
	changed := fstest.MapFS{}
	for name, file := range testPages().(fstest.MapFS) {
		changed[name] = &fstest.MapFile{Data: append(bytes.Clone(file.Data), ' ')}
	}
	if next, err := hashFiles(changed); err != nil || next == release {
		t.Errorf("the next release is %s, %v", next, err)
	}
}

var loadedFile = regexp.MustCompile(`(?:href|src|url|from|import)\s*[=(:]?\s*["'(]/assets/([^"')]+)`)

func TestTextFilesAreCompressedIfAccepted(t *testing.T) {
	r := newTestServer(t)
	plain := r.call("GET", "/assets/shared/app.js", "")
	packed := r.call("GET", "/assets/shared/app.js", "", withHeader("Accept-Encoding", "gzip, deflate, br"))
	if packed.Header().Get("Content-Encoding") != "gzip" || packed.Header().Get("Vary") != "Accept-Encoding" ||
		packed.Header().Get("ETag") == plain.Header().Get("ETag") || packed.Body.Len() >= plain.Body.Len() {
		t.Fatalf("got %v with %d bytes of %d", packed.Header(), packed.Body.Len(), plain.Body.Len())
	}
	reader, err := gzip.NewReader(bytes.NewReader(packed.Body.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if unpacked, err := io.ReadAll(reader); err != nil || !bytes.Equal(unpacked, plain.Body.Bytes()) {
		t.Errorf("packed and plain differ, %v", err)
	}
	tag := packed.Header().Get("ETag")
	if again := r.call("GET", "/assets/shared/app.js", "", withHeader("Accept-Encoding", "gzip"), withHeader("If-None-Match", tag)); again.Code != 304 {
		t.Errorf("the packed form again: got %d", again.Code)
	}
	if image := r.call("GET", "/assets/shared/icon.png", "", withHeader("Accept-Encoding", "gzip")); image.Header().Get("Content-Encoding") != "" {
		t.Error("a picture is packed twice")
	}
}

// Thousands of ranges of one file cost far more than the file, so every answer is the whole file.
func TestRangesAreIgnored(t *testing.T) {
	r := newTestServer(t)
	for _, path := range []string{"/", "/r/RAXN88", "/assets/shared/app.js", "/assets/shared/icon.png"} {
		whole := r.call("GET", path, "")
		if got := whole.Header().Get("Accept-Ranges"); got != "none" {
			t.Errorf("%s: Accept-Ranges is %q", path, got)
		}
		tag := whole.Header().Get("ETag")
		for _, ranges := range []string{
			"bytes=0-0", "bytes=-1", "bytes=5-", "bytes=999999999-", "bytes=nonsense", "bytes=0-0" + strings.Repeat(",0-0", 3000),
		} {
			for _, validator := range []string{"", tag, `"other"`} {
				got := r.call("GET", path, "", withHeader("Range", ranges), withHeader("If-Range", validator))
				if got.Code != 200 || !bytes.Equal(got.Body.Bytes(), whole.Body.Bytes()) || got.Header().Get("Content-Range") != "" {
					t.Errorf("%s, Range %.30s, If-Range %s: got %d with %d bytes", path, ranges, validator, got.Code, got.Body.Len())
				}
			}
		}
		if again := r.call("GET", path, "", withHeader("Range", "bytes=0-0"), withHeader("If-None-Match", tag)); again.Code != 304 {
			t.Errorf("%s again: got %d", path, again.Code)
		}
	}
}

func TestAcceptsGzip(t *testing.T) {
	for header, want := range map[string]bool{
		"": false, "gzip": true, "GZIP": true, "br, gzip;q=0.5": true, "gzip;q=0": false, "gzip; q=0.000": false, "gzip; q=0.001": true,
		"*": true, "*;q=0": false, "gzip;q=0, *": false, "*, gzip;q=0": false, "*;q=0, gzip": true, "deflate, br": false, "identity": false,
	} {
		if got := acceptsGzip(header); got != want {
			t.Errorf("%q: got %v", header, got)
		}
	}
}

func TestFilesHaveMediaTypes(t *testing.T) {
	r := newTestServer(t)
	for path, want := range map[string]string{
		"/assets/shared/app.js": "text/javascript; charset=utf-8", "/assets/shared/base.css": "text/css; charset=utf-8",
		"/assets/shared/icon.png": "image/png",
	} {
		if got := r.call("GET", path, "").Header().Get("Content-Type"); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}

func TestDevelopmentFilesAreNotServed(t *testing.T) {
	r := newTestServer(t)
	for _, path := range []string{
		"/assets/shared/app.test.js", "/assets/shared/testdata/a.json", "/assets/shared/types.d.ts", "/assets/shared/NOTES.md",
		"/assets/package.json", "/assets/node_modules/typescript/tsc.js", "/assets/host/index.html", "/assets/", "/assets/shared",
		"/assets/../package.json", "/assets/%2e%2e/go.mod", "/assets/shared/..%2fapp.js", "/package.json", "/nothing", "/r", "/r/", "/r/A/B",
	} {
		response := r.call("GET", path, "")
		if response.Code != 404 || response.Header().Get("Content-Type") != "text/html; charset=UTF-8" || !strings.Contains(response.Body.String(), "<h1>404</h1>") {
			t.Errorf("%s: got %d %s", path, response.Code, response.Header().Get("Content-Type"))
		}
	}
}

func TestMissingPageIsAnError(t *testing.T) {
	if _, err := loadAssets(fstest.MapFS{"join/index.html": {Data: []byte("x")}}, ""); err == nil || !strings.Contains(err.Error(), "player/index.html is missing") {
		t.Errorf("got %v", err)
	}
}

// The embedded files: every page exists, and has nothing inline, which the policy forbids.
func TestRealPagesComplyWithTheContentSecurityPolicy(t *testing.T) {
	assets, err := loadAssets(web.Files, "")
	if err != nil {
		t.Fatal(err)
	}
	for name, file := range assets.byName {
		if !strings.HasSuffix(name, ".html") {
			continue
		}
		text := string(file.plain)
		for _, inline := range []string{"<script>", "<style", " style=", " onclick=", " onload=", "javascript:", "https://", "http://"} {
			if strings.Contains(text, inline) {
				t.Errorf("%s has %q", name, inline)
			}
		}
	}
}

// A browser that translates a page replaces its text nodes, and what they show is counted on no more. All words are there in both
// languages.
func TestNoPageIsTranslatedByTheBrowser(t *testing.T) {
	assets, err := loadAssets(web.Files, "")
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]string{"the page for a wrong address": newTestServer(t).call("GET", "/nothing", "").Body.String()}
	for name, file := range assets.byName {
		if strings.HasSuffix(name, ".html") {
			pages[name] = string(file.plain)
		}
	}
	for name, text := range pages {
		_, root, _ := strings.Cut(text, "<html")
		root, _, _ = strings.Cut(root, ">")
		if !strings.Contains(root, ` translate="no"`) || !strings.Contains(text, `<meta name="google" content="notranslate">`) {
			t.Errorf("%s does not say that it is not to be translated: %s", name, root)
		}
	}
}

func TestLinkPreviewPicturesHaveAbsoluteURLs(t *testing.T) {
	pages := fstest.MapFS{}
	for name, file := range testPages().(fstest.MapFS) {
		pages[name] = file
	}
	pages["player/index.html"] = &fstest.MapFile{Data: []byte(`<meta property="og:image" content="/assets/shared/share.png"><script src="/assets/a.js">`)}
	for public, want := range map[string]string{
		"":                         `<meta property="og:image" content="/assets/shared/share.png"><script src="/assets/RELEASE/a.js">`,
		"https://rain.example.org": `<meta property="og:image" content="https://rain.example.org/assets/shared/share.png"><script src="/assets/RELEASE/a.js">`,
	} {
		r := newTestServer(t, func(o *Options) { o.Pages, o.PublicURL = pages, public })
		release, err := hashFiles(pages)
		if err != nil {
			t.Fatal(err)
		}
		want = strings.ReplaceAll(want, "RELEASE", release)
		if got := r.call("GET", "/r/RAXN88", "").Body.String(); got != want {
			t.Errorf("with PUBLIC_URL %q the page is %s", public, got)
		}
	}
}
