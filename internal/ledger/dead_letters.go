package ledger

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"redrain/internal/game"
)

type deadLetterRow struct {
	bun.BaseModel `bun:"table:dead_letters"`

	Round      string `bun:"round,pk"`
	Entry      string `bun:"entry,pk"`
	Raw        string `bun:"raw"`
	Reason     string `bun:"reason"`
	NotedAt    int64  `bun:"noted_at"`
	ReplayedAt int64  `bun:"driven_at"`
}

// bury keeps an entry that does not parse, once.
func (b *booking) bury(ctx context.Context, entry game.Entry) error {
	row := &deadLetterRow{Round: b.round.ID, Entry: entry.ID, Raw: entry.Raw, Reason: entry.Fault, NotedAt: b.now}
	result, err := b.tx.NewInsert().Model(row).Ignore().Exec(ctx)
	if err != nil {
		return err
	}
	buried, err := result.RowsAffected()
	b.booked.DeadLetters += int(buried)
	return err
}

// DeadLetters returns the entries of a round that do not parse, in the order of their ids.
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

// ReplayDeadLetter books an entry that was a dead letter and can be read by now. What the host released the round without is no
// difference any more.
func (l *Ledger) ReplayDeadLetter(ctx context.Context, round string, entry game.Entry) (game.Booked, error) {
	var b *booking
	err := l.inTx(ctx, func(ctx context.Context, tx bun.Tx) (err error) {
		if b, err = l.newBooking(ctx, tx, round); err != nil {
			return err
		}
		letter := new(deadLetterRow)
		err = tx.NewSelect().Model(letter).Where("round = ?", round).Where("entry = ?", entry.ID).Scan(ctx)
		if err != nil || letter.ReplayedAt > 0 {
			return orNotFound(err)
		}
		if err := b.book(ctx, []game.Entry{entry}); err != nil {
			return err
		}
		b.found(letter.NotedAt, b.booked.Claims, int64(b.booked.Cents))
		letter.ReplayedAt = b.now
		if err := wantOne(tx.NewUpdate().Model(letter).Column("driven_at").WherePK().Where("driven_at = 0").Exec(ctx)); err != nil {
			return err
		}
		return b.finish(ctx)
	})
	if err != nil {
		return game.Booked{}, fmt.Errorf("drive a dead letter of round %s: %w", round, l.orRefused(err))
	}
	return b.booked, nil
}

// found takes claims out of the difference that the host released the round with, if they were missing then.
func (b *booking) found(notedAt int64, claims int, cents int64) {
	if notedAt <= b.books.ReleasedAt {
		b.books.AcceptedClaims += claims
		b.books.AcceptedCents += cents
	}
}
