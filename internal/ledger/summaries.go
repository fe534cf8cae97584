package ledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/uptrace/bun"

	"redrain/internal/game"
)

// RoomSummaries returns up to limit rooms, the newest first, without the hidden ones of rehearsals. It starts after the room with
// the code after, or with the newest room if that is empty. game.ErrNotFound: there is no room with that code.
func (l *Ledger) RoomSummaries(ctx context.Context, after string, limit int) ([]game.RoomSummary, error) {
	rows, err := l.roomsAfter(ctx, after, limit)
	if err != nil || len(rows) == 0 {
		return nil, wrapError(err, "read rooms")
	}
	summaries := make([]game.RoomSummary, len(rows))
	places := make(map[string]*game.RoomSummary, len(rows))
	for i := range rows {
		summaries[i].Room = rows[i].room()
		if rows[i].ActiveRound != nil {
			summaries[i].Active = *rows[i].ActiveRound
		}
		places[rows[i].Code] = &summaries[i]
	}
	if err := l.countRounds(ctx, places); err != nil {
		return nil, fmt.Errorf("count the rounds of rooms: %w", err)
	}
	if err := l.countPlayers(ctx, places); err != nil {
		return nil, fmt.Errorf("count the players of rooms: %w", err)
	}
	return summaries, nil
}

func (l *Ledger) roomsAfter(ctx context.Context, after string, limit int) ([]roomRow, error) {
	var rows []roomRow
	query := l.read.NewSelect().Model(&rows).Where("stage_of IS NULL").Order("created_at DESC", "code DESC").Limit(int64(limit))
	if after != "" {
		last, err := l.Room(ctx, after)
		if err != nil {
			return nil, err
		}
		at := last.CreatedAt.UnixMilli()
		query = query.Where("created_at <= ?", at).Where("(created_at < ? OR code < ?)", at, after)
	}
	return rows, query.Scan(ctx)
}

func (l *Ledger) countRounds(ctx context.Context, places map[string]*game.RoomSummary) error {
	var counts []struct {
		Room    string
		Phase   game.Phase
		Rounds  int
		Claimed int64
	}
	err := l.read.NewSelect().Model((*roundRow)(nil)).Column("room", "phase").
		ColumnExpr("COUNT(*) AS rounds, COALESCE(SUM(claimed_cents), 0) AS claimed").
		Where("room IN (?)", bun.List(slices.Sorted(maps.Keys(places)))).Where("rehearsal = ?", false).Group("room", "phase").Scan(ctx, &counts)
	for _, c := range counts {
		switch summary := places[c.Room]; {
		case summary == nil:
		case c.Phase == game.Draft:
			summary.Drafts += c.Rounds
		case c.Phase.Over():
			summary.Played += c.Rounds
			summary.Given += game.Cents(c.Claimed)
		}
	}
	return err
}

func (l *Ledger) countPlayers(ctx context.Context, places map[string]*game.RoomSummary) error {
	var counts []struct {
		Room    string
		Players int
	}
	err := l.read.NewSelect().Model((*playerRow)(nil)).Column("room").ColumnExpr("COUNT(*) AS players").
		Where("room IN (?)", bun.List(slices.Sorted(maps.Keys(places)))).Group("room").Scan(ctx, &counts)
	for _, c := range counts {
		if summary := places[c.Room]; summary != nil {
			summary.Players = c.Players
		}
	}
	return err
}

// maxRoundsSearched bounds the rounds of a room, the last begun ones, in which PlayedBy looks for a player's claims.
const maxRoundsSearched = 200

// PlayedBy returns up to limit rounds in which a player won something, the newest claim first, among the last 200 rounds that
// the player's room has begun.
func (l *Ledger) PlayedBy(ctx context.Context, player string, limit int) ([]game.PlayedRound, error) {
	of, err := l.Player(ctx, player)
	if errors.Is(err, game.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	sums, err := l.playedSums(ctx, player, of.Room)
	if err != nil {
		return nil, fmt.Errorf("read the rounds of player %s: %w", player, err)
	}
	slices.SortFunc(sums, func(a, b playedSum) int { return cmp.Or(cmp.Compare(b.Last, a.Last), cmp.Compare(b.Book, a.Book)) })
	return l.played(ctx, sums[:min(limit, len(sums))])
}

// playedSum is what a player won in a round, and when last.
type playedSum struct {
	Book    int64
	Packets int
	Cents   int64
	Last    int64
}

// playedSums finds claims by the index of book and player, and so reads only claims of this player. The books are in the statement
// as numbers: with a join databases prefer to read all claims of each round.
func (l *Ledger) playedSums(ctx context.Context, player, room string) (sums []playedSum, err error) {
	var books []int64
	err = l.read.NewSelect().TableExpr("(?) AS begun", l.begun(room).Column("id").Limit(maxRoundsSearched)).
		Join("JOIN round_books AS b ON b.round = begun.id").ColumnExpr("b.book").Scan(ctx, &books)
	for batch := range slices.Chunk(books, maxIDsPerQuery) {
		var found []playedSum
		if err == nil {
			err = l.read.NewSelect().Model((*claimRow)(nil)).Column("book").
				ColumnExpr("COUNT(*) AS packets, SUM(cents) AS cents, MAX(claimed_at) AS last").
				Where("book IN (?)", bun.List(batch)).Where("player = ?", player).Where(matchAnyDrop).Group("book").Scan(ctx, &found)
		}
		sums = append(sums, found...)
	}
	return sums, err
}

// played reads the rounds of the sums.
func (l *Ledger) played(ctx context.Context, sums []playedSum) ([]game.PlayedRound, error) {
	played := make([]game.PlayedRound, len(sums))
	for i, sum := range sums {
		row := new(roundRow)
		round := l.read.NewSelect().Model((*booksRow)(nil)).Column("round").Where("book = ?", sum.Book)
		err := l.read.NewSelect().Model(row).Where("id = (?)", round).Scan(ctx)
		if err != nil {
			return nil, fmt.Errorf("read a played round: %w", err)
		}
		played[i] = game.PlayedRound{Round: row.round(), Packets: sum.Packets, Cents: game.Cents(sum.Cents)}
	}
	return played, nil
}
