package ledger

import (
	"context"
	"database/sql"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"redrain/internal/game"
)

// Every transaction that reads a round and acts on what it read locks the round's row first, and holds the lock until it ends. All
// transactions take locks in one order, so that no two of them can deadlock:
//
//	room (only if its active round changes, or the order of its drafts) → round → its books → accounts by their ids
//
// What is read after taking a lock is what the holder before has committed, whatever the isolation level. As a second line of
// defence, the last UPDATE of a transaction repeats in its WHERE what the transaction relied on, and errRowChanged rolls the
// transaction back if that is no longer so: the lock did not work then.

// lockRoomOf locks the room of a round. game.ErrNotFound: there is no such round.
func lockRoomOf(ctx context.Context, tx bun.Tx, round string) (*roomRow, error) {
	room := new(roomRow)
	code := tx.NewSelect().Model((*roundRow)(nil)).Column("room").Where("id = ?", round)
	err := forUpdate(tx.NewSelect().Model(room).Where("code = (?)", code)).Scan(ctx)
	return room, mapNoRows(err)
}

// lockRoom locks a room. game.ErrNotFound: there is none with this code.
func lockRoom(ctx context.Context, tx bun.Tx, code string) error {
	return mapNoRows(forUpdate(tx.NewSelect().Model(new(roomRow)).Where("code = ?", code)).Scan(ctx))
}

// lockRound locks a round and reads it. game.ErrNotFound: there is none with this id.
func lockRound(ctx context.Context, tx bun.Tx, id string) (game.Round, error) {
	row := new(roundRow)
	if err := forUpdate(tx.NewSelect().Model(row).Where("id = ?", id)).Scan(ctx); err != nil {
		return game.Round{}, mapNoRows(err)
	}
	return row.round(), nil
}

// lockBooks locks the books of a round that is locked already. game.ErrNotFound: the round was never begun.
func lockBooks(ctx context.Context, tx bun.Tx, round string) (*booksRow, error) {
	row := new(booksRow)
	err := forUpdate(tx.NewSelect().Model(row).Where("round = ?", round)).Scan(ctx)
	return row, mapNoRows(err)
}

// forUpdate makes a SELECT lock what it reads. In SQLite a transaction that writes holds the whole file from its beginning.
func forUpdate(query *bun.SelectQuery) *bun.SelectQuery {
	if query.Dialect().Name() == dialect.SQLite {
		return query
	}
	return query.For("UPDATE")
}

// updateRound changes a locked round if its phase and its freeze version are still those that were read.
func updateRound(ctx context.Context, tx bun.Tx, round game.Round, set func(*bun.UpdateQuery) *bun.UpdateQuery) error {
	query := tx.NewUpdate().Model((*roundRow)(nil)).Where("id = ?", round.ID).
		Where("phase = ?", round.Phase).Where("freeze_version = ?", round.FreezeVersion)
	return requireOneRow(set(query).Exec(ctx))
}

// requireOneRow returns errRowChanged unless a statement changed exactly one row.
func requireOneRow(result sql.Result, err error) error {
	if err != nil {
		return err
	}
	changed, err := result.RowsAffected()
	if err == nil && changed != 1 {
		err = errRowChanged
	}
	return err
}

// deadlockTries bounds how often a transaction is tried that the database rolled back to break a deadlock. No deadlock is known,
// but databases lock more than they are asked to.
const deadlockTries = 3

// inTx runs change in one transaction, with the default timeout if ctx has no deadline. It runs change again if the database rolled
// the transaction back to break a deadlock, so change must set all variables outside of it anew each time.
func (l *Ledger) inTx(ctx context.Context, change func(context.Context, bun.Tx) error) (err error) {
	ctx, cancel := withDefaultTimeout(ctx)
	defer cancel()
	for range deadlockTries {
		err = l.write.RunInTx(ctx, l.database.transactions, change)
		if err == nil || !l.database.isDeadlock(err) {
			return err
		}
	}
	return err
}
