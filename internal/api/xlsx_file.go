package api

import (
	"archive/zip"
	"io"

	"github.com/labstack/echo/v4"
	"github.com/xuri/excelize/v2"

	"redrain/internal/game"
)

// xlsxFile is a workbook of one sheet, in which text is text and money a number. Its rows wait in a temporary file, since what a workbook
// begins with is known only at its end.
type xlsxFile struct {
	download download
	name     string
	book     *excelize.File
	rows     *excelize.StreamWriter
	money    int // the style of amounts
	row      int // the last that was written
}

// moneyFormat is the number of the format 0.00 in workbooks.
const moneyFormat = 2

func newXLSXFile(c echo.Context, name string, columns ...string) (tableFile, error) {
	t := &xlsxFile{download: newDownload(c), name: name + ".xlsx", book: excelize.NewFile()}
	var err error
	if t.rows, err = t.book.NewStreamWriter(t.book.GetSheetName(0)); err != nil {
		return nil, err
	}
	if t.money, err = t.book.NewStyle(&excelize.Style{NumFmt: moneyFormat}); err != nil {
		return nil, err
	}
	header := make([]any, len(columns))
	for i, column := range columns {
		header[i] = column
	}
	return t, t.writeRow(header...)
}

func (t *xlsxFile) writeRow(cells ...any) error {
	for i, cell := range cells {
		switch value := cell.(type) {
		case game.Cents:
			cells[i] = excelize.Cell{StyleID: t.money, Value: float64(value) / 100}
		case token:
			cells[i] = string(value)
		}
	}
	t.row++
	first, err := excelize.CoordinatesToCellName(1, t.row)
	if err != nil {
		return err
	}
	return t.rows.SetRow(first, cells)
}

func (t *xlsxFile) endPage() error { return t.download.extendDeadline() }

func (t *xlsxFile) finish() error {
	if err := t.rows.Flush(); err != nil {
		return err
	}
	t.download.begin(t.name, "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet")
	t.book.SetZipWriter(func(io.Writer) excelize.ZipWriter { return zip.NewWriter(t.download) }) // not to a buffer of the whole file
	_, err := t.book.WriteToBuffer()
	return err
}

func (t *xlsxFile) close() {
	t.download.end()
	_ = t.book.Close() // only temporary files could stay
}
