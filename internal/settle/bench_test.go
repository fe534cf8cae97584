package settle_test

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"redrain/internal/game"
	"redrain/internal/settle"
	"redrain/internal/testkit"
)

// newBenchEnv is an env with one kind of database.
func newBenchEnv(b *testing.B, newDatabase func(testing.TB) string) *env {
	b.Helper()
	return newEnv(b, testkit.Redis(b).URL, newDatabase(b))
}

// grabMany makes winning taps of 256 a batch: claims from up to 20,000 players.
func (h *env) grabMany(round game.Round, claims int) {
	h.Helper()
	for from := 0; from < claims; from += 256 {
		taps := make([]game.Tap, min(256, claims-from))
		for i := range taps {
			n := from + i
			taps[i] = game.Tap{Player: "3e7c9a52-5b0e-4f0f-8d3a-" + strconv.Itoa(100_000_000_000+n%20_000), Drop: game.DropID(1 + n/20_000)}
		}
		if _, err := h.pool.Grab(h.Context(), round.Room, round.ID, h.pool.NewBatch(), taps); err != nil {
			h.Fatal(err)
		}
	}
}

// BenchmarkSettle drains a backlog of 200,000 claims, from Redis into the ledger, with one settler: claims/s, and by how
// many MB the heap grew at most meanwhile.
func BenchmarkSettle(b *testing.B) {
	for name, newDatabase := range databases {
		b.Run(name, func(b *testing.B) { measureDrain(b, newDatabase, 200_000) })
	}
}

// BenchmarkBacklog tells that memory does not grow with what waits: it drains backlogs of very different sizes, and reports
// claims/s, and by how many MB the heap and the resident memory of this process grew at most meanwhile. Then it reads all of
// the claims page by page as claims.csv does, and reports how the heap grew during that.
func BenchmarkBacklog(b *testing.B) {
	for _, backlog := range []int{200_000, game.MaxPackets} {
		for name, newDatabase := range databases {
			b.Run(fmt.Sprintf("%s/%d", name, backlog), func(b *testing.B) {
				h, round := measureDrain(b, newDatabase, backlog)
				grew := measureMemoryGrowth()
				for after := 0; after < backlog; {
					page := must(h.books.BookedClaims(h.Context(), round.ID, after, 1000))(b)
					after = page[len(page)-1].Number
				}
				b.ReportMetric(grew().heap, "MB-heap-csv")
			})
		}
	}
}

// measureDrain settles backlogs, and returns the last round.
func measureDrain(b *testing.B, newDatabase func(testing.TB) string, backlog int) (h *env, round game.Round) {
	b.Helper()
	h = newBenchEnv(b, newDatabase)
	var settling time.Duration
	var most memory
	for b.Loop() {
		b.StopTimer()
		round = h.startRoundIn(h.newRoom(), backlog, false)
		h.grabMany(round, backlog)
		h.close(round, game.Stopped)
		b.StartTimer()
		grew := measureMemoryGrowth()
		began := time.Now()
		_, end := h.startSettler(settle.Options{})
		for h.account(round).Phase != game.Settled {
			time.Sleep(100 * time.Millisecond) // to ask more often would cost what is measured
		}
		settling += time.Since(began)
		end()
		grown := grew()
		most = memory{max(most.heap, grown.heap), max(most.resident, grown.resident)}
	}
	b.ReportMetric(float64(b.N*backlog)/settling.Seconds(), "claims/s")
	b.ReportMetric(most.heap, "MB-heap")
	b.ReportMetric(most.resident, "MB-resident")
	return h, round
}

// memory is what this process holds, in MB: of its heap, and of the machine's memory, where the system tells.
type memory struct{ heap, resident float64 }

func memoryNow() (m memory) {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	m.heap = float64(stats.HeapAlloc) / 1e6
	if text, err := os.ReadFile("/proc/self/statm"); err == nil {
		var size, pages int
		if _, err := fmt.Sscan(string(text), &size, &pages); err == nil {
			m.resident = float64(pages*os.Getpagesize()) / 1e6
		}
	}
	return m
}

// measureMemoryGrowth samples the memory until it is asked by how much it grew at most.
func measureMemoryGrowth() (grew func() memory) {
	debug.FreeOSMemory()
	before := memoryNow()
	most := before
	stop := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		ticker := time.NewTicker(20 * time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-stop:
				return
			case <-ticker.C:
				now := memoryNow()
				most = memory{max(most.heap, now.heap), max(most.resident, now.resident)}
			}
		}
	})
	return func() memory {
		close(stop)
		watching.Wait()
		return memory{most.heap - before.heap, most.resident - before.resident}
	}
}

// BenchmarkLag grants 2,000 claims a second for 10 s while one settler works, and tells how many ms the ledger was behind: a
// claim's age when the ledger was first seen to hold it.
func BenchmarkLag(b *testing.B) {
	const each, pause = 100, 50 * time.Millisecond
	for name, newDatabase := range databases {
		b.Run(name, func(b *testing.B) {
			h := newBenchEnv(b, newDatabase)
			for b.Loop() {
				round := h.startRoundIn(h.newRoom(), 30_000, false)
				_, end := h.startSettler(settle.Options{})
				lags := h.measureLags(round, 10*time.Second, each, pause)
				end()
				slices.Sort(lags)
				b.ReportMetric(float64(lags[len(lags)/2].Milliseconds()), "p50-ms")
				b.ReportMetric(float64(lags[len(lags)*99/100].Milliseconds()), "p99-ms")
			}
		})
	}
}

// measureLags grants claims at a pace, and returns after how long the ledger had each.
func (h *env) measureLags(round game.Round, lasting time.Duration, each int, pause time.Duration) (lags []time.Duration) {
	var mu sync.Mutex
	var granted []time.Time // when each was
	ctx, done := context.WithCancel(h.Context())
	var watching sync.WaitGroup
	watching.Go(func() {
		for seen := 0; ; {
			booked := h.account(round).Booked.Packets
			now := time.Now()
			mu.Lock()
			for ; seen < min(booked, len(granted)); seen++ {
				lags = append(lags, now.Sub(granted[seen]))
			}
			finished := ctx.Err() != nil && seen == len(granted)
			mu.Unlock()
			if finished {
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	})
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	for since := time.Now(); time.Since(since) < lasting; {
		<-ticker.C
		told := h.grab(round, each)
		mu.Lock()
		for range told {
			granted = append(granted, time.Now())
		}
		mu.Unlock()
	}
	done()
	watching.Wait()
	return lags
}
