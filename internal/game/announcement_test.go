package game_test

import (
	"errors"
	"strings"
	"testing"

	"redrain/internal/game"
)

func TestAnnouncementsAreOneReadableLine(t *testing.T) {
	for raw, want := range map[string]string{
		"  抽奖马上开始 🎉 ":                "抽奖马上开始 🎉",
		"e\u0301":                      "é",
		strings.Repeat("👨‍👩‍👧‍👦", 80): strings.Repeat("👨‍👩‍👧‍👦", 80),
	} {
		if got, err := game.CleanAnnouncement(raw); err != nil || got != want {
			t.Errorf("%q: got %q, %v", raw, got, err)
		}
	}
	for raw, code := range map[string]string{
		"": "text_blank", " \u200b ": "text_blank", strings.Repeat("福", 81): "text_too_long",
		"two\nlines": "text_invalid", "\xff": "text_invalid",
	} {
		_, err := game.CleanAnnouncement(raw)
		if invalid, ok := errors.AsType[*game.Invalid](err); !ok || invalid.Code != code || invalid.Field != "text" {
			t.Errorf("%q: got %v, want %s", raw, err, code)
		}
	}
}
