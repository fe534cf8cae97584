package main

import (
	"bytes"
	"flag"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// update writes what can be derived into README.md: go test ./server -run README -update.
var update = flag.Bool("update", false, "write the configuration table of README.md")

const readme = "../README.md"

// setting is one flag with its variable, of whatever commands have it.
type setting struct{ flag, variable, fallback, meaning string }

func settings(t *testing.T) []setting {
	t.Helper()
	parser, err := kong.New(&cli{}, kong.Name("server"))
	if err != nil {
		t.Fatal(err)
	}
	var all []setting
	for _, command := range parser.Model.Children {
		for _, flag := range command.Flags {
			if flag.Hidden || len(flag.Envs) == 0 || slices.ContainsFunc(all, func(known setting) bool { return known.variable == flag.Envs[0] }) {
				continue
			}
			all = append(all, setting{"--" + flag.Name, flag.Envs[0], flag.Default, flag.Help})
		}
	}
	return all
}

func (s setting) row() string {
	fallback := ""
	if s.fallback != "" {
		fallback = "`" + s.fallback + "`"
	}
	return fmt.Sprintf("| `%s` | `%s` | %s | %s |", s.flag, s.variable, fallback, s.meaning)
}

var tableOfSettings = regexp.MustCompile(`(?s)(\| flag \| variable \|[^\n]*\n\|[-|]+\n)(.*?)(\n\n)`)

// The table of the README is what --help says, and --help says all of it.
func TestREADMEListsTheConfiguration(t *testing.T) {
	var rows []string
	var help bytes.Buffer
	for _, args := range [][]string{{"--help"}, {"settle", "--help"}, {"load", "--help"}, {"migrate", "--help"}} {
		if code := run(t.Context(), args, &help, &help); code != exitOK {
			t.Fatalf("%v: exit code %d", args, code)
		}
	}
	shown := strings.Join(strings.Fields(help.String()), " ")
	for _, s := range settings(t) {
		rows = append(rows, s.row())
		if !strings.Contains(shown, s.flag) || !strings.Contains(shown, "($"+s.variable+")") {
			t.Errorf("--help does not show %s and %s", s.flag, s.variable)
		}
	}
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	want := tableOfSettings.ReplaceAll(text, []byte("${1}"+strings.ReplaceAll(strings.Join(rows, "\n"), "$", "$$")+"${3}"))
	if bytes.Equal(text, want) && tableOfSettings.Match(text) {
		return
	}
	if !*update {
		t.Fatalf("the configuration table of README.md is not what the flags are; go test ./server -run README -update writes it:\n%s", strings.Join(rows, "\n"))
	}
	if err := os.WriteFile(readme, want, 0o600); err != nil {
		t.Fatal(err)
	}
}

// Each module that this one imports itself is in the README, with the reason, and no other.
func TestREADMESaysWhyEachDependencyIsThere(t *testing.T) {
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(text), "\n| module | why it is here |\n")
	if !found {
		t.Fatal("README.md has no table of modules")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	var listed []string
	for _, row := range regexp.MustCompile(`(?m)^\| ([^|]+) \|`).FindAllStringSubmatch(table, -1) {
		for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[1], -1) {
			listed = append(listed, name[1])
		}
	}
	imported := modules(t)
	for _, module := range imported {
		if !slices.Contains(listed, module) {
			t.Errorf("README.md does not say why %s is here", module)
		}
	}
	for _, module := range listed {
		if !slices.Contains(imported, module) {
			t.Errorf("README.md lists %s, which nothing imports", module)
		}
	}
}

// modules are those of go.mod that the code imports by itself.
func modules(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	var required []string
	for _, line := range regexp.MustCompile(`(?m)^(?:require )?\s*(\S+\.\S+/?\S*) v\S+`).FindAllStringSubmatch(string(text), -1) {
		required = append(required, line[1])
	}
	used := make(map[string]bool)
	for path := range importedPaths(t) {
		longest := ""
		for _, module := range required {
			if (path == module || strings.HasPrefix(path, module+"/")) && len(module) > len(longest) {
				longest = module
			}
		}
		if longest != "" {
			used[longest] = true
		}
	}
	var all []string
	for module := range used {
		all = append(all, module)
	}
	slices.Sort(all)
	return all
}

func importedPaths(t *testing.T) map[string]bool {
	t.Helper()
	paths := make(map[string]bool)
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "node_modules" || entry.Name() != ".." && strings.HasPrefix(entry.Name(), ".")):
			return fs.SkipDir
		case filepath.Ext(path) != ".go":
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return fmt.Errorf("read imports: %w", err)
		}
		for _, one := range file.Imports {
			imported, err := strconv.Unquote(one.Path.Value)
			if err != nil {
				return fmt.Errorf("read an import of %s: %w", path, err)
			}
			paths[imported] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// The map of the code names every folder, and files that exist with the functions that it says are in them.
func TestTheMapOfTheCodeIsRight(t *testing.T) {
	text, err := os.ReadFile("../internal/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range regexp.MustCompile("`((?:\\w+/)+[\\w.*]+)`(?: \\(`(?:\\w+\\.)?(\\w+)`\\))?").FindAllStringSubmatch(string(text), -1) {
		path, function := name[1], name[2]
		found, err := filepath.Glob("../internal/" + path)
		if beside, _ := filepath.Glob("../" + path); len(found) == 0 {
			found = beside
		}
		if err != nil || len(found) == 0 {
			t.Errorf("there is no %s", path)
			continue
		}
		if source, err := os.ReadFile(found[0]); function != "" && (err != nil || !strings.Contains(string(source), ") "+function+"(")) {
			t.Errorf("%s has no function %s", path, function)
		}
	}
	folders, err := os.ReadDir("../internal")
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		if folder.IsDir() && !strings.Contains(string(text), "| `"+folder.Name()+"` |") {
			t.Errorf("the map does not say what %s is", folder.Name())
		}
	}
}
