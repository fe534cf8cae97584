package api

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
)

// mimeTypes maps the extensions of served files to media types. It does not depend on the operating system's table, which may be
// missing, since browsers refuse modules of another type. Files with other extensions are not served.
var mimeTypes = map[string]string{
	".css":         "text/css; charset=utf-8",
	".html":        "text/html; charset=utf-8",
	".ico":         "image/x-icon",
	".jpg":         "image/jpeg",
	".js":          "text/javascript; charset=utf-8",
	".json":        "application/json",
	".mp3":         "audio/mpeg",
	".png":         "image/png",
	".svg":         "image/svg+xml",
	".txt":         "text/plain; charset=utf-8",
	".webmanifest": "application/manifest+json",
	".webp":        "image/webp",
	".woff2":       "font/woff2",
}

// incompressible lists the types that are compressed already.
var incompressible = map[string]bool{".jpg": true, ".mp3": true, ".png": true, ".webp": true, ".woff2": true}

// asset is one file in memory, ready to be served. Its gzipped form has an ETag of its own, since its bytes differ.
type asset struct {
	mimeType   string
	plain      []byte
	tag        string
	gzipped    []byte // nil if gzip would not make it smaller
	gzippedTag string
}

// The files of the pages.
const (
	pageJoin   = "join/index.html"
	pagePlayer = "player/index.html"
	pageHost   = "host/index.html"
	pageScreen = "screen/index.html"
)

// assetFiles are all files of the browser's side, in memory: they are a few hundred kilobytes. They are not served by a standard
// file server, since that neither packs text (once, at the start), nor has preloaded modules, nor an address for each release.
type assetFiles struct {
	byName  map[string]*asset
	release string // the hash of all files: a path element of their addresses in pages, and so of what modules import
}

// loadAssets reads all files. public is the site's URL, or empty.
func loadAssets(files fs.FS, public string) (*assetFiles, error) {
	release, err := hashFiles(files)
	if err != nil {
		return nil, fmt.Errorf("read the pages: %w", err)
	}
	assets := map[string]*asset{}
	err = walkServed(files, func(name string, content []byte) (err error) {
		if path.Ext(name) == ".html" {
			content = addRelease(preloadModules(addPictureOrigin(content, public), func(name string) []byte {
				source, _ := fs.ReadFile(files, name) // a missing module fails in the browser and in the tests of the pages
				return source
			}), release)
		}
		assets[name], err = newAsset(name, content)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the pages: %w", err)
	}
	for _, page := range []string{pageJoin, pagePlayer, pageHost, pageScreen} {
		if assets[page] == nil {
			return nil, fmt.Errorf("read the pages: %s is missing", page)
		}
	}
	return &assetFiles{assets, release}, nil
}

// hashFiles returns a path element that changes with any file.
func hashFiles(files fs.FS) (string, error) {
	hash := sha256.New()
	err := walkServed(files, func(name string, content []byte) error {
		_, err := fmt.Fprintf(hash, "%s %d\n%s", name, len(content), content)
		return err
	})
	return releasePrefix + hex.EncodeToString(hash.Sum(nil)[:8]), err
}

// releasePrefix tells a release in an address from a folder.
const releasePrefix = "~"

// addRelease makes a page load its files by addresses that belong to one release. Pictures for link previews keep their addresses,
// which other services remember.
func addRelease(page []byte, release string) []byte {
	page = bytes.ReplaceAll(page, []byte(`href="/assets/`), []byte(`href="/assets/`+release+`/`))
	return bytes.ReplaceAll(page, []byte(`src="/assets/`), []byte(`src="/assets/`+release+`/`))
}

// walkServed reads every file that is served, in lexical order.
func walkServed(files fs.FS, visit func(name string, content []byte) error) error {
	return fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && entry.Name() == "node_modules" {
			return fs.SkipDir
		}
		if entry.IsDir() || !isServed(name) {
			return nil
		}
		content, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		return visit(name, content)
	})
}

// isServed reports whether browsers need a file; tests and type checks need further ones.
func isServed(name string) bool {
	base := path.Base(name)
	switch base {
	case "package.json", "package-lock.json", "tsconfig.json":
		return false
	}
	return mimeTypes[path.Ext(base)] != "" && !strings.HasPrefix(base, ".") &&
		!strings.Contains(base, ".test.") && !strings.Contains("/"+name, "/testdata/")
}

// addPictureOrigin makes the URLs of link preview pictures absolute: services that fetch them do not accept relative ones.
func addPictureOrigin(page []byte, public string) []byte {
	return bytes.ReplaceAll(page, []byte(`content="/assets/`), []byte(`content="`+public+`/assets/`))
}

func newAsset(name string, content []byte) (*asset, error) {
	sum := sha256.Sum256(content)
	hash := hex.EncodeToString(sum[:16])
	file := &asset{
		mimeType: mimeTypes[path.Ext(name)], plain: content,
		tag: `"` + hash + `"`, gzippedTag: `"` + hash + `-gzip"`,
	}
	if incompressible[path.Ext(name)] {
		return file, nil
	}
	packed, err := compress(content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(packed) < len(content) {
		file.gzipped = packed
	}
	return file, nil
}

func compress(content []byte) ([]byte, error) {
	var packed bytes.Buffer
	writer, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := writer.Write(content); err != nil {
		return nil, err
	}
	if err := writer.Close(); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}

// How browsers keep a file: a page is revalidated every time, so that after an update it asks for the files of the new release;
// those have addresses of their own, and never change.
const (
	revalidated = "no-cache"
	immutable   = "public, max-age=31536000, immutable"
)

// serve answers with the file, or with 304 if the browser has it.
func (a *asset) serve(c echo.Context, cacheControl string) error {
	header := c.Response().Header()
	header.Set(echo.HeaderContentType, a.mimeType)
	header.Set(echo.HeaderCacheControl, cacheControl)
	content, tag := a.plain, a.tag
	if a.gzipped != nil {
		header.Add(echo.HeaderVary, echo.HeaderAcceptEncoding)
		if acceptsGzip(c.Request().Header.Get(echo.HeaderAcceptEncoding)) {
			content, tag = a.gzipped, a.gzippedTag
			header.Set(echo.HeaderContentEncoding, "gzip")
		}
	}
	header.Set("ETag", tag)
	ignoreRanges(c)
	http.ServeContent(c.Response(), c.Request(), "", time.Time{}, bytes.NewReader(content))
	return nil
}

// ignoreRanges makes http.ServeContent answer with the whole file. Files are small, and a request for many ranges of one costs
// far more than the file.
func ignoreRanges(c echo.Context) {
	c.Request().Header.Del("Range")
	c.Request().Header.Del("If-Range")
	c.Response().Before(func() { c.Response().Header().Set("Accept-Ranges", "none") }) // after ServeContent has set it
}

// acceptsGzip reports whether an Accept-Encoding header accepts gzip. An entry for gzip takes precedence over one for *.
func acceptsGzip(header string) bool {
	accepted := false
	for _, part := range strings.Split(header, ",") {
		coding, parameters, _ := strings.Cut(strings.TrimSpace(part), ";")
		weight := strings.ReplaceAll(strings.ToLower(parameters), " ", "")
		wanted := !strings.HasPrefix(weight, "q=0") || strings.Trim(weight, "q=0.") != ""
		switch strings.ToLower(strings.TrimSpace(coding)) {
		case "gzip":
			return wanted
		case "*":
			accepted = wanted
		}
	}
	return accepted
}

// page serves one of the pages.
func (s *Server) page(name string) echo.HandlerFunc {
	return func(c echo.Context) error { return s.assets.byName[name].serve(c, revalidated) }
}

// roomPage serves a page of a room, whatever the code: the page itself shows that a room does not exist. The check for slashes is
// needed because Echo's last path parameter may contain them. One at the end is borne: messengers and people add it.
func (s *Server) roomPage(name string) echo.HandlerFunc {
	return func(c echo.Context) error {
		if code := strings.TrimSuffix(c.Param("code"), "/"); code == "" || strings.Contains(code, "/") {
			return errPageNotFound
		}
		return s.assets.byName[name].serve(c, revalidated)
	}
}

// serveAsset serves any other file: /assets/shared/base.css and /assets/RELEASE/shared/base.css are shared/base.css. Pages have
// addresses of their own. During an update a page of one release may ask an instance of another: it gets the file that is here, and
// does not keep it.
func (s *Server) serveAsset(c echo.Context) error {
	name, cacheControl := c.Param("*"), revalidated
	if strings.HasPrefix(name, releasePrefix) {
		var release string
		if release, name, _ = strings.Cut(name, "/"); release == s.assets.release {
			cacheControl = immutable
		}
	}
	file := s.assets.byName[name]
	if file == nil || path.Ext(name) == ".html" {
		return errPageNotFound
	}
	return file.serve(c, cacheControl)
}
