package ledger

import (
	"context"
	"database/sql"
	"errors"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"

	"redrain/internal/game"
)

// Every transaction that reads a round and acts on what it read locks the round's row first, and keeps it until it ends. Locks
// are taken in one order, so that no two transactions each hold what the other waits for:
//
//	room (only by what takes or frees it, or orders its drafts) → round → its books → accounts by their ids
//
// What is read after a lock is what the holder before has committed, whatever the isolation. The last UPDATE of a step says
// again what it relied on, and errStale ends the transaction if that is no longer so: then the lock did not hold.

// errStale says that a row changed although this transaction had locked it, or is not there any more. Nothing was done.
var errStale = errors.New("the row is no longer as it was read")

// lockRoomOf locks the room of a round. game.ErrNotFound: there is no such round.
func lockRoomOf(ctx context.Context, tx bun.Tx, round string) (*roomRow, error) {
	room := new(roomRow)
	code := tx.NewSelect().Model((*roundRow)(nil)).Column("room").Where("id = ?", round)
	err := forUpdate(tx.NewSelect().Model(room).Where("code = (?)", code)).Scan(ctx)
	return room, orNotFound(err)
}

// lockRoom locks a room. game.ErrNotFound: there is none with this code.
func lockRoom(ctx context.Context, tx bun.Tx, code string) error {
	return orNotFound(forUpdate(tx.NewSelect().Model(new(roomRow)).Where("code = ?", code)).Scan(ctx))
}

// lockRound locks a round and reads it. game.ErrNotFound: there is none with this id.
func lockRound(ctx context.Context, tx bun.Tx, id string) (game.Round, error) {
	row := new(roundRow)
	if err := forUpdate(tx.NewSelect().Model(row).Where("id = ?", id)).Scan(ctx); err != nil {
		return game.Round{}, orNotFound(err)
	}
	return row.round()
}

// lockBooks locks the books of a round that is locked already. game.ErrNotFound: the round was never begun.
func lockBooks(ctx context.Context, tx bun.Tx, round string) (*booksRow, error) {
	row := new(booksRow)
	err := forUpdate(tx.NewSelect().Model(row).Where("round = ?", round)).Scan(ctx)
	return row, orNotFound(err)
}

// forUpdate makes a SELECT lock what it reads. In SQLite a transaction that writes holds the whole file from its beginning.
func forUpdate(query *bun.SelectQuery) *bun.SelectQuery {
	if query.Dialect().Name() == dialect.SQLite {
		return query
	}
	return query.For("UPDATE")
}

// updateRound changes a locked round if it is still in the phase and under the freeze that were read.
func updateRound(ctx context.Context, tx bun.Tx, round game.Round, set func(*bun.UpdateQuery) *bun.UpdateQuery) error {
	query := tx.NewUpdate().Model((*roundRow)(nil)).Where("id = ?", round.ID).
		Where("phase = ?", round.Phase).Where("freeze_version = ?", round.FreezeVersion)
	return wantOne(set(query).Exec(ctx))
}

// wantOne is for a statement that must change exactly one row.
func wantOne(result sql.Result, err error) error {
	if err != nil {
		return err
	}
	changed, err := result.RowsAffected()
	if err == nil && changed != 1 {
		err = errStale
	}
	return err
}

// deadlockTries bounds how often a transaction is run that the database ended to break a deadlock. None is known, but databases
// lock more than what they are told to.
const deadlockTries = 3

// inTx runs a change in one transaction, and again if the database undid it to break a deadlock: so change must give everything
// that it hands out its value anew. It is bounded if the caller's context is not.
func (l *Ledger) inTx(ctx context.Context, change func(context.Context, bun.Tx) error) (err error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	for range deadlockTries {
		err = l.write.RunInTx(ctx, l.database.transactions, change)
		if err == nil || !l.database.deadlocked(err) {
			return err
		}
	}
	return err
}
