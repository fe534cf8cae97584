package api

import (
	"context"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
)

// readyWithin bounds all checks together: who asks for readiness waits for an answer.
const readyWithin = 2 * time.Second

type statusAnswer struct {
	Status string `json:"status"`
}

func (s *Server) healthy(c echo.Context) error {
	return answer(c, http.StatusOK, statusAnswer{"ok"})
}

// ready asks every check in order and tells the first reason against.
func (s *Server) ready(c echo.Context) error {
	ctx, cancel := context.WithTimeout(c.Request().Context(), readyWithin)
	defer cancel()
	for _, check := range s.Checks {
		if err := check.Ask(ctx); err != nil {
			return notReady(check.Name + ": " + err.Error())
		}
	}
	return answer(c, http.StatusOK, statusAnswer{"ready"})
}
