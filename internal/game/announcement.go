package game

import (
	"fmt"
	"strings"

	"github.com/rivo/uniseg"
	"golang.org/x/text/unicode/norm"
)

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
