package settle_test

import (
	"context"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"redrain/internal/game"
	"redrain/internal/settle"
	"redrain/internal/testkit"
)

// benchHouse is a house whose rounds are large.
func benchHouse(b *testing.B, newDatabase func(testing.TB) string) *house {
	b.Helper()
	return newHouse(b, testkit.Redis(b).URL, newDatabase(b))
}

// storm makes winning taps of 256 a batch: claims from up to 20,000 players.
func (h *house) storm(round game.Round, claims int) {
	h.Helper()
	for from := 0; from < claims; from += 256 {
		taps := make([]game.Tap, min(256, claims-from))
		for i := range taps {
			n := from + i
			taps[i] = game.Tap{Player: "3e7c9a52-5b0e-4f0f-8d3a-" + strconv.Itoa(100_000_000_000+n%20_000), Drop: game.DropID(1 + n/20_000)}
		}
		if _, err := h.pool.Grab(h.Context(), round.Room, round.ID, taps); err != nil {
			h.Fatal(err)
		}
	}
}

// BenchmarkSettle drains a backlog of 200,000 claims, from Redis into the ledger, with one settler: claims/s, and by how
// many MB the heap grew at most meanwhile.
func BenchmarkSettle(b *testing.B) {
	const backlog = 200_000
	for name, newDatabase := range databases {
		b.Run(name, func(b *testing.B) {
			h := benchHouse(b, newDatabase)
			var settling time.Duration
			var most uint64
			for b.Loop() {
				b.StopTimer()
				round := h.openedIn(h.newRoom(), backlog, false)
				h.storm(round, backlog)
				h.close(round, game.Stopped)
				b.StartTimer()
				grew := watchHeap()
				began := time.Now()
				_, end := h.settler(settle.Options{})
				for h.account(round).Phase != game.Settled {
					time.Sleep(100 * time.Millisecond) // to ask more often would cost what is measured
				}
				settling += time.Since(began)
				end()
				most = max(most, grew())
			}
			b.ReportMetric(float64(b.N*backlog)/settling.Seconds(), "claims/s")
			b.ReportMetric(float64(most)/1e6, "MB-grown")
		})
	}
}

// watchHeap samples the heap until it is asked by how many bytes it grew at most.
func watchHeap() (grew func() uint64) {
	heap := func() uint64 {
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return stats.HeapAlloc
	}
	runtime.GC()
	before, most := heap(), uint64(0)
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
				most = max(most, heap())
			}
		}
	})
	return func() uint64 {
		close(stop)
		watching.Wait()
		return most - min(most, before)
	}
}

// BenchmarkLag grants 2,000 claims a second for 10 s while one settler works, and tells how many ms the ledger was behind: a
// claim's age when the ledger was first seen to hold it.
func BenchmarkLag(b *testing.B) {
	const each, pause = 100, 50 * time.Millisecond
	for name, newDatabase := range databases {
		b.Run(name, func(b *testing.B) {
			h := benchHouse(b, newDatabase)
			for b.Loop() {
				round := h.openedIn(h.newRoom(), 30_000, false)
				_, end := h.settler(settle.Options{})
				lags := h.lags(round, 10*time.Second, each, pause)
				end()
				slices.Sort(lags)
				b.ReportMetric(float64(lags[len(lags)/2].Milliseconds()), "p50-ms")
				b.ReportMetric(float64(lags[len(lags)*99/100].Milliseconds()), "p99-ms")
			}
		})
	}
}

// lags grants claims at a pace and watches the ledger come after.
func (h *house) lags(round game.Round, lasting time.Duration, each int, pause time.Duration) (lags []time.Duration) {
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
