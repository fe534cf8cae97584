package live

import (
	"context"
	"time"
)

// broom removes what instances that are gone left in a room's presence, a page at a time, so that reports go on in between.
// It belongs to the loop that reads Redis alone.
type broom struct {
	garbage int    // as the last report said; 0 without the lease
	cursor  string // of the next page; empty: the first
	removed int    // since the first page
	vain    int    // the garbage of which nothing was found, and when
	sought  time.Time
}

// searchAgain is how long garbage is left alone of which nothing was found: somebody else changed the keys.
const searchAgain = time.Minute

// sweep removes one page, and has the next one follow soon.
func (b *broom) sweep(ctx context.Context, r *Room) error {
	if b.garbage != b.vain {
		b.vain = 0
	}
	if b.garbage == 0 || (b.vain > 0 && time.Since(b.sought) < searchAgain) {
		b.cursor, b.removed = "", 0
		return nil
	}
	cursor := b.cursor
	if cursor == "" {
		cursor = "0"
	}
	swept, err := r.opts.Pool.Sweep(ctx, r.code, cursor)
	if err != nil {
		return err //nolint:wrapcheck // the caller says what for
	}
	b.cursor, b.removed = swept.Cursor, b.removed+swept.Removed
	if b.cursor == "0" {
		b.finish()
	}
	wake(r.wake)
	return nil
}

// finish is for when all pages have been looked at. The next report says whether there is more.
func (b *broom) finish() {
	if b.removed == 0 {
		b.vain, b.sought = b.garbage, time.Now()
	} else {
		b.garbage = 0
	}
	b.cursor, b.removed = "", 0
}
