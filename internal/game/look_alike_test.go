package game

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestNamesThatLookAlikeHaveOneSkeleton(t *testing.T) {
	for _, names := range [][]string{
		{"admin", "Admin", "ADMIN", "ａｄｍｉｎ", "аdmin", "admіn", "ad\u200bmin", "adm1n", "admln"},
		{"Alice", "AIice", "Аlice", "alice", "A1ice", "𝐀𝐥𝐢𝐜𝐞", "Аliсе"},
		{"Bob", "B0b", "Bоb", "bob", "Ｂｏｂ"},
		{"a b", "a  b", "a\u3000b", "a\u00a0b", "A B"},
		{"☺", "☺\ufe0f"},
		{"José", "Jose\u0301"},
		{"ooo", "οοο", "ооо", "0O0"},
	} {
		for _, name := range names {
			if got, want := NameSkeleton(name), NameSkeleton(names[0]); got != want {
				t.Errorf("%q has %q, %q has %q", name, got, names[0], want)
			}
		}
	}
	seen := make(map[string]string)
	for _, name := range []string{"小明", "小朋", "Ann", "Anna", "José", "Jose", "玩家1", "玩家2", "玩家10", "玩家11", "🧧", "🎉", "👩", "👨", "a b", "ab", "Müller", "Muller"} {
		if other, taken := seen[NameSkeleton(name)]; taken {
			t.Errorf("%q and %q do not look alike", name, other)
		}
		seen[NameSkeleton(name)] = name
	}
}

// A number makes a name that is told apart from the one it was made of, may be chosen by anybody, and is known again.
func TestNumberedNamesAreCleanAndToldApart(t *testing.T) {
	for _, name := range []string{"小明", strings.Repeat("长", MaxNameLength), strings.Repeat("👨🏿\u200d👩🏿\u200d👧🏿\u200d👦🏿", MaxNameLength)} {
		wantNumbered(t.Errorf, name, 2, 10, 99_999)
	}
	rapid.Check(t, func(t *rapid.T) {
		if name, err := CleanName("nickname", rapid.String().Draw(t, "raw")); err == nil {
			wantNumbered(t.Fatalf, name, rapid.IntRange(2, 99_999).Draw(t, "n"))
		}
	})
	if IsNumberedName("Ann #2", "Bob") || IsNumberedName("Ann", "Bob") || IsNumberedName("Ann #x", "Ann") {
		t.Error("another name is taken for a numbered one")
	}
}

func wantNumbered(fail func(format string, args ...any), name string, numbers ...int) {
	seen := map[string]bool{NameSkeleton(name): true}
	for _, n := range numbers {
		got := NumberedName(name, n)
		if clean, err := CleanName("nickname", got); clean != got || err != nil {
			fail("%q is not clean: %q, %v", got, clean, err)
		}
		if seen[NameSkeleton(got)] || !IsNumberedName(got, name) {
			fail("%q, made of %q, looks like another or is not known again", got, name)
		}
		seen[NameSkeleton(got)] = true
	}
}
