package payout

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkSender measures how fast one sender brings the claims of a settled round to a receiver on this machine, from the
// plan to the commit of the last payout, one claim a payout and a hundred.
func BenchmarkSender(b *testing.B) {
	for name, newDatabase := range databases {
		for size, packets := range map[int]int{1: 1000, 100: 20_000} {
			b.Run(fmt.Sprintf("%s/%d-a-payout", name, size), func(b *testing.B) {
				l, d := openBooks(b, newDatabase(b), size, time.Now), newReceiver(b)
				sender := newSender(b, l, d.server.URL, time.Now)
				sender.client.Timeout = 5 * time.Second
				var spent time.Duration
				for range b.N {
					settledRound(b, l, packets)
					began := time.Now()
					sendAll(b, sender)
					spent += time.Since(began)
				}
				b.ReportMetric(float64(b.N*packets)/spent.Seconds(), "claims/s")
				b.ReportMetric(0, "ns/op") // says nothing here
			})
		}
	}
}
