package rdb

import (
	"os/exec"
	"slices"
	"testing"

	"redrain/internal/testkit"
)

// BenchmarkFsync (go test -run "^$" -bench Fsync -benchtime 1x ./internal/rdb) measures winning taps in grab.lua with an
// append-only file that is written to the disk once a second, and before every answer, in turns of one run. The servers' files
// are in TMPDIR, which must be a disk for this to mean something.
func BenchmarkFsync(b *testing.B) {
	if _, err := exec.LookPath("redis-benchmark"); err != nil {
		testkit.Missing(b, "redis-benchmark", "redis-tools")
	}
	start := func(fsync string) (*fixture, string) {
		server := testkit.Redis(b, "--appendonly", "yes", "--appendfsync", fsync, "--auto-aof-rewrite-percentage", "0")
		return newFixture(b, server.URL), server.Addr
	}
	everysec, everysecAddr := start("everysec")
	always, alwaysAddr := start("always")
	for b.Loop() {
		for _, l := range loads {
			if l.losing { // writes nothing
				continue
			}
			var second, each, ratios []float64
			for range scriptRuns {
				s, a := l.run(b, everysec, everysecAddr), l.run(b, always, alwaysAddr)
				second, each, ratios = append(second, s), append(each, a), append(ratios, a/s)
			}
			name := map[int]string{1: "single", MaxBatch: "batched"}[l.batch]
			b.ReportMetric(medianOf(second), name+"-everysec/s")
			b.ReportMetric(medianOf(each), name+"-always/s")
			b.ReportMetric(medianOf(ratios), name+"-always/everysec")
		}
	}
	b.ReportMetric(0, "ns/op") // says nothing here
}

func medianOf(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}
