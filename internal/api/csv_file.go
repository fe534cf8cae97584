package api

import (
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/labstack/echo/v4"
	"golang.org/x/text/unicode/norm"
)

// byteOrderMark makes Excel read what follows as UTF-8.
const byteOrderMark = "\uFEFF"

// csvFile is a CSV file (RFC 4180). It buffers only a few KB.
type csvFile struct {
	download download
	writer   *csv.Writer
}

func newCSVFile(c echo.Context, name string, columns ...string) (tableFile, error) {
	t := &csvFile{download: newDownload(c)}
	t.writer = csv.NewWriter(t.download)
	t.writer.UseCRLF = true
	t.download.begin(name+".csv", "text/csv; charset=utf-8")
	if _, err := t.download.Write([]byte(byteOrderMark)); err != nil {
		return nil, err
	}
	return t, t.writer.Write(columns)
}

func (t *csvFile) writeRow(cells ...any) error {
	row := make([]string, len(cells))
	for i, cell := range cells {
		if text, ok := cell.(string); ok {
			cell = keepText(text)
		}
		row[i] = fmt.Sprint(cell)
	}
	return t.writer.Write(row)
}

func (t *csvFile) endPage() error { return t.download.extendDeadline() }

func (t *csvFile) finish() error {
	t.writer.Flush()
	return t.writer.Error()
}

func (t *csvFile) close() { t.download.end() }

// maxFormulaText is the most UTF-16 units that Excel takes for a text in a formula.
const maxFormulaText = 255

// keepText returns a cell that a spreadsheet shows as this text, whatever the text looks like. A text that could be taken for a number,
// a time, a formula or another value is written as a formula that yields it: ="00042". One that is too long for that has an
// apostrophe before it, which keeps it from being evaluated.
func keepText(text string) string {
	switch {
	case !isRetyped(text):
		return text
	case len(utf16.Encode([]rune(text))) > maxFormulaText:
		return "'" + text
	}
	return `="` + strings.ReplaceAll(text, `"`, `""`) + `"`
}

// isRetyped reports whether a spreadsheet may take a text for something else: it has a digit (numbers, times and dates in any language),
// is a word for a truth value, or begins with a sign of formulas, numbers, errors or quoted text. Signs count in any width, and behind spaces
// and characters that are not seen, as old names may have.
func isRetyped(text string) bool {
	unseen := func(r rune) bool { return r == ' ' || r > '\u007f' && unicode.In(r, unicode.Zs, unicode.Cf) }
	plain := norm.NFKC.String(strings.TrimLeftFunc(text, unseen))
	first, _ := utf8.DecodeRuneInString(plain)
	return strings.ContainsFunc(plain, unicode.IsDigit) || strings.ContainsRune("=+-@\t\r\n'\"#(.,%", first) || unicode.Is(unicode.Sc, first) ||
		strings.EqualFold(strings.TrimSpace(plain), strconv.FormatBool(true)) || strings.EqualFold(strings.TrimSpace(plain), strconv.FormatBool(false))
}
