package game

import (
	"errors"
	"strings"
	"testing"
)

func TestAnnouncementsAreOneReadableLine(t *testing.T) {
	for _, taken := range []struct{ raw, want string }{
		{"  抽奖马上开始 🎉 ", "抽奖马上开始 🎉"},
		{"e\u0301", "é"},
		{strings.Repeat(family, 80), strings.Repeat(family, 80)},
	} {
		if got, err := CleanAnnouncement(taken.raw); err != nil || got != taken.want {
			t.Errorf("%q: got %q, %v", taken.raw, got, err)
		}
	}
	for _, refused := range []struct{ raw, code string }{
		{"", "text_blank"},
		{" \u200b ", "text_blank"},
		{strings.Repeat("福", 81), "text_too_long"},
		{"two\nlines", "text_invalid"},
		{"\xff", "text_invalid"},
	} {
		_, err := CleanAnnouncement(refused.raw)
		if invalid, ok := errors.AsType[*Invalid](err); !ok || invalid.Code != refused.code || invalid.Field != "text" {
			t.Errorf("%q: got %v, want %s", refused.raw, err, refused.code)
		}
	}
}
