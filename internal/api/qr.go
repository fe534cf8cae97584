package api

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/labstack/echo/v4"
	"rsc.io/qr"
)

// quietZone is the width of the empty border that scanners need, in modules (squares of the code).
const quietZone = 4

// hostPattern matches a host with an optional port. A Host header that does not match is never copied into a response.
var hostPattern = regexp.MustCompile(`^([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?$`)

// showQR answers with a QR code of the URL at which players join a room.
func (s *Server) showQR(c echo.Context) error {
	room, err := s.readRoom(c)
	if err != nil {
		return err
	}
	base, ok := s.publicURL(c.Request())
	if !ok {
		return badRequest("", "the Host header is not a host")
	}
	code, err := qr.Encode(base+"/r/"+room.Code, qr.M)
	if err != nil {
		return fmt.Errorf("draw QR code: %w", err)
	}
	c.Response().Header().Set(echo.HeaderCacheControl, "no-cache")
	return c.Blob(http.StatusOK, "image/svg+xml", drawQR(code))
}

// publicURL returns the URL of this site without a slash at its end: PUBLIC_URL, or what this request was sent to. ok is false if
// the Host header is not a host.
func (s *Server) publicURL(r *http.Request) (string, bool) {
	if s.PublicURL != "" {
		return s.PublicURL, true
	}
	scheme := "http"
	if s.Proxies.isHTTPS(r) {
		scheme = "https"
	}
	return scheme + "://" + r.Host, hostPattern.MatchString(r.Host)
}

// drawQR renders a QR code as SVG. Adjacent dark modules of a row become one rectangle of a single path.
func drawQR(code *qr.Code) []byte {
	var path strings.Builder
	for y := range code.Size {
		for x := 0; x < code.Size; x++ {
			from := x
			for x < code.Size && code.Black(x, y) {
				x++
			}
			if x > from {
				fmt.Fprintf(&path, "M%d %dh%dv1h-%dz", from, y, x-from, x-from)
			}
		}
	}
	side := code.Size + 2*quietZone
	return fmt.Appendf(nil, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="%d %d %d %d" shape-rendering="crispEdges">`+
		`<rect x="%d" y="%d" width="%d" height="%d" fill="#fff"/><path d="%s"/></svg>`,
		-quietZone, -quietZone, side, side, -quietZone, -quietZone, side, side, path.String())
}
