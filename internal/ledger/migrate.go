package ledger

import (
	"context"
	"embed"
	"errors"
	"fmt"

	"github.com/pressly/goose/v3"
)

// migrationFiles has a folder for each kind of database. A file that was released is never changed again.
//
//go:embed migrations
var migrationFiles embed.FS

// Migrate brings the tables to the newest version, or leaves them if they are. Instances that start at once do it one
// after the other; each migration is a transaction of its own.
func (l *Ledger) Migrate(ctx context.Context) (err error) {
	provider, err := l.database.migrator()
	if err != nil {
		return err
	}
	// Not goose's own locking: goose makes its version table and looks for what is pending outside of that.
	unlock, err := l.database.lock(ctx, toMigrate)
	if err != nil {
		return fmt.Errorf("migrate database: %w", err)
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("migrate database: %w", err)
	}
	return nil
}

func (db database) migrator() (*goose.Provider, error) {
	provider, err := goose.NewProvider(db.goose, db.write, db.migrations, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return nil, fmt.Errorf("read migrations: %w", err)
	}
	return provider, nil
}
