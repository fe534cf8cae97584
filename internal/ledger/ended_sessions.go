package ledger

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"
)

type endedSessionRow struct {
	bun.BaseModel `bun:"table:ended_sessions"`

	ID          string `bun:"id,pk"`
	ForgetAfter int64  `bun:"forget_after"`
}

// EndSession notes that a session has ended. It may be noted again, and is forgotten some time after the given moment.
func (l *Ledger) EndSession(ctx context.Context, id string, forgetAfter time.Time) error {
	row := endedSessionRow{ID: id, ForgetAfter: forgetAfter.UnixMilli()}
	if _, err := l.write.NewInsert().Model(&row).Ignore().Exec(ctx); err != nil {
		return fmt.Errorf("end a session: %w", err)
	}
	_, err := l.write.NewDelete().Model((*endedSessionRow)(nil)).Where("forget_after < ?", l.now().UnixMilli()).Exec(ctx)
	if err != nil {
		return fmt.Errorf("forget ended sessions: %w", err)
	}
	return nil
}

// EndedSessions returns the sessions that have ended, by id, with the moment after which each may be forgotten.
func (l *Ledger) EndedSessions(ctx context.Context) (map[string]time.Time, error) {
	var rows []endedSessionRow
	if err := l.read.NewSelect().Model(&rows).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read ended sessions: %w", err)
	}
	ended := make(map[string]time.Time, len(rows))
	for _, row := range rows {
		ended[row.ID] = time.UnixMilli(row.ForgetAfter)
	}
	return ended, nil
}
