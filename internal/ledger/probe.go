package ledger

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"redrain/internal/probe"
)

// probeRow is what an instance writes to prove that it can.
type probeRow struct {
	bun.BaseModel `bun:"table:probes"`

	Instance  string `bun:"instance,pk"`
	WrittenAt int64  `bun:"written_at"` // ms since 1970
}

const (
	// probeLifetime is how long after its last write an instance counts as ended. Clocks of instances may differ by far less; the row
	// of one that was only suspended is made anew.
	probeLifetime = time.Hour
	// probesRemoved is the most rows of ended instances that one that starts removes. It adds one.
	probesRemoved = 100
)

// Probe proves that the database takes writes, with one row an instance. A failure is a probe.Failure. It also drops the idle
// connections for changes: some fail until they are made anew, such as one to a server that is a replica now, or one that met a full disk.
func (l *Ledger) Probe(ctx context.Context, instance string) error {
	err := l.writeProbe(ctx, probeRow{Instance: instance, WrittenAt: l.now().UnixMilli()})
	if err == nil {
		return nil
	}
	l.database.dropIdleWriters()
	return &probe.Failure{Reason: l.database.probeReason(err), Err: fmt.Errorf("takes no writes: %w", err)}
}

func (l *Ledger) writeProbe(ctx context.Context, row probeRow) error {
	result, err := l.write.NewUpdate().Model(&row).WherePK().Exec(ctx)
	if err != nil {
		return err
	}
	if known, err := result.RowsAffected(); known > 0 || err != nil {
		return err
	}
	if _, err := l.write.NewInsert().Model(&row).Ignore().Exec(ctx); err != nil {
		return err
	}
	return l.removeOldProbes(ctx)
}

func (l *Ledger) removeOldProbes(ctx context.Context) error {
	var old []string
	err := l.read.NewSelect().Model((*probeRow)(nil)).Column("instance").
		Where("written_at < ?", l.now().Add(-probeLifetime).UnixMilli()).Limit(probesRemoved).Scan(ctx, &old)
	if err != nil || len(old) == 0 {
		return err
	}
	_, err = l.write.NewDelete().Model((*probeRow)(nil)).Where("instance IN (?)", bun.List(old)).Exec(ctx)
	return err
}

// probeReason is the reason of an error of a probe. A SQLite file that does not answer in time is held by another process.
func (db database) probeReason(err error) probe.Reason {
	reason := ReasonOf(err)
	if reason == probe.Unreachable && db.lockExclusively != nil {
		return probe.Locked
	}
	return reason
}

// dropIdleWriters closes the connections for changes that nobody uses right now.
func (db database) dropIdleWriters() {
	db.write.SetMaxIdleConns(0)
	db.write.SetMaxIdleConns(db.maxIdleWriters)
}
