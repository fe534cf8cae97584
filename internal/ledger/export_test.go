package ledger

import (
	"context"
	"database/sql"

	"github.com/uptrace/bun"
)

// LockBeside lets tests hold what Migrate waits for.
var LockBeside = lockBeside

// MigrateTo brings the tables up or down to a version.
func MigrateTo(ctx context.Context, l *Ledger, version int64) error {
	provider, err := l.database.migrator()
	if err != nil {
		return err
	}
	if _, err = provider.UpTo(ctx, version); err == nil {
		_, err = provider.DownTo(ctx, version)
	}
	return err
}

// Pools are the connections of a ledger.
func Pools(l *Ledger) map[string]*sql.DB {
	return map[string]*sql.DB{"read": l.database.read, "write": l.database.write}
}

// BeforeEachStatement calls a function before each statement of a ledger's transactions.
func BeforeEachStatement(l *Ledger, call func(statement string)) {
	l.write.AddQueryHook(statementHook(call))
}

type statementHook func(statement string)

func (h statementHook) BeforeQuery(ctx context.Context, event *bun.QueryEvent) context.Context {
	h(event.Query)
	return ctx
}

func (statementHook) AfterQuery(context.Context, *bun.QueryEvent) {}
