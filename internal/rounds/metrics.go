package rounds

import "github.com/prometheus/client_golang/prometheus"

func newCloseDelay() prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "redrain_round_close_delay_seconds", Help: "How long after the end of its time a round was closed, by the estimate of Redis' clock.",
		Buckets: []float64{.01, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
	})
}

// Metrics returns what a registry needs to show how rounds are kept.
func (s *Service) Metrics() []prometheus.Collector { return []prometheus.Collector{s.closeDelay} }
