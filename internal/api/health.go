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

type readyAnswer struct {
	Status   string   `json:"status"`
	Warnings []string `json:"warnings,omitempty"`
}

// ready asks every check in order and tells the first reason against, or what is to be warned of.
func (s *Server) ready(c echo.Context) error {
	ctx, cancel := context.WithTimeout(c.Request().Context(), readyWithin)
	defer cancel()
	for _, check := range s.Checks {
		if err := check.Ask(ctx); err != nil {
			return notReady(check.Name + ": " + err.Error())
		}
	}
	ready := readyAnswer{Status: "ready"}
	for _, warning := range s.Warnings {
		if err := warning.Ask(ctx); err != nil {
			ready.Warnings = append(ready.Warnings, warning.Name+": "+err.Error())
		}
	}
	return answer(c, http.StatusOK, ready)
}
