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
	guestsMost  = 200
	guestsUsual = 50
	// guestNameMost bounds what is searched for, in characters.
	guestNameMost = 100
)

// guest is a player as hosts see them. Own tells that the host's own app vouches for them.
type guest struct {
	ID       string `json:"id"`
	Nickname string `json:"nickname"`
	JoinedAt int64  `json:"joined_at"` // ms since 1970
	Blocked  bool   `json:"blocked"`
	Own      bool   `json:"own"`
}

func guestOf(p game.Player) guest {
	return guest{ID: p.ID, Nickname: p.Nickname, JoinedAt: p.JoinedAt.UnixMilli(), Blocked: p.Blocked, Own: p.Subject != ""}
}

// guestsAnswer is a part of a room's players, the newest first. Total counts all of them. Next is the `before` of the next
// part, empty if this was the last one; Latest is the `after` for what is new since this answer. Only new ones were asked
// for, by an `after`, and cannot be told apart any more: then Anew is true, and this is the first part of the list.
type guestsAnswer struct {
	Players []guest `json:"players"`
	Total   int     `json:"total"`
	Next    string  `json:"next"`
	Latest  string  `json:"latest"`
	Anew    bool    `json:"anew"`
}

func (s *Server) listPlayers(c echo.Context) error {
	query, mark, err := guestQueryOf(c)
	if err != nil {
		return err
	}
	room, err := s.roomOf(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	count, err := s.Guests.CountGuests(ctx, room.Code, mark.At)
	if err != nil {
		return err
	}
	anew := count.Older != mark.Older // somebody joined as if before the mark
	if !anew {
		query.Since = mark.At
	}
	page, err := s.Guests.Guests(ctx, room.Code, query)
	if err == nil && query.Since > 0 && page.Next != (game.GuestPlace{}) { // more new ones than fit
		anew, query.Since = true, 0
		page, err = s.Guests.Guests(ctx, room.Code, query)
	}
	if err != nil {
		return err
	}
	return answer(c, http.StatusOK, guestsAnswerOf(page, count, anew))
}

func guestsAnswerOf(page game.GuestPage, count game.GuestCount, anew bool) guestsAnswer {
	list := guestsAnswer{
		Players: make([]guest, len(page.Players)), Total: count.Total, Anew: anew,
		Latest: fmt.Sprintf("%d.%d", count.Latest.At, count.Latest.Older),
	}
	for i, p := range page.Players {
		list.Players[i] = guestOf(p)
	}
	if page.Next != (game.GuestPlace{}) {
		list.Next = fmt.Sprintf("%d.%s", page.Next.JoinedAt, page.Next.ID)
	}
	return list
}

// guestQueryOf is which players are asked for. The mark is that of `after`, zero without one.
func guestQueryOf(c echo.Context) (query game.GuestQuery, mark game.GuestMark, err error) {
	if query.Limit, err = number(c, "limit", 1, guestsMost, guestsUsual); err != nil {
		return query, mark, err
	}
	query.Name = c.QueryParam("name")
	if !utf8.ValidString(query.Name) || utf8.RuneCountInString(query.Name) > guestNameMost {
		return query, mark, badRequest("name", "name must be text of at most "+strconv.Itoa(guestNameMost)+" characters")
	}
	older, news := c.QueryParams().Has("before"), c.QueryParams().Has("after")
	switch {
	case older && news:
		err = badRequest("after", "after and before exclude each other")
	case older:
		query.Below, err = readPlace(c.QueryParam("before"))
	case news:
		mark, err = readMark(c.QueryParam("after"))
	}
	return query, mark, err
}

// readPlace reads the `before` that an earlier answer gave, or that is made of a guest's joined_at and id.
func readPlace(text string) (game.GuestPlace, error) {
	at, id, _ := strings.Cut(text, ".")
	joined, err := strconv.ParseInt(at, 10, 64)
	if err != nil || !wire.IsUUID(id) {
		return game.GuestPlace{}, badRequest("before", "before must be the joined_at and the id of a player with a dot between them")
	}
	return game.GuestPlace{JoinedAt: joined, ID: id}, nil
}

// readMark reads the `after` that an earlier answer gave as its latest.
func readMark(text string) (game.GuestMark, error) {
	at, older, _ := strings.Cut(text, ".")
	moment, err := strconv.ParseInt(at, 10, 64)
	count, countErr := strconv.Atoi(older)
	if err != nil || countErr != nil || moment < 1 || count < 0 {
		return game.GuestMark{}, badRequest("after", "after must be the latest of an earlier answer")
	}
	return game.GuestMark{At: moment, Older: count}, nil
}
