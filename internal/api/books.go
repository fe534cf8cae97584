package api

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"redrain/internal/game"
	"redrain/internal/wire"
)

// Money reads and repairs the books of a round for hosts. Methods return game.ErrNotFound, wrapped, for a round that does not
// exist, and game.ErrWrongPhase for one that was never begun.
type Money interface {
	// Reconcile compares a round with its books and changes nothing.
	Reconcile(ctx context.Context, round string) (game.Reconciliation, error)
	// Freeze stops grants, refunds and payouts of a round. Release ends that, and accepts the difference between its books and
	// Redis. Both are idempotent. game.ErrWrongPhase: the round is a draft, or settled. Release returns game.ErrBusy while claims
	// are not booked yet.
	Freeze(ctx context.Context, round string) (game.Round, error)
	Release(ctx context.Context, round string) (game.Round, error)
	// ReplayFailed tries again to book dead letters and quarantined claims, and returns how many of each were booked.
	ReplayFailed(ctx context.Context, round string) (letters, claims int, err error)
	DeadLetters(ctx context.Context, round string) ([]game.DeadLetter, error)
	Quarantined(ctx context.Context, round string) ([]game.Quarantined, error)
}

type reconciliationAnswer struct {
	Reconciliation game.Reconciliation `json:"reconciliation"`
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

type replayedAnswer struct {
	DeadLetters int `json:"dead_letters"`
	Claims      int `json:"claims"`
}

// routeMoney adds the routes about a round's books; host adds a route that only hosts may use.
func (s *Server) routeMoney(host func(method, path string, handler echo.HandlerFunc)) {
	host("GET", "/rounds/:id/reconciliation", s.showReconciliation)
	host("POST", "/rounds/:id/freeze", changeRound(s.Money.Freeze))
	host("POST", "/rounds/:id/release", changeRound(s.Money.Release))
	host("GET", "/rounds/:id/dead-letters", s.listDeadLetters)
	host("GET", "/rounds/:id/quarantine", s.listQuarantine)
	host("POST", "/rounds/:id/drive", s.replayFailed)
}

func (s *Server) showReconciliation(c echo.Context) error {
	id, err := parseRoundID(c)
	if err != nil {
		return err
	}
	found, err := s.Money.Reconcile(c.Request().Context(), id)
	if err != nil {
		return replaceNotFound(err, errRoundNotFound)
	}
	return answer(c, http.StatusOK, reconciliationAnswer{found})
}

func (s *Server) listDeadLetters(c echo.Context) error {
	round, err := s.readRound(c)
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
	round, err := s.readRound(c)
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

func (s *Server) replayFailed(c echo.Context) error {
	id, err := parseRoundID(c)
	if err != nil {
		return err
	}
	if err := readNoBody(c); err != nil {
		return err
	}
	letters, claims, err := s.Money.ReplayFailed(c.Request().Context(), id)
	if err != nil {
		return replaceNotFound(err, errRoundNotFound)
	}
	return answer(c, http.StatusOK, replayedAnswer{letters, claims})
}

// booksSum is the state of a round's budget, in cents: budget = claimed + refunded + held; paid out is a part of claimed.
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
	after, limit, err := parseRoundsPage(c)
	if err != nil {
		return err
	}
	room, err := s.readRoom(c)
	if err != nil {
		return err
	}
	all, err := s.Exports.RoomBooks(c.Request().Context(), room.Code, after, limit)
	if err != nil {
		return replaceNotFound(err, errRoundNotFound)
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
		shown.Rounds[i] = newRoundBooks(&all[i])
	}
	if len(all) == limit {
		shown.Next = all[limit-1].Round.ID
	}
	return answer(c, http.StatusOK, shown)
}

func newRoundBooks(b *game.RoundBooks) roundBooks {
	return roundBooks{b.Round.ID, b.Round.Settings.Title, b.Round.Phase, b.Round.Reason, b.Round.Frozen, booksSum{
		b.Round.Settings.Total, b.Booked.Packets, b.Booked.Cents, b.Refunded, b.Held, b.PaidOut,
	}}
}
