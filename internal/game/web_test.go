package game

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The pages hold a player's input, and show drops, for as long as the server says.
func TestPagesAndServerAgreeOnTimes(t *testing.T) {
	for _, want := range []struct {
		file, constant string
		is             Millis
	}{
		{"../../web/player/tapping.js", "BOMB_HOLD_MS", BombPenalty},
		{"../../web/player/calm-grid.js", "PACKET_STAYS_MS", DropStays},
		{"../../lua/grab.lua", "PENALTY_MS", BombPenalty},
	} {
		text, err := os.ReadFile(want.file)
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(want.constant + ` = (\d[\d_]*)\b`).FindSubmatch(text)
		if found == nil {
			t.Errorf("%s has no %s", want.file, want.constant)
			continue
		}
		if is, err := strconv.ParseInt(strings.ReplaceAll(string(found[1]), "_", ""), 10, 64); err != nil || Millis(is) != want.is {
			t.Errorf("%s: %s is %s, want %d", want.file, want.constant, found[1], want.is)
		}
	}
}
