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

// mimeTypes are the files that are served, and as what: a machine may lack a table of types, and browsers refuse modules
// of another type. Whatever is not here stays inside, so do sources of checks and notes.
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

// incompressible types are packed already.
var incompressible = map[string]bool{".jpg": true, ".mp3": true, ".png": true, ".webp": true, ".woff2": true}

// asset is one file, ready to be served. The packed form has its own tag: it is another sequence of bytes.
type asset struct {
	mimeType  string
	plain     []byte
	tag       string
	packed    []byte // gzip, nil where that would not be smaller
	packedTag string
}

// The pages, by the file in which each lives.
const (
	pageJoin   = "join/index.html"
	pagePlayer = "player/index.html"
	pageHost   = "host/index.html"
	pageScreen = "screen/index.html"
)

// loadAssets reads all of the browser's files into memory, once: they are a few hundred kilobytes. public is the site's
// address, or empty.
func loadAssets(files fs.FS, public string) (map[string]*asset, error) {
	assets := map[string]*asset{}
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && entry.Name() == "node_modules" {
			return fs.SkipDir
		}
		if entry.IsDir() || !served(name) {
			return nil
		}
		content, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		if path.Ext(name) == ".html" {
			content = preloadModules(withPictures(content, public), func(name string) []byte {
				source, _ := fs.ReadFile(files, name) // what is not there fails in the browser, and in the pages' tests
				return source
			})
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
	return assets, nil
}

// served tells what browsers need from what only checks need.
func served(name string) bool {
	base := path.Base(name)
	switch base {
	case "package.json", "package-lock.json", "tsconfig.json":
		return false
	}
	return mimeTypes[path.Ext(base)] != "" && !strings.HasPrefix(base, ".") &&
		!strings.Contains(base, ".test.") && !strings.Contains("/"+name, "/testdata/")
}

// withPictures spells out where the pictures of shared links are: those who fetch them do not take an address without a host.
func withPictures(page []byte, public string) []byte {
	return bytes.ReplaceAll(page, []byte(`content="/assets/`), []byte(`content="`+public+`/assets/`))
}

func newAsset(name string, content []byte) (*asset, error) {
	sum := sha256.Sum256(content)
	hash := hex.EncodeToString(sum[:16])
	file := &asset{
		mimeType: mimeTypes[path.Ext(name)], plain: content,
		tag: `"` + hash + `"`, packedTag: `"` + hash + `-gzip"`,
	}
	if incompressible[path.Ext(name)] {
		return file, nil
	}
	packed, err := pack(content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(packed) < len(content) {
		file.packed = packed
	}
	return file, nil
}

func pack(content []byte) ([]byte, error) {
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

// serve answers with the file, or 304 to a browser that has it. Browsers ask every time: after an update no page may mix
// old modules with new ones.
func (a *asset) serve(c echo.Context) error {
	header := c.Response().Header()
	header.Set(echo.HeaderContentType, a.mimeType)
	header.Set(echo.HeaderCacheControl, "no-cache")
	content, tag := a.plain, a.tag
	if a.packed != nil {
		header.Add(echo.HeaderVary, echo.HeaderAcceptEncoding)
		if acceptsGzip(c.Request().Header.Get(echo.HeaderAcceptEncoding)) {
			content, tag = a.packed, a.packedTag
			header.Set(echo.HeaderContentEncoding, "gzip")
		}
	}
	header.Set("ETag", tag)
	http.ServeContent(c.Response(), c.Request(), "", time.Time{}, bytes.NewReader(content))
	return nil
}

// acceptsGzip reads an Accept-Encoding header: gzip by name decides, else what is said of everything else.
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
func (s *Server) page(name string) echo.HandlerFunc { return s.assets[name].serve }

// roomPage serves a page of a room, whatever the code: the page itself says that there is no such room. Echo's last
// parameter would take further slashes too.
func (s *Server) roomPage(name string) echo.HandlerFunc {
	return func(c echo.Context) error {
		if code := c.Param("code"); code == "" || strings.Contains(code, "/") {
			return errPageNotFound
		}
		return s.assets[name].serve(c)
	}
}

// serveAsset serves any other file: /assets/shared/base.css is shared/base.css. Pages have addresses of their own.
func (s *Server) serveAsset(c echo.Context) error {
	file := s.assets[c.Param("*")]
	if file == nil || path.Ext(c.Param("*")) == ".html" {
		return errPageNotFound
	}
	return file.serve(c)
}
