package api

import (
	"mime"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"redrain/internal/wire"
)

// maxBody bounds a request's body, in bytes. The largest sensible one, 20 tiers, has 1 KB.
const maxBody = 16 << 10

// readBody reads a JSON body strictly, see wire.DecodeBody. A body of another media type is refused before it is read. That also
// refuses HTML forms, which pages of other sites can submit without a CORS preflight.
func readBody(c echo.Context, into any) error {
	mediaType, parameters, err := mime.ParseMediaType(c.Request().Header.Get(echo.HeaderContentType))
	if err != nil || mediaType != echo.MIMEApplicationJSON {
		return errNotJSON
	}
	if charset, said := parameters["charset"]; said && !strings.EqualFold(charset, "utf-8") {
		return errNotJSON
	}
	return wire.DecodeBody(c.Request().Body, maxBody, into)
}

// readNoBody accepts no body or an empty object, for requests whose path is all there is to them.
func readNoBody(c echo.Context) error {
	if c.Request().ContentLength == 0 {
		return nil
	}
	return readBody(c, &struct{}{})
}

// parseQueryInt reads a whole number from low to high from the query string; otherwise is the default.
func parseQueryInt(c echo.Context, name string, low, high, otherwise int) (int, error) {
	if !c.QueryParams().Has(name) {
		return otherwise, nil
	}
	n, err := strconv.Atoi(c.QueryParam(name))
	if err != nil || n < low || n > high {
		return 0, badRequest(name, name+" must be a whole number from "+strconv.Itoa(low)+" to "+strconv.Itoa(high))
	}
	return n, nil
}
