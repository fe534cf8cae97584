package api

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"redrain/internal/game"
	"redrain/internal/wire"
)

// How many claims one answer may hold.
const (
	claimsUsual = 200
	claimsMost  = 1000
)

type claimsAnswer struct {
	Claims []wire.Claim `json:"claims"`
}

// claimsPage is a part of a round's claims; Next is the `after` of the next part, 0 if this was the last one.
type claimsPage struct {
	Claims []wire.Claim `json:"claims"`
	Next   int          `json:"next"`
}

// pageOf is which part of which round's claims, or payouts, is asked for: up to limit of them with a number above after.
func (s *Server) pageOf(c echo.Context) (round game.Round, after, limit int, err error) {
	if after, err = number(c, "after", 0, game.MaxPackets, 0); err != nil {
		return round, 0, 0, err
	}
	if limit, err = number(c, "limit", 1, claimsMost, claimsUsual); err != nil {
		return round, 0, 0, err
	}
	round, err = s.roundOf(c)
	return round, after, limit, err
}

func (s *Server) listClaims(c echo.Context) error {
	round, after, limit, err := s.pageOf(c)
	if err != nil {
		return err
	}
	claims, err := s.Claims.Claims(c.Request().Context(), round.ID, after, limit)
	if err != nil {
		return err
	}
	named, err := s.withNicknames(c.Request().Context(), wire.ClaimsOf(round.ID, claims))
	if err != nil {
		return err
	}
	page := claimsPage{Claims: named}
	if len(claims) == limit {
		page.Next = claims[limit-1].Number
	}
	return answer(c, http.StatusOK, page)
}

// withNicknames fills in who made each claim, with one question for all.
func (s *Server) withNicknames(ctx context.Context, claims []wire.Claim) ([]wire.Claim, error) {
	seen := make(map[string]bool, len(claims))
	var players []string
	for _, claim := range claims {
		if !seen[claim.Player] {
			seen[claim.Player] = true
			players = append(players, claim.Player)
		}
	}
	if len(players) == 0 {
		return claims, nil
	}
	nicknames, err := s.Rooms.Nicknames(ctx, players)
	if err != nil {
		return nil, err
	}
	for i := range claims {
		claims[i].Nickname = nicknames[claims[i].Player]
	}
	return claims, nil
}

// showMyClaims opens a player's packets (拆): it reads what was granted, however often it is asked, and never writes.
func (s *Server) showMyClaims(c echo.Context) error {
	round, err := s.roundToOpen(c, roundFresh)
	if err != nil {
		return err
	}
	me, err := s.playerOf(c, round.Room)
	if err != nil {
		return err
	}
	claims, err := s.opened(c.Request().Context(), round, me)
	if err != nil {
		return err
	}
	return answer(c, http.StatusOK, claimsAnswer{wire.ClaimsOf(round.ID, claims)})
}
