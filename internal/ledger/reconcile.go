package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"redrain/internal/game"
)

// SumBalances sums all accounts, which is 0 at every moment. It reads every account: it is for whoever checks the books as a whole.
func (l *Ledger) SumBalances(ctx context.Context) (game.Cents, error) {
	var cents int64
	err := l.read.NewSelect().Model((*accountRow)(nil)).ColumnExpr("COALESCE(SUM(balance), 0)").Scan(ctx, &cents)
	if err != nil {
		return 0, fmt.Errorf("sum the accounts: %w", err)
	}
	return game.Cents(cents), nil
}

// UnbalancedAccounts returns the accounts whose balance is not the sum of their entries. It reads everything.
func (l *Ledger) UnbalancedAccounts(ctx context.Context) ([]game.Difference, error) {
	var rows []unbalancedRow
	err := l.read.NewSelect().TableExpr("accounts AS a").
		Join("LEFT JOIN (SELECT account, SUM(cents) AS cents FROM entries GROUP BY account) AS e ON e.account = a.id").
		ColumnExpr("a.id AS id, a.balance AS balance, COALESCE(e.cents, 0) AS entries").
		Where("a.balance <> COALESCE(e.cents, 0)").Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("compare accounts with their entries: %w", err)
	}
	return toDifferences(rows), nil
}

type unbalancedRow struct {
	ID      string
	Balance int64
	Entries int64
}

func toDifferences(rows []unbalancedRow) []game.Difference {
	differences := make([]game.Difference, len(rows))
	for i, row := range rows {
		differences[i] = game.Difference{What: "balance_cents of " + row.ID, Expected: row.Entries, Found: row.Balance}
	}
	return differences
}

// UnbalancedAccountsOf returns the accounts of a room whose balance is not the sum of their entries: those of its host, its rounds and
// their players, as far as a round ever moved anything on them. All entries of such an account are of the room's rounds, so
// nothing else is read.
func (l *Ledger) UnbalancedAccountsOf(ctx context.Context, room string) ([]game.Difference, error) {
	var rows []unbalancedRow
	entries := l.movementsIn(room, "m.from_account", "-m.cents").UnionAll(l.movementsIn(room, "m.to_account", "m.cents")).
		UnionAll(l.claimsIn(room, escrowKind, "b.round", "-c.cents")).UnionAll(l.claimsIn(room, playerKind, "c.player", "c.cents"))
	err := l.read.NewSelect().TableExpr("(?) AS e", entries).Join("LEFT JOIN accounts AS a ON a.id = e.account").
		ColumnExpr("e.account AS id, COALESCE(MAX(a.balance), 0) AS balance, SUM(e.cents) AS entries").
		GroupExpr("e.account").Having("SUM(e.cents) <> COALESCE(MAX(a.balance), 0)").OrderExpr("e.account").Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("compare the accounts of room %s with their entries: %w", room, err)
	}
	return toDifferences(rows), nil
}

// movementsIn are entries of a room's movements: an account and cents of each.
func (l *Ledger) movementsIn(room, account, cents string) *bun.SelectQuery {
	return l.read.NewSelect().TableExpr("rounds AS r").Join("JOIN movements AS m ON m.round = r.id").
		ColumnExpr("? AS account, ? AS cents", bun.Safe(account), bun.Safe(cents)).Where("r.room = ?", room)
}

// claimsIn are entries of a room's claims on accounts of one kind.
func (l *Ledger) claimsIn(room string, of accountKind, owner, cents string) *bun.SelectQuery {
	account := "CASE WHEN r.rehearsal THEN ? ELSE ? END || ?"
	if l.read.Dialect().Name() == dialect.MySQL {
		account = "CONCAT(CASE WHEN r.rehearsal THEN ? ELSE ? END, ?)"
	}
	forPlay, forMoney := roundAccounts{rehearsal: true}.account(of, "").ID, roundAccounts{}.account(of, "").ID
	return l.read.NewSelect().TableExpr("rounds AS r").Join("JOIN round_books AS b ON b.round = r.id").
		Join("JOIN claims AS c ON c.book = b.book").ColumnExpr(account+" AS account", forPlay, forMoney, bun.Safe(owner)).
		ColumnExpr("? AS cents", bun.Safe(cents)).Where("r.room = ?", room)
}

// Moved returns what moved into a round's escrow from its host, and from there back; what moved on to players are its claims.
func (l *Ledger) Moved(ctx context.Context, round string) (game.Moved, error) {
	in, errIn := l.movedFor(ctx, round, forEscrow)
	back, errBack := l.movedFor(ctx, round, forRefund)
	if err := errors.Join(errIn, errBack); err != nil {
		return game.Moved{}, fmt.Errorf("read what moved for round %s: %w", round, err)
	}
	return game.Moved{In: in, Back: back}, nil
}

// movedFor reads one movement by its whole key: a round has up to a million payouts beside it.
func (l *Ledger) movedFor(ctx context.Context, round string, of purpose) (game.Cents, error) {
	var cents int64
	err := l.read.NewSelect().Model((*movementRow)(nil)).Column("cents").
		Where("round = ?", round).Where("kind = ?", of).Where("number = 0").Scan(ctx, &cents)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return game.Cents(cents), err
}
