package wire

import (
	"bytes"
	"testing"

	"github.com/go-json-experiment/json"

	"redrain/internal/game"
)

func TestReconciliationIsAsInItsFixture(t *testing.T) {
	text := fixtures(t, "http")["reconciliation"]
	var r game.Reconciliation
	if err := json.Unmarshal(text, &r, json.RejectUnknownMembers(true)); err != nil {
		t.Fatal(err)
	}
	again, err := Marshal(r)
	if err != nil || !bytes.Equal(bytes.TrimSpace(again), bytes.TrimSpace(text)) {
		t.Errorf("it is encoded as\n%s, %v", again, err)
	}
}
