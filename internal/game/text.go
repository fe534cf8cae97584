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

// CleanName trims a nickname or a room's name, brings it into NFC, and refuses with an *Invalid what nobody could read:
// nothing visible, more than MaxNameLength visible characters, control characters and line breaks, invalid UTF-8.
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
	name := strings.TrimSpace(norm.NFC.String(raw))
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

// MaxAnnouncementLength is the most visible characters (grapheme clusters) of what a host tells everybody.
const MaxAnnouncementLength = 80

// CleanAnnouncement trims a host's announcement, brings it into NFC, and refuses with an *Invalid what nobody could read:
// nothing visible, more than MaxAnnouncementLength visible characters, control characters and line breaks, invalid UTF-8.
func CleanAnnouncement(raw string) (string, error) {
	text := strings.TrimSpace(norm.NFC.String(raw))
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
