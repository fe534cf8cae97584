package api_test

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"redrain/internal/game"
)

// settingNames are the names of a round's settings in JSON, in order.
func settingNames() []string {
	var names []string
	settings := reflect.TypeFor[game.Settings]()
	for i := range settings.NumField() {
		names = append(names, settings.Field(i).Tag.Get("json"))
	}
	return names
}

// The pages and the protocol cannot derive the settings from game.Settings, so they are compared with it.
func TestPagesAndProtocolHaveEverySetting(t *testing.T) {
	for _, part := range []struct{ file, from, to, name string }{
		{"../../web/host/settings.js", "@typedef {object} Form", "*/", `@property \{.+\} (\w+)`},
		{"../../web/host/settings.js", "export const emptyForm = {", "};", `(?:^|[{,])\s*(\w+): [^}]`},
		{"../../web/host/settings.js", "export function formOf", "};", `(?m)^    (\w+): `},
		{"../../web/shared/messages.js", "@typedef {object} Round", "*/", `@property \{.+\} (\w+)`},
		{"../wire/protocol.md", "", "", `(\w+)`},
	} {
		text := readFile(t, part.file)
		_, text, found := strings.Cut(text, part.from)
		if !found {
			t.Errorf("%s has no %q", part.file, part.from)
		}
		if part.to != "" {
			text, _, _ = strings.Cut(text, part.to)
		}
		var names []string
		for _, match := range regexp.MustCompile(part.name).FindAllStringSubmatch(text, -1) {
			names = append(names, match[1])
		}
		for _, name := range settingNames() {
			if !slices.Contains(names, name) {
				t.Errorf("%s, %q: there is no %s", part.file, part.from, name)
			}
		}
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
