package ledger

import (
	"context"
	"fmt"
	"slices"

	"github.com/uptrace/bun"

	"redrain/internal/game"
)

// Book writes entries of a round's outbox into the ledger, all of them in one transaction. Once it has returned without an error
// they can be acknowledged. Entries may come repeatedly, in any order, and from several instances at once:
//
//   - A claim that the ledger has already, equal in all that counts, changes nothing.
//   - A claim that contradicts the ledger goes into quarantine, freezes the round, and is reported as Alarm.
//   - A claim that the escrow does not cover goes into quarantine; the others of its batch are booked.
//   - An entry that does not parse becomes a dead letter.
//
// game.ErrNotFound: the round was never begun. game.ErrRefused: the database rejects the values in these entries, so trying
// again is of no use. After any other error it may be.
func (l *Ledger) Book(ctx context.Context, round string, entries []game.Entry) (game.Booked, error) {
	return l.bookWithPacing(ctx, unpaced, round, entries)
}

// BookPaced is Book with pauses between its statements, where the database works within this process (SQLite): it takes several
// times as long, and leaves the processor to the taps of players meanwhile. See batchPacing for what that buys.
func (l *Ledger) BookPaced(ctx context.Context, round string, entries []game.Entry) (game.Booked, error) {
	return l.bookWithPacing(ctx, l.database.pacing, round, entries)
}

func (l *Ledger) bookWithPacing(ctx context.Context, pacing batchPacing, round string, entries []game.Entry) (game.Booked, error) {
	var b *booking
	err := l.inTx(ctx, func(ctx context.Context, tx bun.Tx) (err error) {
		if b, err = l.lockRoundAndBooks(ctx, tx, round); err != nil {
			return err
		}
		b.pacing = pacing
		return b.book(ctx, entries)
	})
	if err != nil {
		return game.Booked{}, fmt.Errorf("book for round %s: %w", round, l.markRefused(err))
	}
	return b.booked, nil
}

// booking is one transaction that changes the books of one round. Its round and books are locked.
type booking struct {
	tx       bun.Tx
	now      int64 // ms since 1970
	round    game.Round
	books    *booksRow
	read     booksRow // the books as they are in the database
	accounts roundAccounts
	pacing   batchPacing
	booked   game.Booked
}

// lockRoundAndBooks locks a round and its books. game.ErrNotFound: the round was never begun.
func (l *Ledger) lockRoundAndBooks(ctx context.Context, tx bun.Tx, id string) (*booking, error) {
	round, err := lockRound(ctx, tx, id)
	if err != nil {
		return nil, err
	}
	return l.lockBooking(ctx, tx, round)
}

// lockBooking locks the books of a round that is locked already.
func (l *Ledger) lockBooking(ctx context.Context, tx bun.Tx, round game.Round) (*booking, error) {
	books, err := lockBooks(ctx, tx, round.ID)
	if err != nil {
		return nil, err
	}
	return &booking{tx: tx, now: l.now().UnixMilli(), round: round, books: books, read: *books, accounts: accountsOf(round), pacing: unpaced}, nil
}

func (b *booking) book(ctx context.Context, entries []game.Entry) error {
	var claims []claimRow
	for _, entry := range entries {
		switch {
		case entry.Fault != "":
			if err := b.addDeadLetter(ctx, entry); err != nil {
				return err
			}
		case entry.Refund != nil:
			if err := b.recordRefund(ctx, entry.Refund); err != nil {
				return err
			}
		}
		for _, claim := range entry.Claims {
			row := newClaimRow(b.books.Book, claim, entry.At)
			if !row.insertable() {
				return fmt.Errorf("claim %d of %d cents: %w", row.Number, row.Cents, game.ErrRefused)
			}
			claims = append(claims, row)
		}
	}
	if err := b.bookClaims(ctx, claims); err != nil {
		return err
	}
	return b.finish(ctx)
}

// finish writes the row of the books, and freezes the round if there was an alarm.
func (b *booking) finish(ctx context.Context) error {
	err := b.updateBooks(ctx)
	if err == nil && b.booked.Alarm != "" {
		b.round, err = freeze(ctx, b.tx, b.round, game.FrozenBooksDiffer)
		b.booked.Frozen = b.round
	}
	return err
}

// updateBooks writes the row of the books if it still is in the database as it was read, else it returns errRowChanged.
func (b *booking) updateBooks(ctx context.Context) error {
	err := requireOneRow(b.tx.NewUpdate().Model(b.books).
		Column("claims", "claimed_cents", "highest", "excused", "accepted_claims", "accepted_cents", "released_at").WherePK().
		Where("claims = ?", b.read.Claims).Where("claimed_cents = ?", b.read.ClaimedCents).Where("highest = ?", b.read.Highest).Exec(ctx))
	b.read = *b.books
	return err
}

func (b *booking) alarm(format string, args ...any) {
	if b.booked.Alarm == "" {
		b.booked.Alarm = fmt.Sprintf(format, args...)
	}
}

// recordRefund stores, once, what closing the round left for its host. It pays nothing yet: ApplyRefund does, when the ledger holds
// the claims that the refund names. A round that Redis had to close again reports its refund again, with another time.
func (b *booking) recordRefund(ctx context.Context, refund *game.Refund) error {
	row := &refundRow{
		Round: b.round.ID, Reason: string(refund.Reason), ClosedAt: int64(refund.At), Claims: refund.Claimed.Packets,
		ClaimedCents: int64(refund.Claimed.Cents), RefundCents: int64(refund.Cents),
	}
	if _, err := b.tx.NewInsert().Model(row).Ignore().Exec(ctx); err != nil {
		return err
	}
	kept, found, err := readRefund(ctx, b.tx, b.round.ID)
	switch {
	case err != nil:
		return err
	case !found || kept.Claims != refund.Claimed.Packets || kept.ClaimedCents != int64(refund.Claimed.Cents) || kept.RefundCents != int64(refund.Cents):
		b.alarm("the refund came with other figures than before")
	case refund.Claimed.Cents+refund.Cents != b.round.Settings.Total:
		b.alarm("claims of %d and a refund of %d cents are not the budget of %d",
			refund.Claimed.Cents, refund.Cents, b.round.Settings.Total)
	}
	return nil
}

// bookClaims books those claims that the ledger does not have yet.
func (b *booking) bookClaims(ctx context.Context, claims []claimRow) error {
	if len(claims) == 0 {
		return nil
	}
	slices.SortStableFunc(claims, func(x, y claimRow) int { return x.Number - y.Number })
	claims, repeated := dropRepeated(claims)
	b.booked.Redelivered += repeated
	fresh, err := b.filterNew(ctx, claims)
	if err != nil {
		return err
	}
	b.books.Highest = max(b.books.Highest, claims[len(claims)-1].Number)
	fresh, beyond := partition(fresh, func(c *claimRow) bool { return c.Number > b.round.Settings.Packets })
	if err := b.quarantine(ctx, beyond, reasonBeyond); err != nil {
		return err
	}
	uncovered, err := b.bookCovered(ctx, fresh)
	if err != nil {
		return err
	}
	return b.quarantine(ctx, uncovered, reasonOverdraw)
}

// bookCovered books claims in the order of their numbers as far as the escrow covers them, and returns those that it does not
// cover.
func (b *booking) bookCovered(ctx context.Context, claims []claimRow) (uncovered []claimRow, err error) {
	left, err := balance(ctx, b.tx, b.accounts.escrow())
	if err != nil {
		return nil, err
	}
	for len(claims) > 0 {
		var covered []claimRow
		covered, claims = splitCovered(left, claims)
		if len(covered) == 0 {
			break
		}
		written, conflicts, err := b.insertClaims(ctx, covered)
		if err != nil {
			return nil, err
		}
		left -= sum(written)
		if err := b.creditPlayers(ctx, written); err != nil {
			return nil, err
		}
		if err := b.quarantineConflicts(ctx, conflicts); err != nil {
			return nil, err
		}
		if len(conflicts) == 0 {
			break
		}
		// The conflicting claims were counted as covered but got no money. What they left may cover claims that it did not before.
	}
	return claims, nil
}

// splitCovered splits claims into those that left cents pay for, one after the other, and the rest. A claim that is too large does
// not keep smaller ones after it from being covered.
func splitCovered(left game.Cents, claims []claimRow) (covered, uncovered []claimRow) {
	return partition(claims, func(c *claimRow) bool {
		if game.Cents(c.Cents) > left {
			return true
		}
		left -= game.Cents(c.Cents)
		return false
	})
}

func (b *booking) creditPlayers(ctx context.Context, claims []claimRow) error {
	if len(claims) == 0 {
		return nil
	}
	total := sum(claims)
	b.books.Claims += len(claims)
	b.books.ClaimedCents += int64(total)
	b.booked.Claims += len(claims)
	b.booked.Cents += total
	return creditWinners(ctx, b.tx, b.accounts, claims, b.pacing)
}

// insertClaims inserts claims. It returns as conflicts those that were not inserted because the database has another claim with
// their number, or of their player for the same drop.
func (b *booking) insertClaims(ctx context.Context, claims []claimRow) (written, conflicts []claimRow, err error) {
	inserted := int64(0)
	for batch := range slices.Chunk(claims, b.pacing.size) {
		result, err := b.tx.NewInsert().Model(&batch).Ignore().Exec(ctx)
		if err != nil {
			return nil, nil, err
		}
		count, err := result.RowsAffected()
		if err != nil {
			return nil, nil, err
		}
		inserted += count
		b.pacing.wait(ctx)
	}
	if inserted == int64(len(claims)) {
		return claims, nil, nil
	}
	held, err := b.readBooked(ctx, claims)
	if err != nil {
		return nil, nil, err
	}
	written, conflicts = partition(claims, func(c *claimRow) bool {
		known := held[c.Number]
		return known == nil || !known.equal(c)
	})
	return written, conflicts, nil
}

// filterNew returns the claims, sorted by number, that neither the ledger nor the quarantine has. Those that contradict the ledger
// go into quarantine.
func (b *booking) filterNew(ctx context.Context, claims []claimRow) ([]claimRow, error) {
	if claims[0].Number > b.books.Highest {
		return claims, nil // all numbers are above those that ever came
	}
	held, err := b.readBooked(ctx, claims)
	if err != nil {
		return nil, err
	}
	quarantined, err := b.readQuarantined(ctx, claims)
	if err != nil {
		return nil, err
	}
	var fresh, conflicts []claimRow
	for i := range claims {
		c := &claims[i]
		known := held[c.Number]
		switch {
		case (known != nil && known.equal(c)) || quarantined[quarantineKeyOf(c)]:
			b.booked.Redelivered++
		case known != nil:
			conflicts = append(conflicts, *c)
		default:
			fresh = append(fresh, *c)
		}
	}
	return fresh, b.quarantineConflicts(ctx, conflicts)
}

// dropRepeated drops repetitions of a claim within one batch, which is sorted by number. It reuses the slice that it is given.
func dropRepeated(claims []claimRow) (once []claimRow, repeated int) {
	once = slices.CompactFunc(claims, func(a, b claimRow) bool { return a.equal(&b) })
	return once, len(claims) - len(once)
}

// readBooked reads the claims that the ledger has under the numbers of the given ones.
func (b *booking) readBooked(ctx context.Context, claims []claimRow) (map[int]*claimRow, error) {
	held := make(map[int]*claimRow, len(claims))
	for batch := range slices.Chunk(claims, maxRowsPerInsert) {
		numbers := make([]int, len(batch))
		for i := range batch {
			numbers[i] = batch[i].Number
		}
		var rows []claimRow
		err := b.tx.NewSelect().Model(&rows).Where("book = ?", b.books.Book).Where("number IN (?)", bun.List(numbers)).Scan(ctx)
		if err != nil {
			return nil, err
		}
		for i := range rows {
			held[rows[i].Number] = &rows[i]
		}
	}
	return held, nil
}

func sum(claims []claimRow) game.Cents {
	var total int64
	for i := range claims {
		total += claims[i].Cents
	}
	return game.Cents(total)
}

// partition splits claims into those that do not match and those that do, and keeps their order.
func partition(claims []claimRow, match func(*claimRow) bool) (others, matching []claimRow) {
	for i := range claims {
		if match(&claims[i]) {
			matching = append(matching, claims[i])
		} else {
			others = append(others, claims[i])
		}
	}
	return others, matching
}
