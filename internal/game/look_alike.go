package game

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/mtibben/confusables"
	"github.com/rivo/uniseg"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// alike are letters that the confusables of Unicode keep apart in one case and not in the other: I, l and 1 are alike, and so are i and
// I to whoever does not mind the case.
var alike = strings.NewReplacer("i", "l", "1", "l", "|", "l", "0", "o")

// NameSkeleton is the same for names that people in one room would take for each other: it minds neither the case and width of letters,
// nor what is not seen, nor the alphabet of letters that look alike (the skeleton of Unicode's UTS #39).
func NameSkeleton(name string) string {
	seen := strings.Map(func(r rune) rune {
		if isIgnorable(r) {
			return -1
		}
		return r
	}, norm.NFKC.String(name))
	folded := cases.Fold().String(confusables.Skeleton(seen))
	return strings.Join(strings.Fields(alike.Replace(confusables.Skeleton(folded))), " ")
}

// NameKey is a NameSkeleton in a form of a fixed length, for unique keys in databases.
func NameKey(name string) string {
	sum := sha256.Sum256([]byte(NameSkeleton(name)))
	return hex.EncodeToString(sum[:])
}

// NumberedName returns a clean name as the n-th player of a room has it who chose it or one that looks alike: the first has it as it
// is, the second with #2 behind it. A long name is cut, so that the result is a clean name too.
func NumberedName(name string, n int) string {
	if n <= 1 {
		return name
	}
	suffix := fmt.Sprintf(" #%d", n)
	var kept strings.Builder
	clusters := uniseg.NewGraphemes(name)
	for count := len(suffix); count < MaxNameLength && clusters.Next(); count++ {
		if kept.Len()+len(clusters.Str())+len(suffix) > maxNameBytes {
			break
		}
		kept.WriteString(clusters.Str())
	}
	return strings.TrimSpace(kept.String()) + suffix
}

var numbered = regexp.MustCompile(` #([1-9]\d{0,5})$`)

// IsNumberedName reports whether a name is what NumberedName makes of a chosen one.
func IsNumberedName(name, chosen string) bool {
	if name == chosen {
		return true
	}
	match := numbered.FindStringSubmatch(name)
	if match == nil {
		return false
	}
	n, err := strconv.Atoi(match[1])
	return err == nil && NumberedName(chosen, n) == name
}
