package ledger

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"redrain/internal/game"
)

// aside is why a claim was put aside.
type aside string

const (
	overdraw      aside = "overdraw" // the escrow does not cover it
	conflicting   aside = "conflict" // the ledger has another claim under this number, or for this player and drop
	beyondPackets aside = "beyond"   // its number is above the round's packets
)

type quarantineRow struct {
	bun.BaseModel `bun:"table:quarantine"`

	Round      string `bun:"round,pk"`
	Number     int    `bun:"number,pk"`
	Player     string `bun:"player,pk"`
	Drop       int32  `bun:"drop_id,pk"`
	Cents      int64  `bun:"cents,pk"`
	ClaimedAt  int64  `bun:"claimed_at"`
	Reason     aside  `bun:"reason"`
	NotedAt    int64  `bun:"noted_at"`
	ReplayedAt int64  `bun:"driven_at"`
}

// asideKey is a claim as the quarantine tells it from others.
type asideKey struct {
	number int
	player string
	drop   int32
	cents  int64
}

func asideKeyOf(c *claimRow) asideKey { return asideKey{c.Number, c.Player, c.Drop, c.Cents} }

// quarantine puts claims aside for a reason.
func (b *booking) quarantine(ctx context.Context, claims []claimRow, reason aside) error {
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

// conflict puts claims aside that say something else than the ledger, which is an alarm.
func (b *booking) conflict(ctx context.Context, claims []claimRow) error {
	if len(claims) > 0 {
		b.alarm("claim %d came again as another one", claims[0].Number)
	}
	return b.quarantine(ctx, claims, conflicting)
}

// aside reads which of the claims were put aside before.
func (b *booking) aside(ctx context.Context, claims []claimRow) (map[asideKey]bool, error) {
	var rows []quarantineRow
	first, last := claims[0].Number, claims[len(claims)-1].Number
	err := b.tx.NewSelect().Model(&rows).Where("round = ?", b.round.ID).Where("number BETWEEN ? AND ?", first, last).Scan(ctx)
	known := make(map[asideKey]bool, len(rows))
	for i := range rows {
		known[asideKey{rows[i].Number, rows[i].Player, rows[i].Drop, rows[i].Cents}] = true
	}
	return known, err
}

// Quarantined is a claim that was put aside, and why: "overdraw", "conflict" or "beyond".
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

// ReplayQuarantine tries to book the claims of a round that were put aside, in the order of their numbers, as far as the
// escrow covers them. A claim whose number another one has gets one above the round's packets: the host pays more than
// Redis knows of, and so much more is accepted from then on. It returns how many were booked.
func (l *Ledger) ReplayQuarantine(ctx context.Context, round string) (driven int, err error) {
	err = l.inTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		driven = 0
		b, err := l.newBooking(ctx, tx, round)
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
			booked, err := b.drive(ctx, &rows[i])
			if err != nil {
				return err
			}
			if booked {
				driven++
			}
		}
		return b.finish(ctx)
	})
	if err != nil {
		return 0, fmt.Errorf("drive quarantine of round %s: %w", round, err)
	}
	return driven, nil
}

// drive books one claim that was put aside, if the escrow covers it and its player has no claim for the drop.
func (b *booking) drive(ctx context.Context, row *quarantineRow) (bool, error) {
	left, err := balance(ctx, b.tx, b.purse.escrow())
	if err != nil || game.Cents(row.Cents) > left {
		return false, err
	}
	c := claimRow{Book: b.books.Book, Number: row.Number, Player: row.Player, Drop: row.Drop, Cents: row.Cents, ClaimedAt: row.ClaimedAt}
	extra := row.Reason != overdraw
	if extra {
		if c.Number, err = b.extraNumber(ctx); err != nil {
			return false, err
		}
	}
	written, _, err := b.write(ctx, []claimRow{c})
	if err != nil || len(written) == 0 {
		return false, err
	}
	if extra {
		b.books.AcceptedClaims++
		b.books.AcceptedCents += c.Cents
	} else {
		b.found(row.NotedAt, 1, c.Cents)
	}
	if err := b.credit(ctx, written); err != nil {
		return false, err
	}
	row.ReplayedAt = b.now
	return true, wantOne(b.tx.NewUpdate().Model(row).Column("driven_at").WherePK().Where("driven_at = 0").Exec(ctx))
}

// extraNumber is the next number above the round's packets, where Redis grants none.
func (b *booking) extraNumber(ctx context.Context) (int, error) {
	last, err := lastNumber(ctx, b.tx, b.round.ID)
	return max(last, b.round.Settings.Packets) + 1, err
}
