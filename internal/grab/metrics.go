package grab

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"redrain/internal/game"
)

// Results of one script call, as the label result.
const (
	resultOK      = "ok"
	resultRefused = "refused" // nothing was done
	resultUnknown = "unknown" // it may have been done
)

// metrics are a Committer's. Recording allocates nothing.
type metrics struct {
	callSeconds map[string]prometheus.Observer // by result
	batchTaps   prometheus.Histogram
	retries     prometheus.Counter
	unanswered  map[string]prometheus.Counter // by reason
	claims      prometheus.Counter
	cents       prometheus.Counter

	calls    *prometheus.HistogramVec
	busyTaps *prometheus.CounterVec
}

// Reasons why taps hear busy without an answer of the script, as the label reason.
const (
	queueFull = "queue_full"
	expired   = "expired" // never sent within their deadline
	failed    = "failed"  // their batch did not come through
)

func newMetrics() *metrics {
	m := &metrics{
		calls: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "redrain_grab_call_duration_seconds", Help: "Duration of one call of the grab script in Redis, by its result.",
			Buckets:                     []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1},
			NativeHistogramBucketFactor: 1.1, NativeHistogramMaxBucketNumber: 100, NativeHistogramMinResetDuration: time.Hour,
		}, []string{"result"}),
		batchTaps: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "redrain_grab_batch_taps", Help: "Taps in one batch for the grab script.", Buckets: prometheus.ExponentialBuckets(1, 2, 9),
		}),
		retries: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "redrain_grab_retries_total", Help: "Calls of the grab script that repeated a batch.",
		}),
		busyTaps: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "redrain_grab_unanswered_taps_total", Help: "Taps that ended without an answer of the grab script, by reason.",
		}, []string{"reason"}),
		claims: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "redrain_granted_claims_total", Help: "Claims that Redis granted to taps of this instance.",
		}),
		cents: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "redrain_granted_cents_total", Help: "Cents of the claims that Redis granted to taps of this instance.",
		}),
		callSeconds: make(map[string]prometheus.Observer), unanswered: make(map[string]prometheus.Counter),
	}
	for _, result := range []string{resultOK, resultRefused, resultUnknown} {
		m.callSeconds[result] = m.calls.WithLabelValues(result)
	}
	for _, reason := range []string{queueFull, expired, failed} {
		m.unanswered[reason] = m.busyTaps.WithLabelValues(reason)
	}
	return m
}

// Metrics returns what a registry needs to show how the Committer does.
func (c *Committer) Metrics() []prometheus.Collector {
	m := c.metrics
	return []prometheus.Collector{m.calls, m.batchTaps, m.retries, m.busyTaps, m.claims, m.cents, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "redrain_grab_queued_taps", Help: "Taps that wait for a call of the grab script.",
	}, func() float64 { return float64(c.queued()) })}
}

// queued is how many taps wait, of all rounds.
func (c *Committer) queued() (taps int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, q := range c.queues {
		taps += len(q.waiting)
	}
	return taps
}

// recordCall records one call of the script.
func (m *metrics) recordCall(since time.Time, err error) {
	result := resultOK
	switch {
	case err != nil && nothingDone(err):
		result = resultRefused
	case err != nil:
		result = resultUnknown
	}
	m.callSeconds[result].Observe(time.Since(since).Seconds())
}

// recordGranted records what a batch was granted.
func (m *metrics) recordGranted(answers []game.Answer) {
	var granted game.Total
	for i := range answers {
		if answers[i].Outcome == game.Won {
			granted.Packets++
			granted.Cents += answers[i].Cents
		}
	}
	m.claims.Add(float64(granted.Packets))
	m.cents.Add(float64(granted.Cents))
}
