package ledger

import (
	"context"
	"slices"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/feature"

	"redrain/internal/backoff"
	"redrain/internal/game"
)

// rowsAtOnce bounds the rows of one INSERT: databases limit the length of a statement.
const rowsAtOnce = 500

// stride is how a transaction makes its way: how many rows it inserts at once, and how long it rests then.
type stride struct {
	rows int
	rest time.Duration
}

var fullStride = stride{rows: rowsAtOnce}

// pause rests, unless ctx ends, which the next statement notices.
func (s stride) pause(ctx context.Context) {
	if s.rest > 0 {
		backoff.Sleep(ctx, s.rest, nil)
	}
}

// kind says whose account it is. Those of rehearsals begin with play.
type kind string

const (
	hostKind   kind = "host"     // of a room: what the host is owed, mostly negative
	escrowKind kind = "escrow"   // of a round: what is held for its players
	playerKind kind = "player"   // of a player: what they won and were not paid out
	paidKind   kind = "paid_out" // of a room: what its host's balance system has taken over
)

type accountRow struct {
	bun.BaseModel `bun:"table:accounts"`

	ID      string `bun:"id,pk"`
	Kind    kind   `bun:"kind"`
	Owner   string `bun:"owner"`
	Balance int64  `bun:"balance"`
}

// purse names the accounts of one round: real ones, or those of a rehearsal.
type purse struct {
	room, round string
	rehearsal   bool
}

func (p purse) account(of kind, owner string) accountRow {
	if p.rehearsal {
		of = "play_" + of
	}
	return accountRow{ID: string(of) + ":" + owner, Kind: of, Owner: owner}
}

func (p purse) host() accountRow                { return p.account(hostKind, p.room) }
func (p purse) escrow() accountRow              { return p.account(escrowKind, p.round) }
func (p purse) paidOut() accountRow             { return p.account(paidKind, p.room) }
func (p purse) player(player string) accountRow { return p.account(playerKind, player) }

// credit adds to accounts, which it makes where there are none. Each account comes once; all must gain.
func credit(ctx context.Context, tx bun.Tx, accounts []accountRow, by stride) error {
	// In one order in all transactions, so that no two can each hold what the other waits for.
	slices.SortFunc(accounts, func(a, b accountRow) int { return compareText(a.ID, b.ID) })
	for some := range slices.Chunk(accounts, by.rows) {
		query := tx.NewInsert().Model(&some)
		if tx.Dialect().Features().Has(feature.InsertOnDuplicateKey) {
			query = query.On("DUPLICATE KEY UPDATE").Set("balance = balance + VALUES(balance)")
		} else {
			query = query.On("CONFLICT (id) DO UPDATE").Set("balance = ?TableAlias.balance + EXCLUDED.balance")
		}
		if _, err := query.Exec(ctx); err != nil {
			return err
		}
		by.pause(ctx)
	}
	return nil
}

// debit takes from an account that exists; the database refuses what it does not allow.
func debit(ctx context.Context, tx bun.Tx, account accountRow, cents game.Cents) error {
	_, err := tx.NewUpdate().Model((*accountRow)(nil)).Set("balance = balance - ?", int64(cents)).
		Where("id = ?", account.ID).Exec(ctx)
	return err
}

func balance(ctx context.Context, db bun.IDB, account accountRow) (game.Cents, error) {
	var cents int64
	err := db.NewSelect().Model((*accountRow)(nil)).Column("balance").Where("id = ?", account.ID).Scan(ctx, &cents)
	return game.Cents(cents), orNotFound(err)
}

func compareText(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
