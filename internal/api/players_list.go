package api

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"redrain/internal/game"
	"redrain/internal/wire"
)

const (
	maxGuests     = 200
	defaultGuests = 50
	// maxNameSearch bounds the text that nicknames are searched for, in characters.
	maxNameSearch = 100
)

// guest is a player as hosts see them. Own: the player joined with a token of the host's own app.
type guest struct {
	ID       string `json:"id"`
	Nickname string `json:"nickname"`
	JoinedAt int64  `json:"joined_at"` // ms since 1970
	Blocked  bool   `json:"blocked"`
	Own      bool   `json:"own"`
}

func newGuest(p game.Player) guest {
	return guest{ID: p.ID, Nickname: p.Nickname, JoinedAt: p.JoinedAt.UnixMilli(), Blocked: p.Blocked, Own: p.Subject != ""}
}

// guestsAnswer is a page of a room's players, the newest first. Total counts all of them. Next is the `before` of the next page,
// empty on the last one. Latest is the `after` of a later request for players that joined since this response. If such a request
// cannot be answered with the new players alone, Anew is true and this is the first page of the list. Most is how many players
// the room may have, 0 without a bound.
type guestsAnswer struct {
	Players []guest `json:"players"`
	Total   int     `json:"total"`
	Next    string  `json:"next"`
	Latest  string  `json:"latest"`
	Anew    bool    `json:"anew"`
	Most    int     `json:"most"`
}

func (s *Server) listPlayers(c echo.Context) error {
	query, mark, err := parseGuestQuery(c)
	if err != nil {
		return err
	}
	room, err := s.readRoom(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	count, err := s.Guests.CountGuests(ctx, room.Code, mark.At)
	if err != nil {
		return err
	}
	anew := count.Older != mark.Older // somebody was added with a time before the mark
	if !anew {
		query.Since = mark.At
	}
	page, err := s.Guests.Guests(ctx, room.Code, query)
	if err == nil && query.Since > 0 && page.Next != (game.GuestPlace{}) { // there are more new players than fit on a page
		anew, query.Since = true, 0
		page, err = s.Guests.Guests(ctx, room.Code, query)
	}
	if err != nil {
		return err
	}
	list := newGuestsAnswer(page, count, anew)
	list.Most = s.PlayersPerRoom
	return answer(c, http.StatusOK, list)
}

func newGuestsAnswer(page game.GuestPage, count game.GuestCount, anew bool) guestsAnswer {
	list := guestsAnswer{
		Players: make([]guest, len(page.Players)), Total: count.Total, Anew: anew,
		Latest: fmt.Sprintf("%d.%d", count.Latest.At, count.Latest.Older),
	}
	for i, p := range page.Players {
		list.Players[i] = newGuest(p)
	}
	if page.Next != (game.GuestPlace{}) {
		list.Next = fmt.Sprintf("%d.%s", page.Next.JoinedAt, page.Next.ID)
	}
	return list
}

// parseGuestQuery returns which players are requested. The mark is that of `after`, zero without one.
func parseGuestQuery(c echo.Context) (query game.GuestQuery, mark game.GuestMark, err error) {
	if query.Limit, err = parseQueryInt(c, "limit", 1, maxGuests, defaultGuests); err != nil {
		return query, mark, err
	}
	query.Name = c.QueryParam("name")
	if !utf8.ValidString(query.Name) || utf8.RuneCountInString(query.Name) > maxNameSearch {
		return query, mark, badRequest("name", "name must be text of at most "+strconv.Itoa(maxNameSearch)+" characters")
	}
	older, news := c.QueryParams().Has("before"), c.QueryParams().Has("after")
	switch {
	case older && news:
		err = badRequest("after", "after and before exclude each other")
	case older:
		query.Below, err = parseGuestPlace(c.QueryParam("before"))
	case news:
		mark, err = parseGuestMark(c.QueryParam("after"))
	}
	return query, mark, err
}

// parseGuestPlace parses a `before`: the next of an earlier response, or a player's joined_at and id with a dot between them.
func parseGuestPlace(text string) (game.GuestPlace, error) {
	at, id, _ := strings.Cut(text, ".")
	joined, err := strconv.ParseInt(at, 10, 64)
	if err != nil || !wire.IsUUID(id) {
		return game.GuestPlace{}, badRequest("before", "before must be the joined_at and the id of a player with a dot between them")
	}
	return game.GuestPlace{JoinedAt: joined, ID: id}, nil
}

// parseGuestMark parses an `after`: the latest of an earlier response.
func parseGuestMark(text string) (game.GuestMark, error) {
	at, older, _ := strings.Cut(text, ".")
	moment, err := strconv.ParseInt(at, 10, 64)
	count, countErr := strconv.Atoi(older)
	if err != nil || countErr != nil || moment < 1 || count < 0 {
		return game.GuestMark{}, badRequest("after", "after must be the latest of an earlier answer")
	}
	return game.GuestMark{At: moment, Older: count}, nil
}
