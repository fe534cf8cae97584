package main

import (
	"fmt"
	"slices"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"redrain/internal/testkit"
)

const (
	rainDrops   = 60 // at least so many fall at any moment
	rainFrames  = 40 // of each repeat
	rainRepeats = 5
)

// frames is what one repeat came to: how long the page worked for each frame, in ms, and how many there were in a second.
type frames struct{ p50, p95, perSecond float64 }

// BenchmarkRainFrames lets 60 drops fall and reports the medians over some repeats of the time that the page works for a frame
// and of the frames a second: on a phone's page with the most device pixels that the rain draws on, whose processor is slowed
// down to a quarter, as one of the middle range is; and on one with few pixels that is not slowed down.
//
// The time is what the page itself needs, and what the rain can do about. The frames a second also have what the browser needs
// to bring the pixels to a screen; a phone's graphics chip does that, here it is the same processor, which the first of the two
// makes slow as well.
func BenchmarkRainFrames(b *testing.B) {
	in := startInstance(b)
	for _, setting := range []struct {
		name     string
		scale    float64
		slowdown float64
	}{{"slowed-4x-3-pixels", 3, 4}, {"as-it-is-1-pixel", 1, 1}} {
		b.Run(setting.name, func(b *testing.B) {
			phone := openRain(b, in, testkit.Screen{Width: 390, Height: 844, Scale: setting.scale, Handheld: true})
			phone.slowDown(setting.slowdown)
			for range b.N {
				reportFrames(b, phone)
			}
		})
	}
}

// openRain is a phone's page on which it rains for minutes.
func openRain(b *testing.B, in *instance, screen testkit.Screen) *browserPage {
	b.Helper()
	host := loginHost(b, in)
	room := newRoom(b, host)
	phone := newBrowserPage(b, testkit.Chromium(b), screen, "the phone", in.url, "en")
	phone.open("/r/" + room)
	phone.awaitPhase("entry")
	phone.fill("nickname", "Ann")
	phone.click("join")
	phone.awaitPhase("waiting")
	startRound(b, host, newRound(b, host, room, map[string]any{
		"total_cents": 10_000, "packets": 100, "countdown_ms": 0, "duration_ms": 600_000, "drops_per_second": 24, "bomb_percent": 10,
	}).ID)
	phone.awaitPhase("raining")
	return phone
}

func reportFrames(b *testing.B, phone *browserPage) {
	b.Helper()
	drops := phone.awaitRainOf(rainDrops)
	var all []frames
	for range rainRepeats {
		all = append(all, phone.measureFrames(rainFrames))
	}
	b.ReportMetric(computeMedian(all, func(f frames) float64 { return f.p50 }), "p50-ms")
	b.ReportMetric(computeMedian(all, func(f frames) float64 { return f.p95 }), "p95-ms")
	b.ReportMetric(computeMedian(all, func(f frames) float64 { return f.perSecond }), "frames/s")
	b.ReportMetric(drops, "drops")
	b.ReportMetric(0, "ns/op") // says nothing here
}

func computeMedian(all []frames, of func(frames) float64) float64 {
	values := make([]float64, len(all))
	for i, one := range all {
		values[i] = of(one)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

func (s *browserPage) slowDown(times float64) {
	s.t.Helper()
	if _, err := chromedp.Call(s.ctx, emulation.SetCPUThrottlingRate, emulation.SetCPUThrottlingRateParams{Rate: times}); err != nil {
		s.t.Fatal(err)
	}
}

// awaitRainOf waits until so many drops are drawn in one frame, and returns how many those are. Nothing counts any more when
// it returns.
func (s *browserPage) awaitRainOf(drops int) float64 {
	s.t.Helper()
	return evaluatePromise[float64](s, fmt.Sprintf(`new Promise((enough) => {
		const pen = CanvasRenderingContext2D.prototype, { drawImage } = pen;
		let drawn = 0;
		pen.drawImage = function (...args) {
			drawn++;
			return drawImage.apply(this, args);
		};
		const next = () => {
			if (drawn >= %d) {
				pen.drawImage = drawImage;
				return enough(drawn);
			}
			drawn = 0;
			return requestAnimationFrame(next);
		};
		requestAnimationFrame(next);
	})`, drops))
}

// measureFrames watches the page for so many frames. Nobody asks the page for anything meanwhile.
func (s *browserPage) measureFrames(count int) frames {
	s.t.Helper()
	got := evaluatePromise[struct{ P50, P95, PerSecond float64 }](s, fmt.Sprintf(`new Promise((measured) => {
		const began = performance.now();
		let frames = 0;
		const next = () => {
			if (frames++ < %[1]d) return requestAnimationFrame(next);
			const work = window.redrain.frameWork().slice(-%[1]d).sort((a, b) => a - b);
			const at = (part) => work[Math.floor(work.length * part)];
			return measured({ P50: at(0.5), P95: at(0.95), PerSecond: (%[1]d * 1000) / (performance.now() - began) });
		};
		requestAnimationFrame(next);
	})`, count))
	return frames{p50: got.P50, p95: got.P95, perSecond: got.PerSecond}
}
