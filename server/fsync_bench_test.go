package main

import (
	"os"
	"testing"

	"redrain/internal/testkit"
)

// BenchmarkFsync (go test -run "^$" -bench Fsync -benchtime 1x ./server) measures winning taps on the whole path, over a
// Redis that writes its file to the disk once a second, and over one that does before every answer, in turns of one run.
func BenchmarkFsync(b *testing.B) {
	kinds := []string{"everysec", "always"}
	instances := make(map[string]*instance)
	pids := []int{os.Getpid()}
	for _, fsync := range kinds {
		redis := testkit.Redis(b, "--appendonly", "yes", "--appendfsync", fsync)
		in := startInstance(b, "REDIS_URL="+redis.URL, "TAPS_PER_SECOND=100000", "LOG_LEVEL=error", "NO_SETTLE=true")
		instances[fsync] = in
		pids = append(pids, redis.Pid(), in.Pid())
	}
	for range b.N {
		var all series
		for range benchRepeats {
			turn := make(map[string]*measured)
			for _, fsync := range kinds {
				turn[fsync] = tapRates(b, instances[fsync], hostOf(b, instances[fsync]), pids)["won"]
			}
			all.add(turn)
		}
		for _, fsync := range kinds {
			b.ReportMetric(all.median(fsync, (*measured).rate), "won-"+fsync+"/s")
		}
		b.ReportMetric(all.ratio("always", "everysec"), "always/everysec")
		b.ReportMetric(0, "ns/op") // says nothing here
	}
}
