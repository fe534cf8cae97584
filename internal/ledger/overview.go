package ledger

import (
	"context"
	"errors"
	"fmt"

	"redrain/internal/game"
)

// Glances returns all rooms of people, the newest first, with what a list of rooms shows of each.
func (l *Ledger) Glances(ctx context.Context) ([]game.Glance, error) {
	var rows []roomRow
	if err := l.read.NewSelect().Model(&rows).Where("stage_of IS NULL").Order("created_at DESC", "code").Scan(ctx); err != nil {
		return nil, fmt.Errorf("read rooms: %w", err)
	}
	glances := make([]game.Glance, len(rows))
	places := make(map[string]*game.Glance, len(rows))
	for i := range rows {
		glances[i].Room = rows[i].room()
		if rows[i].ActiveRound != nil {
			glances[i].Active = *rows[i].ActiveRound
		}
		places[rows[i].Code] = &glances[i]
	}
	if err := l.countRounds(ctx, places); err != nil {
		return nil, fmt.Errorf("count the rounds of rooms: %w", err)
	}
	if err := l.countPlayers(ctx, places); err != nil {
		return nil, fmt.Errorf("count the players of rooms: %w", err)
	}
	return glances, nil
}

func (l *Ledger) countRounds(ctx context.Context, places map[string]*game.Glance) error {
	var counts []struct {
		Room    string
		Phase   game.Phase
		Rounds  int
		Claimed int64
	}
	err := l.read.NewSelect().Model((*roundRow)(nil)).Column("room", "phase").
		ColumnExpr("COUNT(*) AS rounds, COALESCE(SUM(claimed_cents), 0) AS claimed").
		Where("rehearsal = ?", false).Group("room", "phase").Scan(ctx, &counts)
	for _, c := range counts {
		switch glance := places[c.Room]; {
		case glance == nil:
		case c.Phase == game.Draft:
			glance.Drafts += c.Rounds
		case c.Phase.Over():
			glance.Played += c.Rounds
			glance.Given += game.Cents(c.Claimed)
		}
	}
	return err
}

func (l *Ledger) countPlayers(ctx context.Context, places map[string]*game.Glance) error {
	var counts []struct {
		Room    string
		Players int
	}
	err := l.read.NewSelect().Model((*playerRow)(nil)).Column("room").ColumnExpr("COUNT(*) AS players").Group("room").Scan(ctx, &counts)
	for _, c := range counts {
		if glance := places[c.Room]; glance != nil {
			glance.Players = c.Players
		}
	}
	return err
}

// PlayedBy returns up to limit rounds in which a player won something, the newest first.
func (l *Ledger) PlayedBy(ctx context.Context, player string, limit int) ([]game.Played, error) {
	var sums []struct {
		Round   string
		Packets int
		Cents   int64
		Newest  int64
	}
	// Claims are found by round and player: so round by round of the player's room, of which there are few, and not by player
	// among all claims that there ever were.
	room := l.read.NewSelect().Model((*playerRow)(nil)).Column("room").Where("id = ?", player)
	err := l.read.NewSelect().TableExpr("rounds AS r").Join("JOIN round_books AS b ON b.round = r.id").
		Join("JOIN claims AS c ON c.book = b.book AND c.player = ?", player).
		ColumnExpr("b.round, COUNT(*) AS packets, SUM(c.cents) AS cents, MAX(c.claimed_at) AS newest").
		Where("r.room = (?)", room).GroupExpr("b.round").OrderExpr("newest DESC, b.round").Limit(int64(limit)).Scan(ctx, &sums)
	if err != nil {
		return nil, fmt.Errorf("read the rounds of player %s: %w", player, err)
	}
	played := make([]game.Played, len(sums))
	for i, sum := range sums {
		round, err := l.Round(ctx, sum.Round)
		if err != nil {
			return nil, err
		}
		played[i] = game.Played{Round: round, Packets: sum.Packets, Cents: game.Cents(sum.Cents)}
	}
	return played, nil
}

// Balance returns the cents that a player has won and was not paid out yet.
func (l *Ledger) Balance(ctx context.Context, player string) (game.Cents, error) {
	cents, err := balance(ctx, l.read, purse{}.player(player))
	if err != nil && !errors.Is(err, game.ErrNotFound) { // else nothing was won yet
		return 0, fmt.Errorf("read the balance of player %s: %w", player, err)
	}
	return cents, nil
}
