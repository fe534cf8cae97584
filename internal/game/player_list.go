package game

import (
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// GuestPlace is a cursor in the list of a room's players, which is ordered by when they joined (ms since 1970) and then by id.
// Players are never removed or reordered, so a cursor stays valid while others join. The zero value is no cursor.
type GuestPlace struct {
	JoinedAt int64
	ID       string
}

// GuestQuery selects players of a room.
type GuestQuery struct {
	Below GuestPlace // only those after this place, who are older; zero: from the newest on
	Since int64      // only those who joined at this ms since 1970 or later
	Name  string     // only those with this in their nickname, see FoldName; empty: all
	Limit int        // at most so many; at least 1
}

// GuestPage is a part of a room's players, the newest first. The next part is below Next; a zero Next says that this was the
// last one. One search looks at a bounded number of players: it may find fewer than the limit, or none, and have a Next.
type GuestPage struct {
	Players []Player
	Next    GuestPlace
}

// GuestMark lets a reader ask for new players only: Older players had joined before At (ms since 1970, at least 1) when it was made.
// As long as the room still counts that many before At, all players who are new since then joined at At or later. The zero value is
// no mark.
type GuestMark struct {
	At    int64
	Older int
}

// GuestCount is how many players a room has. Older is how many of them joined before the moment that was asked about, and
// Latest the mark to ask about next.
type GuestCount struct {
	Total, Older int
	Latest       GuestMark
}

// FoldName is the form of a name in which searches compare it: without regard to case, to the width of letters and to what is not seen.
func FoldName(name string) string {
	return cases.Fold().String(norm.NFKC.String(strings.TrimSpace(removeInvisible(name))))
}
