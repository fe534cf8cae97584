package main

import (
	"testing"
	"time"

	"redrain/internal/bots"
	"redrain/internal/testkit"
)

// BenchmarkTapsBesideSettling (go test -run "^$" -bench BesideSettling -benchtime 1x -timeout 1h ./server) measures what the taps of
// 1,000 players, 2 a second each of which nearly all win, feel of the settling of their claims in the same process: the same
// round on a server that settles and on one that leaves it to others, in turns of one run.
func BenchmarkTapsBesideSettling(b *testing.B) {
	kinds := []string{"without", "with"}
	for range b.N {
		p99 := make(map[string][]float64)
		var ratios []float64
		for turn := range benchRepeats {
			for i := range kinds {
				kind := kinds[(turn+i)%2] // no kind always comes first
				p99[kind] = append(p99[kind], tapsBeside(b, kind == "with"))
			}
			ratios = append(ratios, p99["with"][turn]/p99["without"][turn])
		}
		for _, kind := range kinds {
			b.ReportMetric(median(p99[kind]), kind+"-p99-µs")
		}
		b.ReportMetric(median(ratios), "with/without")
		b.ReportMetric(0, "ns/op") // says nothing here
	}
}

// tapsBeside plays one round on a server and a Redis of its own, and returns the p99 of its taps in µs.
func tapsBeside(b *testing.B, settling bool) float64 {
	b.Helper()
	redis := testkit.Redis(b, "--appendonly", "yes")
	defer redis.Kill()
	env := []string{"REDIS_URL=" + redis.URL, "LOG_LEVEL=error"}
	if !settling {
		env = append(env, "NO_SETTLE=true")
	}
	in := startInstance(b, env...)
	defer in.Interrupt(b, soon)
	delayGarbageCollection()
	report, err := bots.Play(b.Context(), bots.Options{
		Instances: []string{in.url}, Password: password, Players: 1000, Rate: 2, Ramp: 2 * time.Second, Duration: 20 * time.Second,
		Settings: map[string]any{"packets": 100_000, "total_cents": 10_000_000, "cap": 100, "pace": "burst", "drops_per_second": 20},
	})
	if err != nil {
		b.Fatal(err)
	}
	if !report.Conserved {
		b.Fatalf("the books do not hold: %v", report.Violations)
	}
	return float64(report.Latency.P99)
}
