package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"redrain/internal/testkit"
)

// picturesFolder names the variable with a folder for pictures of what the tests see; empty: none are made.
const picturesFolder = "REDRAIN_SCREENSHOTS"

// picture keeps a screenshot as NAME-LANGUAGE.png.
func (s *browserPage) picture(name string) {
	s.t.Helper()
	folder := os.Getenv(picturesFolder)
	if folder == "" {
		return
	}
	s.await("[...document.querySelectorAll('.podium')].every((podium) => podium.getAnimations({ subtree: true }).length === 0)") // it rises
	pixels, err := chromedp.Run(s.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		s.t.Fatal(err)
	}
	keep(s.t, filepath.Join(folder, name+"-"+s.language+".png"), pixels)
}

func keep(t testing.TB, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// montage puts three pictures side by side, for the README.
const montage = `<!doctype html><meta charset="utf-8"><style>
	body { margin: 0; background: #fff }
	img { position: absolute; top: 10px; border-radius: 10px; box-shadow: 0 2px 8px #0004; object-fit: cover; object-position: top }
</style>
<img src="player-raining-390x844-zh-CN.png" style="left: 10px; width: 277px; height: 600px">
<img src="screen-raining-1920x1080-en-GB.png" style="left: 301px; width: 569px; height: 320px">
<img src="host-form-820x1180-zh-CN.png" style="left: 301px; top: 344px; width: 569px; height: 266px">`

// pictureForREADME makes round.jpg of the pictures of both languages.
func pictureForREADME(t *testing.T) {
	t.Helper()
	folder := os.Getenv(picturesFolder)
	if folder == "" {
		return
	}
	keep(t, filepath.Join(folder, "montage.html"), []byte(montage))
	window := testkit.Chromium(t).Page(testkit.Screen{Width: 880, Height: 620, Scale: 1.3})
	if err := chromedp.Do(window, chromedp.Navigate("file://"+filepath.Join(folder, "montage.html"))); err != nil {
		t.Fatal(err)
	}
	quality := int64(72)
	taken, err := chromedp.Call(window, page.CaptureScreenshot, page.CaptureScreenshotParams{Format: page.CaptureScreenshotFormatJpeg, Quality: &quality})
	if err != nil {
		t.Fatal(err)
	}
	keep(t, filepath.Join(folder, "round.jpg"), taken.Data)
}
