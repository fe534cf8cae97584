package api

import (
	"log/slog"
	"net/http"
	"time"
)

// NewHTTPServer bounds what a slow or hostile client can hold: time for headers, bodies and answers, and the size of
// headers. A WebSocket is out of these limits once it is upgraded, since taking over a connection clears its deadlines.
func NewHTTPServer(handler http.Handler, logger *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       15 * time.Second,
		WriteTimeout:      30 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
	}
}
