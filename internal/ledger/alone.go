package ledger

import (
	"context"
	"fmt"
	"time"

	"redrain/internal/game"
)

// lockPurpose is what only one instance may do at a time.
type lockPurpose int

const (
	toMigrate lockPurpose = iota
	toBeAlone
)

// aloneWithin is how long the session of an instance that died may take to end.
const aloneWithin = 5 * time.Second

// Alone makes sure that no other instance has said the same of this database, until release. It is for an instance with a
// Redis of its own: two such would take each other's rounds for lost. game.ErrBusy: there is another.
func (l *Ledger) Alone(ctx context.Context) (release func() error, err error) {
	ctx, cancel := context.WithTimeout(ctx, aloneWithin)
	defer cancel()
	release, err = l.database.lock(ctx, toBeAlone)
	if err != nil && ctx.Err() != nil {
		return nil, fmt.Errorf("be alone on the database: %w", game.ErrBusy)
	}
	return release, err
}
