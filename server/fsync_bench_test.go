package main

import "testing"

// BenchmarkFsync (go test -run "^$" -bench Fsync -benchtime 1x ./server) measures winning taps on the whole path, over a
// Redis that writes its file to the disk once a second, and over one that does before every answer, in turns of one run.
func BenchmarkFsync(b *testing.B) {
	kinds := []string{"everysec", "always"}
	benches := make(map[string]*bench)
	for _, fsync := range kinds {
		benches[fsync] = startBench(b, "--appendonly", "yes", "--appendfsync", fsync)
	}
	for range b.N {
		var all series
		for range benchRepeats {
			turn := make(map[string]*measured)
			for _, fsync := range kinds {
				on := benches[fsync]
				turn[fsync] = on.tapRates(b, on.in, on.host, 200)["won"]
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
