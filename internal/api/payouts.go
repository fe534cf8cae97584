package api

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"redrain/internal/game"
)

// Payouts reads the payouts of a round, which go to the host's own balance system, and resends them.
type Payouts interface {
	// Payouts returns up to limit payouts with a number above after, in the order of their numbers.
	Payouts(ctx context.Context, round string, after, limit int) ([]game.Payout, error)
	PayoutSums(ctx context.Context, round string) (game.PayoutSums, error)
	// ResendPayouts makes all unpaid payouts due now, and returns how many. game.ErrWrongPhase: the round is not settled, or a
	// rehearsal. game.ErrOff: payouts are not configured.
	ResendPayouts(ctx context.Context, round string) (int, error)
}

func (s *Server) routePayouts(host addRoute) {
	host("GET", "/rounds/:id/payouts", s.listPayouts)
	host("POST", "/rounds/:id/payouts/resend", s.resendPayouts)
}

type payout struct {
	ID       string           `json:"id"`
	Number   int              `json:"number"`
	Claims   int              `json:"claims"`
	Cents    game.Cents       `json:"cents"`
	State    game.PayoutState `json:"state"`
	Attempts int              `json:"attempts"`
	Problem  string           `json:"problem"`
	DueAt    game.Moment      `json:"due_at"`
	PaidAt   game.Moment      `json:"paid_at"`
}

type payoutSum struct {
	Claims int        `json:"claims"`
	Cents  game.Cents `json:"cents"`
}

type payoutSums struct {
	Planned bool      `json:"planned"`
	Pending payoutSum `json:"pending"`
	Paid    payoutSum `json:"paid"`
	Failed  payoutSum `json:"failed"`
}

// payoutsPage is a page of a round's payouts; Next is as in claimsPage. Sums are those of the whole round.
type payoutsPage struct {
	Payouts []payout   `json:"payouts"`
	Next    int        `json:"next"`
	Sums    payoutSums `json:"sums"`
}

func (s *Server) listPayouts(c echo.Context) error {
	round, after, limit, err := s.parseNumberedPage(c)
	if err != nil {
		return err
	}
	list, err := s.Payouts.Payouts(c.Request().Context(), round.ID, after, limit)
	if err != nil {
		return err
	}
	sums, err := s.Payouts.PayoutSums(c.Request().Context(), round.ID)
	if err != nil {
		return err
	}
	page := payoutsPage{Payouts: make([]payout, len(list)), Sums: payoutSums{
		sums.Planned, payoutSum{sums.Pending.Packets, sums.Pending.Cents}, payoutSum{sums.Paid.Packets, sums.Paid.Cents},
		payoutSum{sums.Failed.Packets, sums.Failed.Cents},
	}}
	for i, p := range list {
		page.Payouts[i] = payout{p.ID(), p.Number, p.Total.Packets, p.Total.Cents, p.State, p.Attempts, p.Problem, p.DueAt, p.PaidAt}
	}
	if len(list) == limit {
		page.Next = list[limit-1].Number
	}
	return answer(c, http.StatusOK, page)
}

type resentAnswer struct {
	Payouts int `json:"payouts"`
}

func (s *Server) resendPayouts(c echo.Context) error {
	id, err := parseRoundID(c)
	if err != nil {
		return err
	}
	if err := readNoBody(c); err != nil {
		return err
	}
	again, err := s.Payouts.ResendPayouts(c.Request().Context(), id)
	if err != nil {
		return replaceNotFound(err, errRoundNotFound)
	}
	return answer(c, http.StatusOK, resentAnswer{again})
}
