package rdb

import (
	"fmt"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"redrain/internal/game"
)

// allScripts are compared with their headers. A test finds scripts that are missing here by their files.
var allScripts = []script{
	openScript, grabScript, closeScript, snapshotScript, reportScript, sweepScript, freezeScript, watermarkScript, expireScript,
	removeConsumersScript, pageScript, restoreScript, readyScript,
}

// header is what the comment at the top of a script says.
type header struct{ purpose, keys, args, reply string }

func readHeader(source string) header {
	var h header
	field := &h.purpose
	for line := range strings.Lines(source) {
		text, comment := strings.CutPrefix(strings.TrimRight(line, "\n"), "--")
		if !comment {
			break
		}
		for name, start := range map[string]*string{"KEYS:": &h.keys, "ARGV:": &h.args, "REPLY:": &h.reply} {
			if rest, ok := strings.CutPrefix(strings.TrimSpace(text), name); ok {
				field, text = start, rest
			}
		}
		*field = strings.TrimSpace(*field + " " + strings.TrimSpace(text))
	}
	return h
}

func TestEveryScriptIsListed(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../lua/*.lua")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".lua")
		if name == "fit" {
			continue // a part of others
		}
		if !slices.ContainsFunc(allScripts, func(s script) bool { return s.name == name }) {
			t.Errorf("%s.lua is not among allScripts", name)
		}
	}
}

func TestHeadersOfScriptsAreWhatGoCallsThemWith(t *testing.T) {
	t.Parallel()
	for _, s := range allScripts {
		t.Run(s.name, func(t *testing.T) {
			h := readHeader(s.source)
			if !strings.HasPrefix(h.purpose, s.name+": ") {
				t.Errorf("the purpose %q does not begin with the script's name", h.purpose)
			}
			if h.keys != s.keys {
				t.Errorf("KEYS are %q in the header and %q in Go", h.keys, s.keys)
			}
			if args := strings.Split(h.args, "  ")[0]; !strings.HasPrefix(args, s.args) {
				t.Errorf("ARGV are %q in the header and %q in Go", h.args, s.args)
			}
			if h.reply == "" {
				t.Error("the header does not say what the REPLY is")
			}
		})
	}
}

var (
	assignment = regexp.MustCompile(`local ([\w, ]+) =\s+((?:(?:tonumber\()?(?:KEYS|ARGV)\[\d+\]\)?,?\s*)+)`)
	input      = regexp.MustCompile(`(KEYS|ARGV)\[(\d+)\]`)
)

// inputNames are the locals that a script gives its inputs, as 'KEYS[1]' → 'state'.
func inputNames(source string) map[string]string {
	names := make(map[string]string)
	for _, match := range assignment.FindAllStringSubmatch(source, -1) {
		locals := strings.Split(match[1], ", ")
		for i, used := range input.FindAllString(match[2], -1) {
			names[used] = locals[i]
		}
	}
	return names
}

// On a cluster a script may only use its KEYS. They are those that its header names, and no key is made up inside the script.
func TestScriptsUseEachInputUnderItsNameInTheHeader(t *testing.T) {
	t.Parallel()
	for _, s := range allScripts {
		t.Run(s.name, func(t *testing.T) {
			source := s.source
			want := make(map[string]string)
			for i, name := range strings.Fields(s.keys) {
				want[fmt.Sprintf("KEYS[%d]", i+1)] = name
			}
			for i, name := range strings.Fields(strings.Split(s.args, " (")[0]) {
				want[fmt.Sprintf("ARGV[%d]", i+1)] = name
			}
			if got := inputNames(source); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("the script names its inputs\n%v\nwant\n%v", got, want)
			}
			for _, used := range input.FindAllStringSubmatch(source, -1) {
				if n, _ := strconv.Atoi(used[2]); want[used[0]] == "" || n == 0 {
					t.Errorf("%s is used and not in the header", used[0])
				}
			}
		})
	}
}

// Redis cuts floats in a reply to integers and ends a reply at nil, cjson loses digits, and error() ends a script after some of its
// writes.
func TestScriptsAvoidConstructsThatLoseMoney(t *testing.T) {
	t.Parallel()
	for _, s := range allScripts {
		for _, never := range []string{"math.random", "cjson", "error(", "error_reply", "KEYS[i", "redis.setresp"} {
			if strings.Contains(s.source, never) {
				t.Errorf("%s.lua has %s", s.name, never)
			}
		}
	}
}

// Of a round's settings, open.lua gets those that scripts decide by. A new one must be in either list.
func TestOpenGetsTheSettingsThatScriptsNeed(t *testing.T) {
	t.Parallel()
	notNeeded := []string{"title", "deal", "tiers", "bomb_percent", "close_when_sold_out"}
	args := strings.Fields(openScript.args)
	settings := reflect.TypeFor[game.Settings]()
	for i := range settings.NumField() {
		name := settings.Field(i).Tag.Get("json")
		if slices.Contains(args, strings.TrimSuffix(name, "_cents")) == slices.Contains(notNeeded, name) {
			t.Errorf("%s is an argument of open.lua and not needed there, or neither", name)
		}
	}
}
