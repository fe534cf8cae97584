package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"redrain/internal/probe"
)

// readinessTimeout bounds all checks of one request together.
const readinessTimeout = 2 * time.Second

type statusAnswer struct {
	Status string `json:"status"`
}

func (s *Server) showLiveness(c echo.Context) error {
	return answer(c, http.StatusOK, statusAnswer{"ok"})
}

type readyAnswer struct {
	Status   string   `json:"status"`
	Warnings []string `json:"warnings,omitempty"`
}

// showReadiness runs all checks in order. It answers 503 with the first failure and its reason, or 200 with the warnings; only
// operators see more than the status, since failures name hosts and ports.
func (s *Server) showReadiness(c echo.Context) error {
	ctx, cancel := context.WithTimeout(c.Request().Context(), readinessTimeout)
	defer cancel()
	operator := s.isOperator(c.Request())
	for _, check := range s.Checks {
		if err := check.Run(ctx); err != nil && !operator {
			return notReady("not ready")
		} else if err != nil {
			return notReady(fmt.Sprintf("%s: %s: %v", check.Name, probe.ReasonOf(err), err))
		}
	}
	ready := readyAnswer{Status: "ready"}
	if !operator {
		return answer(c, http.StatusOK, ready)
	}
	for _, warning := range s.Warnings {
		if err := warning.Run(ctx); err != nil {
			ready.Warnings = append(ready.Warnings, warning.Name+": "+err.Error())
		}
	}
	return answer(c, http.StatusOK, ready)
}

// healthCheck is the result of a check. Pages show words for the reason; the problem is the error itself.
type healthCheck struct {
	Name    string       `json:"name"`
	OK      bool         `json:"ok"`
	MS      float64      `json:"ms"`
	Reason  probe.Reason `json:"reason"` // empty if it is ok
	Problem string       `json:"problem"`
}

type healthAnswer struct {
	Checks []healthCheck `json:"checks"`
}

// showHealth runs every check and shows its result and how long it took.
func (s *Server) showHealth(c echo.Context) error {
	ctx, cancel := context.WithTimeout(c.Request().Context(), readinessTimeout)
	defer cancel()
	checks := []healthCheck{}
	for _, check := range slices.Concat(s.Checks, s.Warnings) {
		began := time.Now()
		err := check.Run(ctx)
		took := time.Since(began)
		if check.Latency != nil {
			took = check.Latency()
		}
		seen := healthCheck{Name: check.Name, OK: err == nil, MS: float64(took.Microseconds()) / 1000}
		if err != nil {
			seen.Reason, seen.Problem = probe.ReasonOf(err), err.Error()
		}
		checks = append(checks, seen)
	}
	if s.SettleLag != nil {
		checks = append(checks, s.settlementCheck())
	}
	return answer(c, http.StatusOK, healthAnswer{checks})
}

// maxSettleLag is the lag of settling above which hosts see a problem; it is usually a few milliseconds.
const maxSettleLag = 5 * time.Second

// settlementCheck reports the lag of settling as the duration of a check.
func (s *Server) settlementCheck() healthCheck {
	lag := s.SettleLag()
	check := healthCheck{Name: "settlement", OK: lag <= maxSettleLag, MS: float64(lag.Milliseconds())}
	if !check.OK {
		check.Reason = probe.Late
		check.Problem = "claims reach the ledger " + lag.Round(time.Second).String() + " late"
	}
	return check
}
