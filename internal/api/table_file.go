package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
)

// tableFile is a file for spreadsheets that is written while its rows are still being read. A cell is an int, game.Cents (an amount of
// money), a token, or a string: text that people wrote, which must stay text whatever it looks like.
type tableFile interface {
	writeRow(cells ...any) error
	// endPage is called after each page of rows.
	endPage() error
	// finish sends what is left of a complete file.
	finish() error
	close()
}

// newTableFile begins a file with a header line. The name has no extension. After that no error can be answered any more, see abortFile.
type newTableFile func(c echo.Context, name string, columns ...string) (tableFile, error)

// token is text of the server's own that no spreadsheet takes for anything else: an id, a time, a word of the protocol.
type token string

// writeRowsTimeout is how long a client may take to receive one page of rows. A slow client may need longer for the whole file.
const writeRowsTimeout = 30 * time.Second

// download is the response that a file is sent in. Its connection has a deadline for each part of the file, and none for the whole.
// It ends with the context of the request, even while a slow client is waited for.
type download struct {
	c          echo.Context
	controller *http.ResponseController
	end        func() bool // says that the end of the context is of no concern any more
}

func newDownload(c echo.Context) download {
	controller := http.NewResponseController(c.Response().Writer)
	end := context.AfterFunc(c.Request().Context(), func() { _ = controller.SetWriteDeadline(time.Now()) })
	return download{c: c, controller: controller, end: end}
}

// begin sends the response's header.
func (d download) begin(name, contentType string) {
	header := d.c.Response().Header()
	header.Set(echo.HeaderContentType, contentType)
	header.Set(echo.HeaderContentDisposition, `attachment; filename="`+name+`"`)
	header.Set(echo.HeaderCacheControl, "no-store")
	d.c.Response().WriteHeader(http.StatusOK)
}

// extendDeadline gives the client writeRowsTimeout for what is sent next.
func (d download) extendDeadline() error {
	err := d.controller.SetWriteDeadline(time.Now().Add(writeRowsTimeout))
	if err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return context.Cause(d.c.Request().Context()) // looked at last: its own deadline may just have been overwritten
}

// Write sends a part of the file.
func (d download) Write(part []byte) (int, error) {
	if err := d.extendDeadline(); err != nil {
		return 0, err
	}
	return d.c.Response().Write(part)
}

// abortFile logs an error and closes the connection, so that the client does not take an incomplete file for a complete one.
func (s *Server) abortFile(c echo.Context, err error) {
	s.Logger.Error("file not completed", "path", c.Request().URL.Path, "error", err)
	panic(http.ErrAbortHandler)
}
