package ledger

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"redrain/internal/game"
)

// quarantineReason is why a claim was not booked but put into quarantine.
type quarantineReason string

const (
	reasonOverdraw quarantineReason = "overdraw" // the escrow does not cover it
	reasonConflict quarantineReason = "conflict" // the ledger has another claim under this number, or for this player and drop
	reasonBeyond   quarantineReason = "beyond"   // its number is above the round's packets
)

type quarantineRow struct {
	bun.BaseModel `bun:"table:quarantine"`

	Round      string           `bun:"round,pk"`
	Number     int              `bun:"number,pk"`
	Player     string           `bun:"player,pk"`
	Drop       int32            `bun:"drop_id,pk"`
	Cents      int64            `bun:"cents,pk"`
	ClaimedAt  int64            `bun:"claimed_at"`
	Reason     quarantineReason `bun:"reason"`
	NotedAt    int64            `bun:"noted_at"`
	ReplayedAt int64            `bun:"driven_at"`
}

// quarantineKey identifies a claim within the quarantine of a round.
type quarantineKey struct {
	number int
	player string
	drop   int32
	cents  int64
}

func quarantineKeyOf(c *claimRow) quarantineKey {
	return quarantineKey{c.Number, c.Player, c.Drop, c.Cents}
}

// quarantine stores claims that are not booked, each once, with the reason.
func (b *booking) quarantine(ctx context.Context, claims []claimRow, reason quarantineReason) error {
	for i := range claims {
		c := &claims[i]
		row := &quarantineRow{
			Round: b.round.ID, Number: c.Number, Player: c.Player, Drop: c.Drop, Cents: c.Cents, ClaimedAt: c.ClaimedAt,
			Reason: reason, NotedAt: b.now,
		}
		if _, err := b.tx.NewInsert().Model(row).Ignore().Exec(ctx); err != nil {
			return err
		}
	}
	b.booked.Quarantined += len(claims)
	return nil
}

// quarantineConflicts puts claims into quarantine that contradict the ledger, and raises the alarm.
func (b *booking) quarantineConflicts(ctx context.Context, claims []claimRow) error {
	if len(claims) > 0 {
		b.alarm("claim %d came again as another one", claims[0].Number)
	}
	return b.quarantine(ctx, claims, reasonConflict)
}

// readQuarantined reads which of the claims, sorted by number, were put into quarantine before.
func (b *booking) readQuarantined(ctx context.Context, claims []claimRow) (map[quarantineKey]bool, error) {
	var rows []quarantineRow
	first, last := claims[0].Number, claims[len(claims)-1].Number
	err := b.tx.NewSelect().Model(&rows).Where("round = ?", b.round.ID).Where("number BETWEEN ? AND ?", first, last).Scan(ctx)
	known := make(map[quarantineKey]bool, len(rows))
	for i := range rows {
		known[quarantineKey{rows[i].Number, rows[i].Player, rows[i].Drop, rows[i].Cents}] = true
	}
	return known, err
}

// Quarantined returns the claims of a round that were put into quarantine, in the order of their numbers, also those that were
// replayed since.
func (l *Ledger) Quarantined(ctx context.Context, round string) ([]game.Quarantined, error) {
	var rows []quarantineRow
	err := l.read.NewSelect().Model(&rows).Where("round = ?", round).Order("number", "player", "drop_id", "cents").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read quarantine of round %s: %w", round, err)
	}
	claims := make([]game.Quarantined, len(rows))
	for i, row := range rows {
		claims[i] = game.Quarantined{
			Claim:  game.Claim{Player: row.Player, Drop: game.DropID(row.Drop), Cents: game.Cents(row.Cents), Number: row.Number},
			Reason: string(row.Reason), Replayed: row.ReplayedAt > 0,
		}
	}
	return claims, nil
}

// ReplayQuarantine tries to book the claims of a round that are in quarantine, in the order of their numbers, as far as the escrow
// covers them. It returns how many were booked. A claim whose number is taken by another claim is booked under a number above
// the round's packets. The host then pays for one claim more than Redis has granted, and that difference counts as accepted.
func (l *Ledger) ReplayQuarantine(ctx context.Context, round string) (replayed int, err error) {
	err = l.inTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		replayed = 0
		b, err := l.lockRoundAndBooks(ctx, tx, round)
		if err != nil {
			return err
		}
		var rows []quarantineRow
		err = tx.NewSelect().Model(&rows).Where("round = ?", round).Where("driven_at = 0").
			Order("number", "player", "drop_id", "cents").Scan(ctx)
		if err != nil {
			return err
		}
		for i := range rows {
			booked, err := b.replay(ctx, &rows[i])
			if err != nil {
				return err
			}
			if booked {
				replayed++
			}
		}
		return b.finish(ctx)
	})
	if err != nil {
		return 0, fmt.Errorf("replay quarantine of round %s: %w", round, err)
	}
	return replayed, nil
}

// replay books one claim from the quarantine if the escrow covers it and its player has no claim for the drop.
func (b *booking) replay(ctx context.Context, row *quarantineRow) (bool, error) {
	left, err := balance(ctx, b.tx, b.accounts.escrow())
	if err != nil || game.Cents(row.Cents) > left {
		return false, err
	}
	c := claimRow{Book: b.books.Book, Number: row.Number, Player: row.Player, Drop: row.Drop, Cents: row.Cents, ClaimedAt: row.ClaimedAt}
	extra := row.Reason != reasonOverdraw
	if extra {
		if c.Number, err = b.extraNumber(ctx); err != nil {
			return false, err
		}
	}
	written, _, err := b.insertClaims(ctx, []claimRow{c})
	if err != nil || len(written) == 0 {
		return false, err
	}
	if extra {
		b.books.AcceptedClaims++
		b.books.AcceptedCents += c.Cents
	} else {
		b.reduceAcceptedLoss(row.NotedAt, 1, c.Cents)
	}
	if err := b.creditPlayers(ctx, written); err != nil {
		return false, err
	}
	row.ReplayedAt = b.now
	return true, requireOneRow(b.tx.NewUpdate().Model(row).Column("driven_at").WherePK().Where("driven_at = 0").Exec(ctx))
}

// extraNumber is the next free number above the round's packets; Redis never grants numbers there.
func (b *booking) extraNumber(ctx context.Context) (int, error) {
	last, err := lastNumber(ctx, b.tx, b.round.ID)
	return max(last, b.round.Settings.Packets) + 1, err
}

type deadLetterRow struct {
	bun.BaseModel `bun:"table:dead_letters"`

	Round      string `bun:"round,pk"`
	Entry      string `bun:"entry,pk"`
	Raw        string `bun:"raw"`
	Reason     string `bun:"reason"`
	NotedAt    int64  `bun:"noted_at"`
	ReplayedAt int64  `bun:"driven_at"`
}

// addDeadLetter stores an outbox entry that does not parse, once.
func (b *booking) addDeadLetter(ctx context.Context, entry game.Entry) error {
	row := &deadLetterRow{Round: b.round.ID, Entry: entry.ID, Raw: entry.Raw, Reason: entry.Fault, NotedAt: b.now}
	result, err := b.tx.NewInsert().Model(row).Ignore().Exec(ctx)
	if err != nil {
		return err
	}
	added, err := result.RowsAffected()
	b.booked.DeadLetters += int(added)
	return err
}

// DeadLetters returns the entries of a round that do not parse, in the order of their ids, also those that were replayed since.
func (l *Ledger) DeadLetters(ctx context.Context, round string) ([]game.DeadLetter, error) {
	var rows []deadLetterRow
	if err := l.read.NewSelect().Model(&rows).Where("round = ?", round).Order("entry").Scan(ctx); err != nil {
		return nil, fmt.Errorf("read dead letters of round %s: %w", round, err)
	}
	letters := make([]game.DeadLetter, len(rows))
	for i, row := range rows {
		letters[i] = game.DeadLetter{Entry: row.Entry, Raw: row.Raw, Reason: row.Reason, Replayed: row.ReplayedAt > 0}
	}
	return letters, nil
}

// ReplayDeadLetter books an entry that was a dead letter and that parses now, once. If a host released the round while the claims
// of the entry were missing from the ledger, they no longer count as an accepted difference.
func (l *Ledger) ReplayDeadLetter(ctx context.Context, round string, entry game.Entry) (game.Booked, error) {
	var b *booking
	err := l.inTx(ctx, func(ctx context.Context, tx bun.Tx) (err error) {
		if b, err = l.lockRoundAndBooks(ctx, tx, round); err != nil {
			return err
		}
		letter := new(deadLetterRow)
		err = tx.NewSelect().Model(letter).Where("round = ?", round).Where("entry = ?", entry.ID).Scan(ctx)
		if err != nil || letter.ReplayedAt > 0 {
			return mapNoRows(err)
		}
		if err := b.book(ctx, []game.Entry{entry}); err != nil {
			return err
		}
		b.reduceAcceptedLoss(letter.NotedAt, b.booked.Claims, int64(b.booked.Cents))
		letter.ReplayedAt = b.now
		if err := requireOneRow(tx.NewUpdate().Model(letter).Column("driven_at").WherePK().Where("driven_at = 0").Exec(ctx)); err != nil {
			return err
		}
		return b.finish(ctx)
	})
	if err != nil {
		return game.Booked{}, fmt.Errorf("replay a dead letter of round %s: %w", round, l.markRefused(err))
	}
	return b.booked, nil
}

// reduceAcceptedLoss is called when claims are booked late that came at notedAt. If the host has released the round since, the
// accepted difference counts these claims as missing from the ledger; they are not missing any more.
func (b *booking) reduceAcceptedLoss(notedAt int64, claims int, cents int64) {
	if notedAt <= b.books.ReleasedAt {
		b.books.AcceptedClaims += claims
		b.books.AcceptedCents += cents
	}
}
