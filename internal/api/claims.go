package api

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"redrain/internal/game"
	"redrain/internal/wire"
)

// How many claims one response may hold.
const (
	defaultClaims = 200
	maxClaims     = 1000
)

type claimsAnswer struct {
	Claims []wire.Claim `json:"claims"`
}

// claimsPage is a page of a round's claims; Next is the `after` of the next page, 0 on the last one.
type claimsPage struct {
	Claims []wire.Claim `json:"claims"`
	Next   int          `json:"next"`
}

// parseNumberedPage returns of which round which page of claims or payouts is requested: up to limit with a number above after.
func (s *Server) parseNumberedPage(c echo.Context) (round game.Round, after, limit int, err error) {
	if after, err = parseQueryInt(c, "after", 0, game.MaxPackets, 0); err != nil {
		return round, 0, 0, err
	}
	if limit, err = parseQueryInt(c, "limit", 1, maxClaims, defaultClaims); err != nil {
		return round, 0, 0, err
	}
	round, err = s.readRound(c)
	return round, after, limit, err
}

func (s *Server) listClaims(c echo.Context) error {
	round, after, limit, err := s.parseNumberedPage(c)
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

// withNicknames fills in the nickname of each claim's player, for hosts. It reads them all in one call.
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
	nicknames, err := s.Rooms.HostNicknames(ctx, players)
	if err != nil {
		return nil, err
	}
	for i := range claims {
		claims[i].Nickname = nicknames[claims[i].Player]
	}
	return claims, nil
}

// showMyClaims shows the calling player's claims in a round, when the player opens the packets (拆). It never writes.
func (s *Server) showMyClaims(c echo.Context) error {
	round, err := s.readCachedRound(c, cachedRoundAge)
	if err != nil {
		return err
	}
	me, err := s.playerID(c, round.Room)
	if err != nil {
		return err
	}
	claims, err := s.readPlayerClaims(c.Request().Context(), round, me)
	if err != nil {
		return err
	}
	return answer(c, http.StatusOK, claimsAnswer{wire.ClaimsOf(round.ID, claims)})
}
