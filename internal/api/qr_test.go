package api

import (
	"regexp"
	"strconv"
	"testing"

	"rsc.io/qr"
)

var bar = regexp.MustCompile(`M(\d+) (\d+)h(\d+)v1h-(\d+)z`)

// wantModules parses the SVG and compares its modules with the QR code of a text.
func wantModules(t *testing.T, svg, text string) {
	t.Helper()
	want, err := qr.Encode(text, qr.M)
	if err != nil {
		t.Fatal(err)
	}
	dark := map[[2]int]bool{}
	for _, match := range bar.FindAllStringSubmatch(svg, -1) {
		x, _ := strconv.Atoi(match[1])
		y, _ := strconv.Atoi(match[2])
		width, _ := strconv.Atoi(match[3])
		for i := range width {
			dark[[2]int{x + i, y}] = true
		}
	}
	for y := range want.Size {
		for x := range want.Size {
			if dark[[2]int{x, y}] != want.Black(x, y) {
				t.Fatalf("%s: module %d,%d is wrong", text, x, y)
			}
		}
	}
}
