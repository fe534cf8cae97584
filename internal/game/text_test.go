package game

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const (
	family     = "\U0001F468\u200D\U0001F469\u200D\U0001F467\u200D\U0001F466"
	tonedHands = "\U0001F469\U0001F3FD\u200D\U0001F91D\u200D\U0001F469\U0001F3FF"
	flag       = "\U0001F1E8\U0001F1F3"
	combined   = "e\u0301"
)

func TestCleanName(t *testing.T) {
	for _, c := range []struct{ what, raw, want, code string }{
		{"plain", "ann", "ann", ""},
		{"Chinese", "红包雨", "红包雨", ""},
		{"spaces around", " \t ann bob\u3000 ", "ann bob", ""},
		{"composed", combined, "é", ""},
		{"marks that belong to a letter", "ก็", "ก็", ""},
		{"a direction among letters", "a\u202eb", "ab", ""},
		{"zero width between letters", "ad\u200bm\u2060in\ufeff", "admin", ""},
		{"a soft hyphen", "ad\u00admin", "admin", ""},
		{"tags behind letters", "ann\U000e0061\U000e0062\U000e007f", "ann", ""},
		{"a formula behind what is not seen", "\u200b=1+1", "=1+1", ""},
		{"a joiner between letters", "a\u200db", "ab", ""},
		{"a variation selector behind a letter", "a\ufe0f", "a", ""},
		{"a letter and a mark parted", "e\u200b\u0301", "é", ""},
		{"fillers among letters", "a\u3164b\u115fc", "abc", ""},
		{"a heart in colour", "❤\ufe0f", "❤\ufe0f", ""},
		{"a keycap", "1\ufe0f\u20e3", "1\ufe0f\u20e3", ""},
		{"a heart on fire", "❤\ufe0f\u200d🔥", "❤\ufe0f\u200d🔥", ""},
		{"a profession with a tone of skin", "👩🏽\u200d🚒", "👩🏽\u200d🚒", ""},
		{"the flag of Scotland", "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f", "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f", ""},
		{"tags behind a flag without an end", "🏴\U000e0067\U000e0062", "🏴", ""},
		{"a joiner in a conjunct", "क्\u200dष", "क्\u200dष", ""},
		{"an Arabic number sign", "\u06001", "\u06001", ""},
		{"one visible character", "😀", "😀", ""},

		{"nothing", "", "", "name_blank"},
		{"spaces", " \t\u00a0\u3000\u2003", "", "name_blank"},
		{"zero width", "\u200b\u200c\u200d\ufeff\u2060", "", "name_blank"},
		{"directions", "\u202a\u202e\u2066\u2069\u200f", "", "name_blank"},
		{"soft hyphen", "\u00ad", "", "name_blank"},
		{"a mark alone", "\u0301\ufe0f", "", "name_blank"},
		{"Hangul fillers", "\u3164\u115f\u1160\uffa0", "", "name_blank"},
		{"blank Braille", "\u2800", "", "name_blank"},
		{"Khmer and Mongolian blanks", "\u17b4\u17b5\u180e", "", "name_blank"},

		{"24 letters", strings.Repeat("a", 24), strings.Repeat("a", 24), ""},
		{"25 letters", strings.Repeat("a", 25), "", "name_too_long"},
		{"24 letters and spaces", "  " + strings.Repeat("a", 24) + "  ", strings.Repeat("a", 24), ""},
		{"24 Chinese", strings.Repeat("红", 24), strings.Repeat("红", 24), ""},
		{"25 Chinese", strings.Repeat("红", 25), "", "name_too_long"},
		{"24 composed", strings.Repeat(combined, 24), strings.Repeat("é", 24), ""},
		{"25 composed", strings.Repeat(combined, 25), "", "name_too_long"},
		{"24 families", strings.Repeat(family, 24), strings.Repeat(family, 24), ""},
		{"25 families", strings.Repeat(family, 25), "", "name_too_long"},
		{"24 hands", strings.Repeat(tonedHands, 24), strings.Repeat(tonedHands, 24), ""},
		{"24 flags", strings.Repeat(flag, 24), strings.Repeat(flag, 24), ""},
		{"25 flags", strings.Repeat(flag, 25), "", "name_too_long"},
		{"one letter below a tower of marks", "a" + strings.Repeat("\u0301", 1000), "", "name_too_long"},

		{"a null", "a\x00b", "", "name_invalid"},
		{"a line break", "a\nb", "", "name_invalid"},
		{"an escape", "a\x1b[31mb", "", "name_invalid"},
		{"a C1 control", "a\u0085b", "", "name_invalid"},
		{"a line separator", "a\u2028b", "", "name_invalid"},
		{"a paragraph separator", "a\u2029b", "", "name_invalid"},
		{"broken UTF-8", "a\xffb", "", "name_invalid"},
		{"half a character", "\xe7\xba", "", "name_invalid"},
		{"a surrogate", "\xed\xa0\x80", "", "name_invalid"},
	} {
		t.Run(c.what, func(t *testing.T) {
			name, err := CleanName("nickname", c.raw)
			if got := codeOf(err); name != c.want || got != c.code {
				t.Errorf("%q became %q, %q, want %q, %q", c.raw, name, got, c.want, c.code)
			}
		})
	}
}

// codeOf is the code of an *Invalid, "" for no error.
func codeOf(err error) string {
	var refused *Invalid
	if errors.As(err, &refused) {
		return refused.Code
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

func TestTitleMayBeEmptyButNotLong(t *testing.T) {
	if title, err := CleanTitle("  "); title != "" || err != nil {
		t.Errorf("an empty title became %q, %v", title, err)
	}
	if _, err := CleanTitle(strings.Repeat("红", 25)); err == nil || err.Field != "title" {
		t.Errorf("a long title: %v", err)
	}
}

func TestCleanNamesStayAsTheyAre(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		once, err := CleanName("nickname", rapid.String().Draw(t, "raw"))
		if err != nil {
			return
		}
		if twice, err := CleanName("nickname", once); twice != once || err != nil {
			t.Fatalf("%q became %q, %v", once, twice, err)
		}
	})
}

func TestCodesAreReadByPeople(t *testing.T) {
	seen := make(map[string]bool)
	for range 1000 {
		code := NewCode()
		if again, ok := CleanCode(" " + strings.ToLower(code) + "\n"); !ok || again != code {
			t.Fatalf("%q was read as %q, %t", code, again, ok)
		}
		if strings.ContainsAny(code, "01OIL") || len(code) != codeLength {
			t.Fatalf("%q has letters that are mistaken", code)
		}
		seen[code] = true
	}
	if len(seen) < 990 {
		t.Errorf("only %d of 1000 codes differ", len(seen))
	}
	for typed, want := range map[string]string{"ＥＵＲ５ＲＴ": "EUR5RT", "ｅｕｒ５ｒｔ": "EUR5RT", "eur 5rt": "EUR5RT", "EUR-5RT": "EUR5RT", "\u200bEUR5RT": "EUR5RT", "ＥＵＲ\u3000５ＲＴ": "EUR5RT", "【EUR5RT】": "EUR5RT", "“eur5rt”。": "EUR5RT", "#EUR5RT!\x00": "EUR5RT"} {
		if code, ok := CleanCode(typed); !ok || code != want {
			t.Errorf("%q was read as %q, %t", typed, code, ok)
		}
	}
	for _, bad := range []string{"", "ABCDE", "ABCDEFG", "ABCDE0", "ABC EF", "ÄBCDEF", "ABCDE\x00", "①ABCDE", "АBCDEF"} {
		if code, ok := CleanCode(bad); ok {
			t.Errorf("%q was read as %q", bad, code)
		}
	}
}

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
