package wire

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// section returns the text of protocol.md under a heading, up to the next heading.
func section(t *testing.T, heading string) string {
	t.Helper()
	document, err := os.ReadFile("protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(document), "# "+heading+"\n")
	if !found {
		t.Fatalf("protocol.md has no section %q", heading)
	}
	text, _, _ := strings.Cut(after, "\n#")
	return text
}

var firstCell = regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\|")

// documented lists the names in the first column of a section's table.
func documented(t *testing.T, heading string) []string {
	t.Helper()
	var names []string
	for _, row := range firstCell.FindAllStringSubmatch(section(t, heading), -1) {
		names = append(names, row[1])
	}
	return names
}

// declared lists the values of a Go file's string constants that take a name with this prefix or have this type.
func declared(t *testing.T, file, prefix, typeName string) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var values []string
	ast.Inspect(parsed, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		literal, isLiteral := spec.Values[0].(*ast.BasicLit)
		named, isTyped := spec.Type.(*ast.Ident)
		if isLiteral && literal.Kind == token.STRING &&
			((prefix != "" && strings.HasPrefix(spec.Names[0].Name, prefix)) || (isTyped && named.Name == typeName)) {
			value, _ := strconv.Unquote(literal.Value)
			values = append(values, value)
		}
		return true
	})
	return values
}

func wantSame(t *testing.T, what string, document, code []string) {
	t.Helper()
	slices.Sort(document)
	slices.Sort(code)
	if len(document) == 0 || !slices.Equal(document, code) {
		t.Errorf("%s: protocol.md has %v, the code has %v", what, document, code)
	}
}

func TestDocumentListsEveryMessage(t *testing.T) {
	names := append(documented(t, "From the client"), documented(t, "From the server")...)
	wantSame(t, "messages", names, declared(t, "encode.go", "Type", ""))
}

func TestDocumentListsEveryOutcome(t *testing.T) {
	wantSame(t, "outcomes", documented(t, "Outcomes of a tap"), declared(t, "../game/outcome.go", "", "Outcome"))
}

func TestDocumentListsEveryReasonOfAHold(t *testing.T) {
	wantSame(t, "reasons of a hold", documented(t, "Reasons of a hold"), declared(t, "../game/round.go", "", "FreezeReason"))
}

func TestDocumentListsEveryErrorCode(t *testing.T) {
	wantSame(t, "codes of error", documented(t, "Codes of `error`"), declared(t, "encode.go", "Code", ""))
}

func TestDocumentListsEveryCloseCode(t *testing.T) {
	rows := regexp.MustCompile("(?m)^\\| (4\\d{3}) \\| `([a-z_]+)` \\|").FindAllStringSubmatch(section(t, "Close codes"), -1)
	if len(rows) != len(closeReasons) {
		t.Errorf("protocol.md has %d close codes, the code has %d", len(rows), len(closeReasons))
	}
	for _, row := range rows {
		code, _ := strconv.Atoi(row[1])
		if got := CloseCode(code).String(); got != row[2] {
			t.Errorf("%d: protocol.md calls it %q, the code %q", code, row[2], got)
		}
	}
}

func TestRangeOfACloseCodeSaysWhetherToComeBack(t *testing.T) {
	for code, reason := range closeReasons {
		if want := code < 4500; code.ComeBack() != want {
			t.Errorf("%d %s: come back %v, want %v", code, reason, code.ComeBack(), want)
		}
	}
	if CloseCode(3999).ComeBack() || CloseCode(4100).ComeBack() || CloseCode(4100).String() != "" {
		t.Error("codes outside of the ranges mean something")
	}
}

func TestDocumentNamesEveryFixture(t *testing.T) {
	for _, side := range []string{"client", "server"} {
		for name := range fixtures(t, side) {
			if link := "fixtures/" + side + "/" + name + ".json"; !strings.Contains(section(t, "From the "+side), link) {
				t.Errorf("protocol.md does not show %s", link)
			}
		}
	}
}
