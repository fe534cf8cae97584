package ledger

import (
	"context"
	"fmt"
	"slices"

	"github.com/uptrace/bun"

	"redrain/internal/game"
)

// Book brings entries of a round's outbox into the ledger, all of them in one transaction; once it has returned without an
// error they can be acknowledged. Entries may come again, in any order and from several settlers at once: what is there
// already and equal changes nothing. What is there and says something else freezes the round and is told as Alarm; the
// claim is put aside, and so is one that the escrow cannot cover, alone. What does not parse becomes a dead letter.
//
// game.ErrNotFound: the round was never begun. game.ErrRefused: the database will not take these entries, however often it
// is asked. Any other error may pass.
func (l *Ledger) Book(ctx context.Context, round string, entries []game.Entry) (game.Booked, error) {
	return l.bookBy(ctx, fullStride, round, entries)
}

// BookPaced is Book in short steps with rests, where the database works within this process: it takes several times as long,
// and leaves the machine to the taps of the same moment.
func (l *Ledger) BookPaced(ctx context.Context, round string, entries []game.Entry) (game.Booked, error) {
	return l.bookBy(ctx, l.database.gently, round, entries)
}

func (l *Ledger) bookBy(ctx context.Context, by stride, round string, entries []game.Entry) (game.Booked, error) {
	var b *booking
	err := l.inTx(ctx, func(ctx context.Context, tx bun.Tx) (err error) {
		if b, err = l.newBooking(ctx, tx, round); err != nil {
			return err
		}
		b.by = by
		return b.book(ctx, entries)
	})
	if err != nil {
		return game.Booked{}, fmt.Errorf("book for round %s: %w", round, l.orRefused(err))
	}
	return b.booked, nil
}

// booking is one transaction that books for one round.
type booking struct {
	tx     bun.Tx
	now    int64
	round  game.Round
	books  *booksRow
	read   booksRow // the books as they were when they were locked
	purse  purse
	booked game.Booked
	by     stride
}

// newBooking locks a round and its books. game.ErrNotFound: the round was never begun.
func (l *Ledger) newBooking(ctx context.Context, tx bun.Tx, id string) (*booking, error) {
	round, err := lockRound(ctx, tx, id)
	if err != nil {
		return nil, err
	}
	return l.bookingFor(ctx, tx, round)
}

// bookingFor locks the books of a round that is locked already.
func (l *Ledger) bookingFor(ctx context.Context, tx bun.Tx, round game.Round) (*booking, error) {
	books, err := lockBooks(ctx, tx, round.ID)
	if err != nil {
		return nil, err
	}
	return &booking{tx: tx, now: l.now().UnixMilli(), round: round, books: books, read: *books, purse: purseOf(round), by: fullStride}, nil
}

func (b *booking) book(ctx context.Context, entries []game.Entry) error {
	var claims []claimRow
	for _, entry := range entries {
		switch {
		case entry.Fault != "":
			if err := b.bury(ctx, entry); err != nil {
				return err
			}
		case entry.Refund != nil:
			if err := b.noteRefund(ctx, entry.Refund); err != nil {
				return err
			}
		}
		for _, claim := range entry.Claims {
			row := claimRowOf(b.books.Book, claim, entry.At)
			if !row.possible() {
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

// finish writes the books' own row, and freezes the round on an alarm.
func (b *booking) finish(ctx context.Context) error {
	err := b.updateBooks(ctx)
	if err == nil && b.booked.Alarm != "" {
		b.round, err = freeze(ctx, b.tx, b.round, game.FrozenBooksDiffer)
	}
	return err
}

// updateBooks writes the books' own row if it is still what was read.
func (b *booking) updateBooks(ctx context.Context) error {
	err := wantOne(b.tx.NewUpdate().Model(b.books).
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

// noteRefund writes down what closing left, once; a round that Redis had to close again says it again, with another time. The
// refund is applied when the ledger holds the claims that it names.
func (b *booking) noteRefund(ctx context.Context, refund *game.Refund) error {
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
	claims, repeated := onceEach(claims)
	b.booked.Redelivered += repeated
	fresh, err := b.fresh(ctx, claims)
	if err != nil {
		return err
	}
	b.books.Highest = max(b.books.Highest, claims[len(claims)-1].Number)
	fresh, beyond := splitAt(fresh, func(c *claimRow) bool { return c.Number > b.round.Settings.Packets })
	if err := b.quarantine(ctx, beyond, beyondPackets); err != nil {
		return err
	}
	uncovered, err := b.bookFresh(ctx, fresh)
	if err != nil {
		return err
	}
	return b.quarantine(ctx, uncovered, overdraw)
}

// bookFresh books claims in the order of their numbers as far as the escrow covers them, and returns those that it does
// not cover.
func (b *booking) bookFresh(ctx context.Context, claims []claimRow) (uncovered []claimRow, err error) {
	left, err := balance(ctx, b.tx, b.purse.escrow())
	if err != nil {
		return nil, err
	}
	for len(claims) > 0 {
		var covered []claimRow
		covered, claims = covers(left, claims)
		if len(covered) == 0 {
			break
		}
		written, conflicts, err := b.write(ctx, covered)
		if err != nil {
			return nil, err
		}
		left -= sum(written)
		if err := b.credit(ctx, written); err != nil {
			return nil, err
		}
		if err := b.conflict(ctx, conflicts); err != nil {
			return nil, err
		}
		if len(conflicts) == 0 {
			break // else their money may cover others
		}
	}
	return claims, nil
}

// covers splits claims into those that left pays for, one after the other, and the rest.
func covers(left game.Cents, claims []claimRow) (covered, uncovered []claimRow) {
	return splitAt(claims, func(c *claimRow) bool {
		if game.Cents(c.Cents) > left {
			return true
		}
		left -= game.Cents(c.Cents)
		return false
	})
}

func (b *booking) credit(ctx context.Context, claims []claimRow) error {
	if len(claims) == 0 {
		return nil
	}
	total := sum(claims)
	b.books.Claims += len(claims)
	b.books.ClaimedCents += int64(total)
	b.booked.Claims += len(claims)
	b.booked.Cents += total
	return pay(ctx, b.tx, b.purse, claims, b.by)
}

// write inserts claims, and returns apart those that the database holds otherwise already.
func (b *booking) write(ctx context.Context, claims []claimRow) (written, conflicts []claimRow, err error) {
	inserted := int64(0)
	for some := range slices.Chunk(claims, b.by.rows) {
		result, err := b.tx.NewInsert().Model(&some).Ignore().Exec(ctx)
		if err != nil {
			return nil, nil, err
		}
		count, err := result.RowsAffected()
		if err != nil {
			return nil, nil, err
		}
		inserted += count
		b.by.pause(ctx)
	}
	if inserted == int64(len(claims)) {
		return claims, nil, nil
	}
	held, err := b.held(ctx, claims)
	if err != nil {
		return nil, nil, err
	}
	written, conflicts = splitAt(claims, func(c *claimRow) bool {
		known := held[c.Number]
		return known == nil || !known.equal(c)
	})
	return written, conflicts, nil
}

// fresh leaves out the claims that the ledger, or the quarantine, has already, and puts those aside that it has otherwise.
// They are sorted by number.
func (b *booking) fresh(ctx context.Context, claims []claimRow) ([]claimRow, error) {
	if claims[0].Number > b.books.Highest {
		return claims, nil // nothing like that ever came
	}
	held, err := b.held(ctx, claims)
	if err != nil {
		return nil, err
	}
	aside, err := b.aside(ctx, claims)
	if err != nil {
		return nil, err
	}
	var fresh, conflicts []claimRow
	for i := range claims {
		c := &claims[i]
		known := held[c.Number]
		switch {
		case (known != nil && known.equal(c)) || aside[asideKeyOf(c)]:
			b.booked.Redelivered++
		case known != nil:
			conflicts = append(conflicts, *c)
		default:
			fresh = append(fresh, *c)
		}
	}
	return fresh, b.conflict(ctx, conflicts)
}

// onceEach drops repetitions of a claim within one batch, sorted by number; what it was given is spent.
func onceEach(claims []claimRow) (once []claimRow, repeated int) {
	once = slices.CompactFunc(claims, func(a, b claimRow) bool { return a.equal(&b) })
	return once, len(claims) - len(once)
}

// held reads the claims that the ledger has under the numbers of these, which are sorted.
func (b *booking) held(ctx context.Context, claims []claimRow) (map[int]*claimRow, error) {
	held := make(map[int]*claimRow, len(claims))
	for some := range slices.Chunk(claims, rowsAtOnce) {
		numbers := make([]int, len(some))
		for i := range some {
			numbers[i] = some[i].Number
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

// splitAt parts claims into those that do not match and those that do, in their order.
func splitAt(claims []claimRow, match func(*claimRow) bool) (others, matching []claimRow) {
	for i := range claims {
		if match(&claims[i]) {
			matching = append(matching, claims[i])
		} else {
			others = append(others, claims[i])
		}
	}
	return others, matching
}

// orRefused marks what the database will never take.
func (l *Ledger) orRefused(err error) error {
	if err != nil && l.database.refuses(err) {
		return fmt.Errorf("%w: %w", game.ErrRefused, err)
	}
	return err
}
