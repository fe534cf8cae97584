package ledger_test

import (
	"context"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"redrain/internal/game"
	"redrain/internal/ledger"
)

// Whatever the order in which entries come, how often, in which company, and whichever transaction breaks off: at the end
// every claim is credited once, the rest is refunded once, and at every moment the books are in balance.
func TestPropertyAnyDeliveryEndsInTheSameBooks(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		settlers := []*ledger.Ledger{open(), open()}
		rapid.Check(t, func(rt *rapid.T) {
			d := drawDelivery(t, rt, settlers)
			for range rapid.IntRange(0, 12).Draw(rt, "steps") {
				d.step(rt)
				d.wantBalance(rt)
			}
			d.deliver(rt, d.entries) // nothing is lost for good: whatever was not acknowledged comes again
			d.refund(rt)
			d.wantEnd(rt)
		})
	})
}

// delivery is one round whose outbox is known in full.
type delivery struct {
	t        *testing.T
	settlers []*ledger.Ledger
	round    game.Round
	entries  []game.Entry
	gains    map[string]game.Cents
	claimed  game.Total
	known    map[string]bool
}

func drawDelivery(t *testing.T, rt *rapid.T, settlers []*ledger.Ledger) *delivery {
	packets := rapid.IntRange(1, 12).Draw(rt, "packets")
	d := &delivery{t: t, settlers: settlers, gains: map[string]game.Cents{}, known: map[string]bool{}}
	d.round = begunRound(t, settlers[0], packets, game.Cents(packets*100))
	for n := 1; n <= packets; {
		var claims []game.Claim
		for size := rapid.IntRange(1, 4).Draw(rt, "entry"); size > 0 && n <= packets; size-- {
			player := d.round.ID[:8] + rapid.SampledFrom([]string{"ann", "bob", "cat"}).Draw(rt, "player")
			c := claim(n, player, game.Cents(rapid.IntRange(1, 100).Draw(rt, "cents")))
			d.gains[player] += c.Cents
			d.claimed.Cents += c.Cents
			d.claimed.Packets++
			claims = append(claims, c)
			n++
		}
		d.entries = append(d.entries, batch(fmt.Sprint(n, "-0"), claims...))
	}
	d.entries = append(d.entries, closing(d.claimed.Packets, d.claimed.Cents, d.round.Settings.Total-d.claimed.Cents))
	return d
}

func (d *delivery) settler(rt *rapid.T) *ledger.Ledger {
	return rapid.SampledFrom(d.settlers).Draw(rt, "settler")
}

func (d *delivery) step(rt *rapid.T) {
	switch rapid.IntRange(0, 4).Draw(rt, "step") {
	case 0:
		d.refund(rt)
	case 1: // the settler dies before it commits
		ctx, cancel := context.WithCancel(d.t.Context())
		cancel()
		if _, err := d.settler(rt).Book(ctx, d.round.ID, d.entries); err == nil {
			rt.Error("booked for nobody")
		}
	default:
		some := rapid.SliceOfN(rapid.SampledFrom(d.entries), 1, 6).Draw(rt, "delivered")
		d.deliver(rt, some)
	}
}

func (d *delivery) deliver(rt *rapid.T, entries []game.Entry) {
	book := d.settler(rt).Book
	if rapid.Bool().Draw(rt, "paced") {
		book = d.settler(rt).BookPaced
	}
	booked, err := book(d.t.Context(), d.round.ID, entries)
	if err != nil || booked.Alarm != "" || booked.Quarantined > 0 {
		rt.Fatalf("booked %+v, %v", booked, err)
	}
	for _, entry := range entries {
		d.known[entry.ID] = true
	}
}

func (d *delivery) refund(rt *rapid.T) {
	step, err := d.settler(rt).ApplyRefund(d.t.Context(), d.round.ID)
	want := game.RefundUnknown
	switch {
	case len(d.known) == len(d.entries):
		want = game.RefundApplied
	case d.known["99-0"]:
		want = game.RefundWaiting
	}
	if err != nil || step != want {
		rt.Errorf("the refund is %s, want %s (%v)", step, want, err)
	}
}

// wantBalance: escrow and claims are the budget, unless the rest went back already.
func (d *delivery) wantBalance(rt *rapid.T) {
	account, err := d.settlers[0].Account(d.t.Context(), d.round.ID)
	if err != nil {
		rt.Fatal(err)
	}
	escrow, err := d.settlers[0].Escrow(d.t.Context(), d.round)
	rest := d.round.Settings.Total - account.Booked.Cents
	if account.Refunded {
		rest = 0
	}
	if err != nil || escrow != rest {
		rt.Errorf("%d cents are held, want %d (%v)", escrow, rest, err)
	}
	if sum, err := d.settlers[0].SumBalances(d.t.Context()); err != nil || sum != 0 {
		rt.Errorf("the accounts sum to %d (%v)", sum, err)
	}
}

func (d *delivery) wantEnd(rt *rapid.T) {
	account, err := d.settlers[0].Account(d.t.Context(), d.round.ID)
	if err != nil || account.Booked != d.claimed || !account.Refunded || account.Frozen {
		rt.Errorf("the account is %+v (%v)", account, err)
	}
	d.wantBalance(rt)
	found := balances(d.t, d.settlers[0], d.round)
	for player, cents := range d.gains {
		if found["player:"+player] != int64(cents) {
			rt.Errorf("%s has %d cents, want %d", player, found["player:"+player], cents)
		}
	}
	if found["host"] != -int64(d.claimed.Cents) {
		rt.Errorf("the host has %d cents, %d were claimed", found["host"], d.claimed.Cents)
	}
}
