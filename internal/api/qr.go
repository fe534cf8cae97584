package api

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
	"rsc.io/qr"
)

// quietZone is the width of the empty border that scanners need, in modules (squares of the code).
const quietZone = 4

// showQR answers with a QR code of the URL at which players join a room.
func (s *Server) showQR(c echo.Context) error {
	room, err := s.readRoom(c)
	if err != nil {
		return err
	}
	base, err := s.chooseJoinURL(c)
	if err != nil {
		return err
	}
	code, err := qr.Encode(base+"/r/"+room.Code, qr.M)
	if err != nil {
		return fmt.Errorf("draw QR code: %w", err)
	}
	c.Response().Header().Set(echo.HeaderCacheControl, "no-cache")
	return c.Blob(http.StatusOK, "image/svg+xml", drawQR(code))
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
