package ledger_test

import (
	"testing"

	"redrain/internal/game"
	"redrain/internal/ledger"
)

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
			begun, draft := draftBefore(t, l, newRoom(t, l), false), draftBefore(t, l, newRoom(t, l), false)
			secret := game.NewSecret()
			beginBefore(t, l, begun, secret)
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
	onEach(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l := open()
		for _, draft := range []game.Round{newRound(t, l, newRoom(t, l)), draftBefore(t, l, newRoom(t, l), false)} {
			beginBefore(t, l, draft, game.NewSecret())
			got := must[game.Round](t)(l.Round(t.Context(), draft.ID))
			if got.Algorithm != game.AmountsAlgorithm || got.Commitment != game.Commitment(got.Algorithm, got, got.Secret) {
				t.Errorf("algorithm %d, and the commitment %s does not fit", got.Algorithm, got.Commitment)
			}
		}
	})
}

// beginBefore writes of a draft what servers wrote when there was one algorithm.
func beginBefore(t *testing.T, l *ledger.Ledger, draft game.Round, secret game.Secret) {
	t.Helper()
	statement := "UPDATE rounds SET phase = 'countdown', begun_at = 1, secret = '" + string(secret) + "', commitment = '" +
		game.Commitment(game.AmountsAlgorithm, draft, secret) + "' WHERE id = '" + draft.ID + "'"
	if _, err := ledger.Pools(l)["write"].ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}
