package api

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"redrain/internal/game"
	"redrain/internal/wire"
)

// Money is what hosts see and do about a round's books. Methods return game.ErrNotFound, wrapped, for a round that is not
// there, and game.ErrWrongPhase for one that was never begun.
type Money interface {
	// Reconcile compares a round with its books and changes nothing.
	Reconcile(ctx context.Context, round string) (wire.Reconciliation, error)
	// Freeze stops grants, refunds and payouts of a round; Release lets it go on and accepts its books as they are. Repeated:
	// the same answer. game.ErrWrongPhase: a draft, or settled. Release: game.ErrBusy while claims are on their way.
	Freeze(ctx context.Context, round string) (game.Round, error)
	Release(ctx context.Context, round string) (game.Round, error)
	// ReplayFailed tries again to book what could not be booked, and returns how much was.
	ReplayFailed(ctx context.Context, round string) (letters, claims int, err error)
	DeadLetters(ctx context.Context, round string) ([]game.DeadLetter, error)
	Quarantined(ctx context.Context, round string) ([]game.Quarantined, error)
}

type reconciliationAnswer struct {
	Reconciliation wire.Reconciliation `json:"reconciliation"`
}

type deadLetter struct {
	Entry    string `json:"entry"`
	Raw      string `json:"raw"`
	Reason   string `json:"reason"`
	Replayed bool   `json:"driven"`
}

type deadLettersAnswer struct {
	DeadLetters []deadLetter `json:"dead_letters"`
}

type quarantinedClaim struct {
	Claim    wire.Claim `json:"claim"`
	Reason   string     `json:"reason"`
	Replayed bool       `json:"driven"`
}

type quarantineAnswer struct {
	Quarantine []quarantinedClaim `json:"quarantine"`
}

type drivenAnswer struct {
	DeadLetters int `json:"dead_letters"`
	Claims      int `json:"claims"`
}

// routeMoney adds the routes about books; host adds one that is for hosts alone.
func (s *Server) routeMoney(host func(method, path string, handler echo.HandlerFunc)) {
	host("GET", "/rounds/:id/reconciliation", s.showReconciliation)
	host("POST", "/rounds/:id/freeze", step(s.Money.Freeze))
	host("POST", "/rounds/:id/release", step(s.Money.Release))
	host("GET", "/rounds/:id/dead-letters", s.listDeadLetters)
	host("GET", "/rounds/:id/quarantine", s.listQuarantine)
	host("POST", "/rounds/:id/drive", s.driveAgain)
}

func (s *Server) showReconciliation(c echo.Context) error {
	id, err := roundID(c)
	if err != nil {
		return err
	}
	found, err := s.Money.Reconcile(c.Request().Context(), id)
	if err != nil {
		return orMissing(err, errRoundNotFound)
	}
	return answer(c, http.StatusOK, reconciliationAnswer{found})
}

func (s *Server) listDeadLetters(c echo.Context) error {
	round, err := s.roundOf(c)
	if err != nil {
		return err
	}
	letters, err := s.Money.DeadLetters(c.Request().Context(), round.ID)
	if err != nil {
		return err
	}
	list := make([]deadLetter, len(letters))
	for i, letter := range letters {
		list[i] = deadLetter(letter)
	}
	return answer(c, http.StatusOK, deadLettersAnswer{list})
}

func (s *Server) listQuarantine(c echo.Context) error {
	round, err := s.roundOf(c)
	if err != nil {
		return err
	}
	claims, err := s.Money.Quarantined(c.Request().Context(), round.ID)
	if err != nil {
		return err
	}
	list := make([]quarantinedClaim, len(claims))
	for i, claim := range claims {
		list[i] = quarantinedClaim{wire.ClaimOf(round.ID, claim.Claim), claim.Reason, claim.Replayed}
	}
	return answer(c, http.StatusOK, quarantineAnswer{list})
}

func (s *Server) driveAgain(c echo.Context) error {
	id, err := roundID(c)
	if err != nil {
		return err
	}
	if err := readNoBody(c); err != nil {
		return err
	}
	letters, claims, err := s.Money.ReplayFailed(c.Request().Context(), id)
	if err != nil {
		return orMissing(err, errRoundNotFound)
	}
	return answer(c, http.StatusOK, drivenAnswer{letters, claims})
}
