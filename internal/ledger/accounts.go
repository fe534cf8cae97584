package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/feature"

	"redrain/internal/backoff"
	"redrain/internal/game"
)

// maxRowsPerInsert bounds the rows of one INSERT: databases limit the length of a statement.
const maxRowsPerInsert = 500

// batchPacing is how a transaction of many rows is spread over time: how many rows one INSERT has, and how long the transaction
// pauses after each INSERT.
//
// The pauses are for SQLite, which works inside this process. Without them a transaction keeps one core busy for as long as it
// lasts, and on two cores that doubled the p99 latency of a tap when this was introduced; with them the p99 was 1.3 times that
// without settlement (BenchmarkTapsBesideSettling in server compares the two, the README has a later figure). The price is that the
// transaction holds SQLite's only write lock several times as long, so that another writer, such as a player who joins, waits longer.
type batchPacing struct {
	size  int
	pause time.Duration
}

// unpaced inserts as much as one statement may hold, without pauses.
var unpaced = batchPacing{size: maxRowsPerInsert}

// wait pauses after one INSERT. It returns early when ctx ends; the next statement then fails with the error of ctx.
func (p batchPacing) wait(ctx context.Context) {
	if p.pause > 0 {
		backoff.Sleep(ctx, p.pause, nil)
	}
}

// accountKind says whose account it is. The kinds of rehearsals' accounts begin with playPrefix.
type accountKind string

const (
	hostKind   accountKind = "host"     // of a room: what the host is owed, mostly negative
	escrowKind accountKind = "escrow"   // of a round: what is held for its players
	playerKind accountKind = "player"   // of a player: what they won and were not paid out
	paidKind   accountKind = "paid_out" // of a room: what its host's balance system has taken over
)

const playPrefix = "play_"

type accountRow struct {
	bun.BaseModel `bun:"table:accounts"`

	ID      string      `bun:"id,pk"`
	Kind    accountKind `bun:"kind"`
	Owner   string      `bun:"owner"`
	Balance int64       `bun:"balance"`
}

// roundAccounts names the accounts that one round moves money between. A rehearsal has accounts of its own, so that play money
// never mixes with real money.
type roundAccounts struct {
	room, round string
	rehearsal   bool
}

func accountsOf(round game.Round) roundAccounts {
	return roundAccounts{room: round.Room, round: round.ID, rehearsal: round.Rehearsal}
}

func (a roundAccounts) account(kind accountKind, owner string) accountRow {
	if a.rehearsal {
		kind = playPrefix + kind
	}
	return accountRow{ID: string(kind) + ":" + owner, Kind: kind, Owner: owner}
}

func (a roundAccounts) host() accountRow                { return a.account(hostKind, a.room) }
func (a roundAccounts) escrow() accountRow              { return a.account(escrowKind, a.round) }
func (a roundAccounts) paidOut() accountRow             { return a.account(paidKind, a.room) }
func (a roundAccounts) player(player string) accountRow { return a.account(playerKind, player) }

// credit adds the Balance of each account to the account of this id, and creates accounts that do not exist. Each account may be
// there only once, and each amount must be above 0.
func credit(ctx context.Context, tx bun.Tx, accounts []accountRow, pacing batchPacing) error {
	// All transactions lock accounts in the order of their ids, so that two of them cannot deadlock.
	slices.SortFunc(accounts, func(a, b accountRow) int { return strings.Compare(a.ID, b.ID) })
	for batch := range slices.Chunk(accounts, pacing.size) {
		query := tx.NewInsert().Model(&batch)
		if tx.Dialect().Features().Has(feature.InsertOnDuplicateKey) {
			query = query.On("DUPLICATE KEY UPDATE").Set("balance = balance + VALUES(balance)")
		} else {
			query = query.On("CONFLICT (id) DO UPDATE").Set("balance = ?TableAlias.balance + EXCLUDED.balance")
		}
		if _, err := query.Exec(ctx); err != nil {
			return err
		}
		pacing.wait(ctx)
	}
	return nil
}

// debit takes from an account that exists. A CHECK in the database refuses to let an escrow or a player go below 0.
func debit(ctx context.Context, tx bun.Tx, account accountRow, cents game.Cents) error {
	_, err := tx.NewUpdate().Model((*accountRow)(nil)).Set("balance = balance - ?", int64(cents)).
		Where("id = ?", account.ID).Exec(ctx)
	return err
}

// balance reads the balance of an account. game.ErrNotFound: nothing was ever moved to or from it.
func balance(ctx context.Context, db bun.IDB, account accountRow) (game.Cents, error) {
	var cents int64
	err := db.NewSelect().Model((*accountRow)(nil)).Column("balance").Where("id = ?", account.ID).Scan(ctx, &cents)
	return game.Cents(cents), mapNoRows(err)
}

// purpose says what a movement is for. Purpose and number are its key within a round, so nothing is moved twice. Money that goes
// from an escrow to a player is no movementRow: the claimRow itself stands for it.
type purpose string

const (
	forEscrow purpose = "escrow" // host → escrow, when a round begins
	forRefund purpose = "refund" // escrow → host
	forPayout purpose = "payout" // player → paid_out
)

// movementRow is money that goes from one account to another: one row stands for both of its entries, so these sum to zero.
type movementRow struct {
	bun.BaseModel `bun:"table:movements"`

	Round   string  `bun:"round,pk"`
	Purpose purpose `bun:"kind,pk"`
	Number  int     `bun:"number,pk"`
	From    string  `bun:"from_account"`
	To      string  `bun:"to_account"`
	Cents   int64   `bun:"cents"`
	MovedAt int64   `bun:"moved_at"`
}

// transfer moves money once between two accounts; the account from must exist. A second movement with the same key is an error.
func transfer(ctx context.Context, tx bun.Tx, from, to accountRow, m movementRow) error {
	if m.Cents == 0 {
		return nil
	}
	m.From, m.To = from.ID, to.ID
	if _, err := tx.NewInsert().Model(&m).Exec(ctx); err != nil {
		return err
	}
	if err := debit(ctx, tx, from, game.Cents(m.Cents)); err != nil {
		return err
	}
	to.Balance = m.Cents
	return credit(ctx, tx, []accountRow{to}, unpaced)
}

// creditWinners moves the money of claims, which were inserted before, from a round's escrow to their players. Each balance is
// changed once, however many claims a player has.
func creditWinners(ctx context.Context, tx bun.Tx, accounts roundAccounts, claims []claimRow, pacing batchPacing) error {
	var total int64
	gains := make(map[string]int64, len(claims))
	for i := range claims {
		c := &claims[i]
		total += c.Cents
		gains[c.Player] += c.Cents
	}
	if err := debit(ctx, tx, accounts.escrow(), game.Cents(total)); err != nil {
		return err
	}
	players := make([]accountRow, 0, len(gains))
	for player, gain := range gains {
		account := accounts.player(player)
		account.Balance = gain
		players = append(players, account)
	}
	return credit(ctx, tx, players, pacing)
}

// Escrow is what is held for a round's players right now.
func (l *Ledger) Escrow(ctx context.Context, round game.Round) (game.Cents, error) {
	cents, err := balance(ctx, l.read, accountsOf(round).escrow())
	if err != nil {
		return 0, fmt.Errorf("read escrow of round %s: %w", round.ID, err)
	}
	return cents, nil
}

// HostBalance is the balance of a room's host in cents: below 0 is what the host owes for claims and for what is held in escrow.
// Rehearsals do not count. A host who never began a round has 0.
func (l *Ledger) HostBalance(ctx context.Context, room string) (game.Cents, error) {
	cents, err := balance(ctx, l.read, roundAccounts{room: room}.host())
	if errors.Is(err, game.ErrNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read the balance of the host of room %s: %w", room, err)
	}
	return cents, nil
}

// Balance returns the cents that a player has won and was not paid out yet.
func (l *Ledger) Balance(ctx context.Context, player string) (game.Cents, error) {
	cents, err := balance(ctx, l.read, roundAccounts{}.player(player))
	if err != nil && !errors.Is(err, game.ErrNotFound) { // not found: the player has won nothing yet
		return 0, fmt.Errorf("read the balance of player %s: %w", player, err)
	}
	return cents, nil
}
