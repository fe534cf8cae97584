package ledger

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"redrain/internal/game"
)

type deadLetterRow struct {
	bun.BaseModel `bun:"table:dead_letters"`

	Round    string `bun:"round,pk"`
	Entry    string `bun:"entry,pk"`
	Raw      string `bun:"raw"`
	Reason   string `bun:"reason"`
	NotedAt  int64  `bun:"noted_at"`
	DrivenAt int64  `bun:"driven_at"`
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
		letters[i] = game.DeadLetter{Entry: row.Entry, Raw: row.Raw, Reason: row.Reason, Driven: row.DrivenAt > 0}
	}
	return letters, nil
}

// NoteDriven notes that a dead letter could be booked after all.
func (l *Ledger) NoteDriven(ctx context.Context, round, entry string) error {
	_, err := l.write.NewUpdate().Model((*deadLetterRow)(nil)).Set("driven_at = ?", l.now().UnixMilli()).
		Where("round = ?", round).Where("entry = ?", entry).Exec(ctx)
	if err != nil {
		return fmt.Errorf("note a driven dead letter of round %s: %w", round, err)
	}
	return nil
}
