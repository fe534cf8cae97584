package api

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"redrain/internal/game"
)

// retyped are texts that spreadsheets take for something else.
var retyped = []string{
	"123456789012345678", "00042", "1E5", "1e5", "12.30", "1,234", "1-2", "1/2", "2026-01-02", "Jan 5", "3:15", "上午8:00", "50%", "５０", "½", "¥5", "$5", "€", "(5)",
	"=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "  =1", "\u3000=1", "＝1", "＋a", "－a", "＠a", "\u200b=a", "\ufeff\u200e=a", "\u00ad+a", "=cmd|'/c calc'!A",
	"TRUE", "false", "ｔｒｕｅ", "#N/A", "'a", "\"a\"", `a"1"`, "=\"a\"", strings.Repeat("1", 128),
}

// plain are texts that stay what they are in every spreadsheet.
var plain = []string{"", " ", "小明", "a=b", "Bob", "Bob, \"B\"", "a'b", "🧧=", "trueman", "a\tb"}

func TestTextIsKeptFromSpreadsheets(t *testing.T) {
	for _, text := range retyped {
		cell := keepText(text)
		if cell == text {
			t.Errorf("%q is written as it is", text)
			continue
		}
		book := excelize.NewFile()
		if err := book.SetCellFormula("Sheet1", "A1", cell); err != nil {
			t.Fatal(err)
		}
		if got, err := book.CalcCellValue("Sheet1", "A1"); err != nil || got != text {
			t.Errorf("%q is written as %q, which a spreadsheet shows as %q, %v", text, cell, got, err)
		}
	}
	for _, text := range plain {
		if got := keepText(text); got != text {
			t.Errorf("%q is written as %q", text, got)
		}
	}
	long := "=" + strings.Repeat("👨🏿\u200d👩🏿\u200d👧🏿\u200d👦🏿", 20)
	if got := keepText(long); got != "'"+long {
		t.Errorf("a text that no formula may hold is written as %.20q", got)
	}
}

// namedClaims are claims of players with certain names and subjects.
type namedClaims struct {
	*fakeStore
	names []string
}

func (m namedClaims) BookedClaims(_ context.Context, _ string, after, _ int) ([]game.BookedClaim, error) {
	var page []game.BookedClaim
	for i := after; i < len(m.names); i++ {
		page = append(page, game.BookedClaim{
			Claim: game.Claim{Number: i + 1, Player: playerA, Drop: 7, Cents: 1_234_567_89}, At: 1_800_000_000_000, Nickname: m.names[i], Subject: m.names[i],
		})
	}
	return page, nil
}

func (r *testServer) workbook(t *testing.T, path string) [][]string {
	t.Helper()
	response := r.call("GET", path, "", asHost)
	if got := response.Header(); response.Code != 200 || !strings.HasSuffix(got.Get("Content-Disposition"), `.xlsx"`) || got.Get("Cache-Control") != "no-store" {
		t.Fatalf("got %d %v", response.Code, got)
	}
	book, err := excelize.OpenReader(bytes.NewReader(response.Body.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	defer book.Close()
	rows, err := book.GetRows(book.GetSheetName(0), excelize.Options{RawCellValue: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, cell := range []string{"B2", "C2", "D2"} {
		if kind, err := book.GetCellType(book.GetSheetName(0), cell); err == nil && len(rows) > 1 && kind == excelize.CellTypeNumber {
			t.Errorf("%s is a number", cell)
		}
	}
	return rows
}

// Both files have the same columns and rows, and their text is what people wrote.
func TestFilesKeepTextText(t *testing.T) {
	names := slices.DeleteFunc(slices.Concat(retyped, plain), func(name string) bool { return strings.ContainsAny(name, "\r\n") })
	r := newTestServer(t, func(o *Options) { o.Exports = namedClaims{newFakeStore(), names} })
	path := "/api/rounds/" + roundA + "/claims."
	rows := r.workbook(t, path+"xlsx")
	lines, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(r.call("GET", path+"csv", "", asHost).Body.String(), byteOrderMark))).ReadAll()
	if err != nil || len(lines) != len(names)+1 || len(rows) != len(lines) || !slices.Equal(rows[0], lines[0]) {
		t.Fatalf("%d rows and %d lines for %d claims, %v", len(rows), len(lines), len(names), err)
	}
	for i, name := range names {
		at := []string{fmt.Sprint(i + 1), playerA, name, name, "7", "123456789", "1234567.89", "2027-01-15T08:00:00.000Z"}
		if !slices.Equal(rows[i+1], at) {
			t.Errorf("the workbook has %q, want %q", rows[i+1], at)
		}
		at[2], at[3] = keepText(name), keepText(name)
		if !slices.Equal(lines[i+1], at) {
			t.Errorf("the CSV file has %q, want %q", lines[i+1], at)
		}
	}
}

func TestStatementIsAWorkbookToo(t *testing.T) {
	rows := newTestServer(t).workbook(t, "/api/rooms/RAXN88/statement.xlsx")
	want := []string{"2027-01-15T08:00:00.000Z", roundA, "+1 年会", "escrow", "-88800", "-888", "-88800", "-888"}
	if len(rows) != 3 || !slices.Equal(rows[1], want) {
		t.Errorf("got %q", rows)
	}
}

// The rows of a large workbook wait in a file, which is gone afterwards, and not in memory.
func TestLargeWorkbookIsNotHeldInMemory(t *testing.T) {
	const count, most = 150_000, 80 << 20 // of which the workbook library gathers 32 MB before it writes
	t.Setenv("TMPDIR", t.TempDir())
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	highest := uint64(0)
	many := generatedClaims{fakeStore: newFakeStore(), count: count, after: func(number int) error {
		if number%10_000 == 0 {
			runtime.ReadMemStats(&now)
			highest = max(highest, now.HeapAlloc)
		}
		return nil
	}}
	r := newTestServer(t, func(o *Options) { o.Exports = many })
	if response := r.call("GET", "/api/rounds/"+roundA+"/claims.xlsx", "", asHost); response.Code != 200 || response.Body.Len() < count {
		t.Errorf("got %d, %d bytes", response.Code, response.Body.Len())
	}
	if grown := int64(highest) - int64(before.HeapAlloc); grown > most {
		t.Errorf("the heap grew by %d MB", grown>>20)
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("%v stay, %v", left, err)
	}
}
