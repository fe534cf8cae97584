package game

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/rivo/uniseg"
	"golang.org/x/text/unicode/norm"
)

// MaxNameLength is the most visible characters (grapheme clusters) that a nickname, a room's name or a title may have.
const MaxNameLength = 24

// maxNameBytes bounds what stacked combining marks can make of one visible character; a family of four with its tones of
// skin has 41 bytes.
const maxNameBytes = 48 * MaxNameLength

// CleanName trims a nickname or a room's name, brings it into NFC without invisible characters (see removeInvisible), and refuses with
// an *Invalid what nobody could read: nothing visible, more than MaxNameLength visible characters, control characters and line breaks, invalid UTF-8.
func CleanName(field, raw string) (string, error) {
	name, refused := cleanText(field, raw)
	if refused != nil {
		return "", refused
	}
	if !visible(name) {
		return "", &Invalid{Code: "name_blank", Field: field, Message: field + " must have at least one visible character"}
	}
	return name, nil
}

// CleanTitle is CleanName for a round's title, which may be empty.
func CleanTitle(raw string) (string, *Invalid) { return cleanText("title", raw) }

func cleanText(field, raw string) (string, *Invalid) {
	if strings.ToValidUTF8(raw, "") != raw {
		return "", &Invalid{Code: "name_invalid", Field: field, Message: field + " is not valid UTF-8"}
	}
	name := strings.TrimSpace(removeInvisible(norm.NFC.String(raw)))
	if len(name) > maxNameBytes || uniseg.GraphemeClusterCount(name) > MaxNameLength {
		return "", &Invalid{
			Code: "name_too_long", Field: field,
			Message: fmt.Sprintf("%s must have at most %d characters", field, MaxNameLength),
		}
	}
	if strings.ContainsFunc(name, breaksLines) {
		return "", &Invalid{Code: "name_invalid", Field: field, Message: field + " must not have control characters"}
	}
	return name, nil
}

// breaksLines is true for control characters and for the separators that break lines though they are none.
func breaksLines(r rune) bool { return unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp) }

// looksEmpty holds letters and symbols that fonts draw as nothing though Unicode does not call them space.
const looksEmpty = "\u115f\u1160\u3164\uffa0\u2800\u034f\u17b4\u17b5\u180e"

func visible(name string) bool {
	return strings.ContainsFunc(name, func(r rune) bool {
		return unicode.IsGraphic(r) && !unicode.IsSpace(r) && !unicode.Is(unicode.Mn, r) && !unicode.Is(unicode.Cf, r) &&
			!strings.ContainsRune(looksEmpty, r)
	})
}

// removeInvisible removes characters that are drawn as nothing and only change how a name compares or what a spreadsheet makes of it:
// zero-width characters, direction marks, tags, byte order marks, soft hyphens (Default_Ignorable_Code_Point in Unicode). It keeps
// them where they change what is drawn: within emoji, and joiners after a virama, as Indic scripts write conjuncts (UAX #31, A1).
func removeInvisible(text string) string {
	if !strings.ContainsFunc(text, isIgnorable) {
		return text
	}
	var kept strings.Builder
	for clusters := uniseg.NewGraphemes(text); clusters.Next(); {
		cluster := clusters.Runes()
		if isEmojiSequence(cluster) {
			kept.WriteString(clusters.Str())
			continue
		}
		for i, r := range cluster {
			if !isIgnorable(r) || (isJoiner(r) && i > 0 && isVirama(cluster[i-1])) {
				kept.WriteRune(r)
			}
		}
	}
	return norm.NFC.String(kept.String()) // what stood apart may compose now
}

func isIgnorable(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) &&
		!unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

const (
	zeroWidthNonJoiner = '\u200c'
	zeroWidthJoiner    = '\u200d'
	emojiPresentation  = '\ufe0f' // the variation selector that asks for the coloured form
	keycap             = '\u20e3'
	blackFlag          = '\U0001f3f4' // with tags it is the flag of a region, such as Scotland
	cancelTag          = '\U000e007f'
)

func isJoiner(r rune) bool { return r == zeroWidthJoiner || r == zeroWidthNonJoiner }

func isVirama(r rune) bool {
	const virama = 9 // the canonical combining class
	return norm.NFC.PropertiesString(string(r)).CCC() == virama
}

// isEmojiSequence reports whether each ignorable character of a grapheme cluster has its place in an emoji: one that asks for the
// coloured form of the symbol before it, a joiner between two symbols, or the tags of a region's flag (UTS #51).
func isEmojiSequence(cluster []rune) bool {
	for i, r := range cluster {
		switch {
		case !isIgnorable(r):
		case i == 0:
			return false
		case r == emojiPresentation && (isEmoji(cluster[i-1]) || (i+1 < len(cluster) && cluster[i+1] == keycap)):
		case r == zeroWidthJoiner && i+1 < len(cluster) && isEmoji(cluster[i+1]) && (isEmoji(cluster[i-1]) || cluster[i-1] == emojiPresentation):
		case cluster[0] == blackFlag && r > '\U000e0020' && cluster[len(cluster)-1] == cancelTag:
		default:
			return false
		}
	}
	return true
}

// isEmoji is true for the symbols that emoji are made of, the tones of skin among them, and some that Unicode calls punctuation.
func isEmoji(r rune) bool {
	return (unicode.IsSymbol(r) && r > '\u2000') || strings.ContainsRune("©®‼⁉〰", r)
}

// MaxAnnouncementLength is the most visible characters (grapheme clusters) of what a host tells everybody.
const MaxAnnouncementLength = 80

// CleanAnnouncement trims a host's announcement, brings it into NFC, and refuses with an *Invalid what nobody could read:
// nothing visible, more than MaxAnnouncementLength visible characters, control characters and line breaks, invalid UTF-8.
func CleanAnnouncement(raw string) (string, error) {
	text := strings.TrimSpace(removeInvisible(norm.NFC.String(raw)))
	switch {
	case strings.ToValidUTF8(raw, "") != raw || strings.ContainsFunc(text, breaksLines):
		return "", &Invalid{Code: "text_invalid", Field: "text", Message: "text must be one line without control characters"}
	case !visible(text):
		return "", &Invalid{Code: "text_blank", Field: "text", Message: "text must have at least one visible character"}
	case len(text) > 48*MaxAnnouncementLength || uniseg.GraphemeClusterCount(text) > MaxAnnouncementLength:
		return "", &Invalid{
			Code: "text_too_long", Field: "text", Message: fmt.Sprintf("text must have at most %d characters", MaxAnnouncementLength),
		}
	}
	return text, nil
}
