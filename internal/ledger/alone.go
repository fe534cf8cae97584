package ledger

import (
	"context"
	"fmt"
	"time"

	"redrain/internal/game"
)

// aloneWithin is how long the lock file of an instance that died may take to be free.
const aloneWithin = 5 * time.Second

// LockExclusively makes sure that no other instance has said the same of this database, until release. It is for an instance with a
// Redis of its own: two such would take each other's rounds for lost. game.ErrBusy: there is another.
//
// With SQLite that is a locked file. On a database server it is a lease that is renewed every 5 s, and an instance that died
// without release holds it for up to 30 s more. lost is called, once and not during release, when another instance may have
// the lease: because it has, or because this one could not renew it for 20 s. It then has to end; whatever it would change in
// the database meanwhile is refused.
func (l *Ledger) LockExclusively(ctx context.Context, lost func(why error)) (release func() error, err error) {
	if l.database.lockAlone == nil {
		return l.takeLease(ctx, lost)
	}
	ctx, cancel := context.WithTimeout(ctx, aloneWithin)
	defer cancel()
	defer l.sayWhileWaiting("waiting for another instance with an embedded Redis to end", "at_most", aloneWithin)()
	release, err = l.database.lockAlone(ctx)
	if err != nil && ctx.Err() != nil {
		return nil, fmt.Errorf("be alone on the database: %w", game.ErrBusy)
	}
	return release, err
}
