package ledger

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"redrain/internal/game"
)

// BookedClaims returns up to limit claims of a round with a number above after, in the order of their numbers, with who made
// them and when.
func (l *Ledger) BookedClaims(ctx context.Context, round string, after, limit int) ([]game.BookedClaim, error) {
	var rows []struct {
		claimRow
		Nickname *string
		Subject  *string
	}
	err := l.read.NewSelect().TableExpr("claims AS c").Join("LEFT JOIN players AS p ON p.id = c.player").
		ColumnExpr("c.number, c.player, c.drop_id, c.cents, c.claimed_at, p.nickname, p.subject").
		Where("c.book = (?)", selectBook(l.read, round)).Where("c.number > ?", after).OrderExpr("c.number").Limit(int64(limit)).Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("read booked claims of round %s: %w", round, err)
	}
	claims := make([]game.BookedClaim, len(rows))
	for i := range rows {
		row := &rows[i]
		claims[i] = game.BookedClaim{Claim: row.claim(), At: game.Moment(row.ClaimedAt), Nickname: stringOrEmpty(row.Nickname), Subject: stringOrEmpty(row.Subject)}
	}
	return claims, nil
}

// stringOrEmpty returns the text of a column, and "" for NULL.
func stringOrEmpty(column *string) string {
	if column == nil {
		return ""
	}
	return *column
}

// statementPageSize is how many rounds are read at a time for a statement, statementTimeout how long one such read may take.
const (
	statementPageSize = 250
	statementTimeout  = 10 * time.Second
)

// Statement calls write with all movements of the account of a room's host, the oldest first, in several parts; the last balance is
// the present one. Rehearsals do not count. It ends with the first error of write. However many rounds the room has had, only one
// page of them is in memory, and refunds that came after later rounds had begun.
func (l *Ledger) Statement(ctx context.Context, room string, write func([]game.StatementLine) error) error {
	var s statement
	for more := true; more; {
		parts, err := l.statementPage(ctx, room, s.last)
		if err != nil {
			return fmt.Errorf("read the statement of room %s: %w", room, err)
		}
		more = len(parts) > 0
		if lines := s.add(parts); len(lines) > 0 {
			if err := write(lines); err != nil {
				return err
			}
		}
	}
	return nil
}

// hostMovements are the movements of one round on its host's account.
type hostMovements struct {
	Round   string
	Title   string
	BegunAt int64
	Cents   int64 // into escrow
	MovedAt int64
	Back    *int64 // refunded; nil: nothing was yet
	BackAt  *int64
}

// statementPage reads the rounds that were begun after one.
func (l *Ledger) statementPage(ctx context.Context, room string, last hostMovements) ([]hostMovements, error) {
	ctx, cancel := context.WithTimeout(ctx, statementTimeout)
	defer cancel()
	// By the whole keys of two movements, and not by the account: a round may have a million payouts beside them.
	begun := l.read.NewSelect().Model((*roundRow)(nil)).Column("id", "title", "begun_at").Where("room = ?", room).Where("begun_at > 0").
		Where("begun_at >= ?", last.BegunAt).Where("(begun_at > ? OR id > ?)", last.BegunAt, last.Round).Where("rehearsal = ?", false).
		Order("begun_at", "id").Limit(statementPageSize)
	var parts []hostMovements
	err := l.read.NewSelect().TableExpr("(?) AS begun", begun).
		Join("JOIN movements AS m ON m.round = begun.id AND m.kind = ? AND m.number = 0", forEscrow).
		Join("LEFT JOIN movements AS f ON f.round = begun.id AND f.kind = ? AND f.number = 0", forRefund).
		ColumnExpr("begun.id AS round, begun.title, begun.begun_at, m.cents, m.moved_at, f.cents AS back, f.moved_at AS back_at").
		OrderExpr("begun.begun_at, begun.id").Scan(ctx, &parts)
	return parts, err
}

// statement sorts lines by time that are read round by round.
type statement struct {
	last    hostMovements        // of the last begun round that was read
	waiting []game.StatementLine // lines that a line of a later round may have to come before
	held    game.Cents
}

// add takes the next page of rounds, empty at the end, and returns the lines that no later line can come before.
func (s *statement) add(parts []hostMovements) []game.StatementLine {
	for i := range parts {
		s.addRound(&parts[i])
	}
	slices.SortStableFunc(s.waiting, func(a, b game.StatementLine) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Round, b.Round))
	})
	ready := len(s.waiting)
	if len(parts) > 0 {
		s.last = parts[len(parts)-1]
		ready, _ = slices.BinarySearchFunc(s.waiting, s.last.BegunAt, func(line game.StatementLine, at int64) int { return cmp.Compare(int64(line.At), at) })
	}
	lines := slices.Clone(s.waiting[:ready])
	s.waiting = slices.Delete(s.waiting, 0, ready)
	for i := range lines {
		s.held += lines[i].Cents
		lines[i].Balance = s.held
	}
	return lines
}

func (s *statement) addRound(p *hostMovements) {
	line := game.StatementLine{At: game.Moment(p.MovedAt), Round: p.Round, Title: p.Title, Purpose: string(forEscrow), Cents: game.Cents(-p.Cents)}
	s.waiting = append(s.waiting, line)
	if p.Back != nil {
		line.At, line.Purpose, line.Cents = game.Moment(*p.BackAt), string(forRefund), game.Cents(*p.Back)
		s.waiting = append(s.waiting, line)
	}
}

// FinalRanks returns all players with claims in a round, the best first: ordered by the sum of their claims, then by the number of the
// claim that reached it, as on the live leaderboard. It is final once the round is settled.
func (l *Ledger) FinalRanks(ctx context.Context, round string) ([]string, error) {
	var players []string
	err := l.read.NewSelect().Model((*claimRow)(nil)).Column("player").Where("book = (?)", selectBook(l.read, round)).
		Group("player").OrderExpr("SUM(cents) DESC, MAX(number)").Scan(ctx, &players)
	if err != nil {
		return nil, fmt.Errorf("rank the players of round %s: %w", round, err)
	}
	return players, nil
}
