package api

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"redrain/internal/game"
)

// booksSum is where money is, in cents: budget = claimed + refunded + held, and paid out is a part of claimed.
type booksSum struct {
	BudgetCents   game.Cents `json:"budget_cents"`
	Claims        int        `json:"claims"`
	ClaimedCents  game.Cents `json:"claimed_cents"`
	RefundedCents game.Cents `json:"refunded_cents"`
	HeldCents     game.Cents `json:"held_cents"`
	PaidOutCents  game.Cents `json:"paid_out_cents"`
}

type roundBooks struct {
	Round  string           `json:"round"`
	Title  string           `json:"title"`
	Phase  game.Phase       `json:"phase"`
	Reason game.CloseReason `json:"reason"`
	Frozen bool             `json:"frozen"`
	Books  booksSum         `json:"books"`
}

// roomBooksPage is a part of the books of a room's rounds; Next is as in roundsPage. Sum is that of all rounds.
type roomBooksPage struct {
	Rounds       []roundBooks `json:"rounds"`
	Next         string       `json:"next"`
	Sum          booksSum     `json:"sum"`
	BalanceCents game.Cents   `json:"balance_cents"`
}

func (s *Server) showRoomBooks(c echo.Context) error {
	after, limit, err := roundsAfter(c)
	if err != nil {
		return err
	}
	room, err := s.roomOf(c)
	if err != nil {
		return err
	}
	all, err := s.Exports.RoomBooks(c.Request().Context(), room.Code, after, limit)
	if err != nil {
		return orMissing(err, errRoundNotFound)
	}
	sum, err := s.Exports.RoomSum(c.Request().Context(), room.Code)
	if err != nil {
		return err
	}
	balance, err := s.Exports.HostBalance(c.Request().Context(), room.Code)
	if err != nil {
		return err
	}
	shown := roomBooksPage{Rounds: make([]roundBooks, len(all)), BalanceCents: balance, Sum: booksSum{
		sum.Budget, sum.Booked.Packets, sum.Booked.Cents, sum.Refunded, sum.Held, sum.PaidOut,
	}}
	for i := range all {
		shown.Rounds[i] = roundBooksOf(&all[i])
	}
	if len(all) == limit {
		shown.Next = all[limit-1].Round.ID
	}
	return answer(c, http.StatusOK, shown)
}

func roundBooksOf(b *game.RoundBooks) roundBooks {
	return roundBooks{b.Round.ID, b.Round.Settings.Title, b.Round.Phase, b.Round.Reason, b.Round.Frozen, booksSum{
		b.Round.Settings.Total, b.Booked.Packets, b.Booked.Cents, b.Refunded, b.Held, b.PaidOut,
	}}
}
