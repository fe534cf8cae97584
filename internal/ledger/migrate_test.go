package ledger_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/uuid"

	"redrain/internal/game"
	"redrain/internal/ledger"
)

// Claims were once rows beside the movements that paid them. A ledger from then goes on with every cent where it was, there
// and back again.
func TestALedgerFromBeforeClaimsWereMovementsGoesOn(t *testing.T) {
	for name, newDatabase := range databases {
		t.Run(name, func(t *testing.T) {
			l := openUnmigrated(t, newDatabase(t))
			const before = 20
			if err := ledger.MigrateTo(t.Context(), l, before); err != nil {
				t.Fatal(err)
			}
			round, rehearsal := fillOldVersion(t, l, false), fillOldVersion(t, l, true)
			want := []game.Claim{{Player: "ann", Drop: 1, Cents: 30, Number: 1}, {Player: "bob", Drop: 1, Cents: 12, Number: 2}}
			for range 2 {
				if err := l.Migrate(t.Context()); err != nil {
					t.Fatal(err)
				}
				for _, r := range []game.Round{round, rehearsal} {
					if got := must[[]game.Claim](t)(l.Claims(t.Context(), r.ID, 0, 10)); !slices.Equal(got, want) {
						t.Errorf("claims are %+v, want %+v", got, want)
					}
					if got := account(t, l, r).Booked; got != (game.Total{Packets: 2, Cents: 42}) {
						t.Errorf("booked are %+v", got)
					}
				}
				wantDoubleEntry(t, l)
				if err := ledger.MigrateTo(t.Context(), l, before); err != nil {
					t.Fatal(err)
				}
				wantMovementsOfOldVersion(t, l)
			}
			if err := l.Migrate(t.Context()); err != nil {
				t.Fatal(err)
			}
			again, fresh := claim(2, "bob", 12), claim(3, "cat", 8)
			again.Drop, fresh.Drop = 1, 1
			if got := book(t, l, round, batch("3-0", again, fresh)); got.Claims != 1 || got.Redelivered != 1 || got.Alarm != "" {
				t.Errorf("booked %+v", got)
			}
			begunRound(t, l, 10, 100)
			wantDoubleEntry(t, l)
		})
	}
}

// fillOldVersion makes a raining round of 100 cents with two claims, as it was written then.
func fillOldVersion(t *testing.T, l *ledger.Ledger, rehearsal bool) game.Round {
	t.Helper()
	round := insertDraftOfOldVersion(t, l, newRoom(t, l), rehearsal)
	of := ""
	if rehearsal {
		of = "play_"
	}
	room, id := round.Room, round.ID
	for _, statement := range []string{
		"UPDATE rounds SET phase = 'raining', secret = 's', commitment = 'c', begun_at = 1, starts_at = 1, ends_at = 2 WHERE id = '" + id + "'",
		fmt.Sprintf("INSERT INTO round_books VALUES ('%s', 2, 42, 2, 0, 0, 0, 0, FALSE)", id),
		fmt.Sprintf(`INSERT INTO accounts VALUES ('%[1]shost:%[2]s', '%[1]shost', '%[2]s', -100), ('%[1]sescrow:%[3]s', '%[1]sescrow', '%[3]s', 58),
			('%[1]splayer:ann', '%[1]splayer', 'ann', 30), ('%[1]splayer:bob', '%[1]splayer', 'bob', 12)`, of, room, id),
		fmt.Sprintf(`INSERT INTO movements VALUES ('%[3]s', 'escrow', 0, '%[1]shost:%[2]s', '%[1]sescrow:%[3]s', 100, 1),
			('%[3]s', 'claim', 1, '%[1]sescrow:%[3]s', '%[1]splayer:ann', 30, 2), ('%[3]s', 'claim', 2, '%[1]sescrow:%[3]s', '%[1]splayer:bob', 12, 2)`,
			of, room, id),
		fmt.Sprintf("INSERT INTO claims VALUES ('%[1]s', 1, 'ann', 1, 30, 2), ('%[1]s', 2, 'bob', 1, 12, 2)", id),
	} {
		if _, err := ledger.Pools(l)["write"].ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	return round
}

// insertDraftOfOldVersion makes a draft with all defaults but 10 packets and 100 cents, in columns that there were from version 10 on.
func insertDraftOfOldVersion(t *testing.T, l *ledger.Ledger, room string, rehearsal bool) game.Round {
	t.Helper()
	round := game.Round{ID: uuid.NewString(), Room: room, Settings: game.DefaultSettings(), Rehearsal: rehearsal, Phase: game.Draft}
	round.Settings.Packets, round.Settings.Total = 10, 100
	statement := fmt.Sprintf(`INSERT INTO rounds (id, room, title, total_cents, packets, split, deal, tiers, pace, cap, min_cents, max_cents,
		countdown_ms, duration_ms, drops_per_second, bomb_percent, close_when_sold_out, rehearsal, phase, reason, frozen, secret, commitment,
		starts_at, ends_at, claimed_packets, claimed_cents, created_at, begun_at, closed_at)
		VALUES ('%s', '%s', '', 100, 10, 'live', '', '[]', 'even', 1, 1, 0, 10000, 30000, 8, 10, TRUE, %t, 'draft', '', FALSE, '', '',
		0, 0, 0, 0, 1, 0, 0)`, round.ID, room, rehearsal)
	if _, err := ledger.Pools(l)["write"].ExecContext(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	return round
}

// wantMovementsOfOldVersion checks that each account is the sum of its movements, all of them where they were then.
func wantMovementsOfOldVersion(t *testing.T, l *ledger.Ledger) {
	t.Helper()
	if found := must[[]game.Difference](t)(l.UnbalancedAccounts(t.Context())); len(found) != 0 {
		t.Errorf("accounts are not the sums of their entries: %v", found)
	}
	var movements, claims int
	err := ledger.Pools(l)["read"].QueryRowContext(t.Context(),
		"SELECT (SELECT COUNT(*) FROM movements), (SELECT COUNT(*) FROM claims)").Scan(&movements, &claims)
	if err != nil || movements != 6 || claims != 4 {
		t.Errorf("%d movements and %d claims (%v), want 6 and 4", movements, claims, err)
	}
}

// Rounds had no algorithm written down while there was only one. Those that were begun then are checked by it for ever; a draft
// from then is begun with the newest.
func TestARoundFromBeforeTheMigrationHasTheFirstAlgorithm(t *testing.T) {
	for name, newDatabase := range databases {
		t.Run(name, func(t *testing.T) {
			l := openUnmigrated(t, newDatabase(t))
			const before = 32
			if err := ledger.MigrateTo(t.Context(), l, before); err != nil {
				t.Fatal(err)
			}
			begun, draft := insertDraftOfOldVersion(t, l, newRoom(t, l), false), insertDraftOfOldVersion(t, l, newRoom(t, l), false)
			secret := game.NewSecret()
			beginAsOldServer(t, l, begun, secret)
			if err := l.Migrate(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := ledger.MigrateTo(t.Context(), l, before); err != nil { // there and back again
				t.Fatal(err)
			}
			if err := l.Migrate(t.Context()); err != nil {
				t.Fatal(err)
			}
			got := must[game.Round](t)(l.Round(t.Context(), begun.ID))
			if got.Algorithm != game.AmountsAlgorithm || got.Commitment != game.Commitment(got.Algorithm, got, got.Secret) {
				t.Errorf("a round from before has algorithm %d, and the commitment %s does not fit", got.Algorithm, got.Commitment)
			}
			if got := must[game.Round](t)(l.Round(t.Context(), draft.ID)); got.Algorithm != 0 {
				t.Errorf("a draft from before has algorithm %d", got.Algorithm)
			}
			if got := begin(t, l, draft.ID); got.Algorithm != game.Algorithm {
				t.Errorf("a draft from before is begun with algorithm %d", got.Algorithm)
			}
		})
	}
}

// While servers are replaced one by one, one of the release before may begin a round over tables that it does not know all of.
func TestARoundThatAnOlderServerBeginsHasTheFirstAlgorithm(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l := open()
		for _, draft := range []game.Round{newRound(t, l, newRoom(t, l)), insertDraftOfOldVersion(t, l, newRoom(t, l), false)} {
			beginAsOldServer(t, l, draft, game.NewSecret())
			got := must[game.Round](t)(l.Round(t.Context(), draft.ID))
			if got.Algorithm != game.AmountsAlgorithm || got.Commitment != game.Commitment(got.Algorithm, got, got.Secret) {
				t.Errorf("algorithm %d, and the commitment %s does not fit", got.Algorithm, got.Commitment)
			}
		}
	})
}

// beginAsOldServer writes of a draft what servers wrote when there was one algorithm.
func beginAsOldServer(t *testing.T, l *ledger.Ledger, draft game.Round, secret game.Secret) {
	t.Helper()
	statement := "UPDATE rounds SET phase = 'countdown', begun_at = 1, secret = '" + string(secret) + "', commitment = '" +
		game.Commitment(game.AmountsAlgorithm, draft, secret) + "' WHERE id = '" + draft.ID + "'"
	if _, err := ledger.Pools(l)["write"].ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}
