package main

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"redrain/internal/payout"
	"redrain/internal/settle"
)

// instruments are the metrics that several packages record, or none of them owns. Recording allocates nothing.
type instruments struct {
	tapSeconds   *prometheus.HistogramVec
	resyncs      prometheus.Counter
	leaseChanges prometheus.Counter
}

// Values of the label answered_by of the duration of taps.
const (
	byMemory = "memory"
	byScript = "script"
)

func newInstruments() *instruments {
	i := &instruments{
		tapSeconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:                        "redrain_tap_duration_seconds",
			Help:                        "Time from the arrival of a tap at this instance until its answer is queued for the player, by who knew the answer.",
			Buckets:                     []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 3},
			NativeHistogramBucketFactor: 1.1, NativeHistogramMaxBucketNumber: 100, NativeHistogramMinResetDuration: time.Hour,
		}, []string{"answered_by"}),
		resyncs: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "redrain_pubsub_resyncs_total", Help: "Times that a room was read again because events on Redis' pub/sub may have been missed; one for each room subscribed to.",
		}),
		leaseChanges: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "redrain_tally_lease_changes_total", Help: "Times that this instance gained or lost the lease by which it publishes a room's tally.",
		}),
	}
	i.tapSeconds.WithLabelValues(byMemory)
	i.tapSeconds.WithLabelValues(byScript)
	return i
}

func (a *app) metrics() *prometheus.Registry {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		a.instruments.tapSeconds, a.instruments.resyncs, a.instruments.leaseChanges,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "redrain_redis_clock_spread_seconds", Help: "How far this instance's estimate of Redis' clock may be off.",
		}, func() float64 { return float64(a.redis.Clock().Spread()) / 1000 }))
	for _, some := range [][]prometheus.Collector{
		a.gate.Metrics(), a.committer.Metrics(), a.redis.Metrics(), a.rounds.Metrics(), settleMetrics(a.settler), payoutMetrics(a.payouts),
	} {
		registry.MustRegister(some...)
	}
	for name, pool := range a.books.Pools() {
		registry.MustRegister(collectors.NewDBStatsCollector(pool, name))
	}
	return registry
}

// settleMetrics returns the metrics of settling.
func settleMetrics(settler *settle.Settler) []prometheus.Collector {
	counter := func(name, help string, read func(settle.Counts) int64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "redrain_settle_" + name, Help: help},
			func() float64 { return float64(read(settler.Counts())) })
	}
	gauge := func(name, help string, read func(settle.Counts) float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "redrain_" + name, Help: help},
			func() float64 { return read(settler.Counts()) })
	}
	return []prometheus.Collector{
		counter("claims_total", "Claims booked.", func(c settle.Counts) int64 { return c.Claims }),
		counter("cents_total", "Cents of the claims booked.", func(c settle.Counts) int64 { return c.Cents }),
		counter("redelivered_total", "Claims that came again, equal.", func(c settle.Counts) int64 { return c.Redelivered }),
		counter("quarantined_total", "Claims put aside.", func(c settle.Counts) int64 { return c.Quarantined }),
		counter("dead_letters_total", "Entries that do not parse.", func(c settle.Counts) int64 { return c.DeadLetters }),
		counter("alarms_total", "Rounds frozen because their books do not agree.", func(c settle.Counts) int64 { return c.Alarms }),
		counter("lost_total", "Rounds frozen because Redis lost claims that players were told of.", func(c settle.Counts) int64 { return c.Lost }),
		counter("reclosed_total", "Rounds closed in Redis again, which had lost their close.", func(c settle.Counts) int64 { return c.Reclosed }),
		counter("repaired_total", "Keys of rounds that Redis had lost, made anew.", func(c settle.Counts) int64 { return c.Repaired }),
		counter("expiring_total", "Warnings that an unsettled round's keys expire soon.", func(c settle.Counts) int64 { return c.Expiring }),
		gauge("settle_unsettled_rounds", "Begun rounds that are not settled, of all instances.", func(c settle.Counts) float64 { return float64(c.Unsettled) }),
		gauge("settle_raining_rounds", "Rounds in which it rains, of all instances.", func(c settle.Counts) float64 { return float64(c.Raining) }),
		gauge("settle_frozen_rounds", "Unsettled rounds that are frozen until a host decides, of all instances.", func(c settle.Counts) float64 { return float64(c.Frozen) }),
		gauge("settle_lag_seconds", "How old the newest entry was when it was booked last, or for how long booking has failed.", func(c settle.Counts) float64 { return float64(c.Lag) / 1000 }),
	}
}

// payoutMetrics returns the metrics of payouts; all stay 0 without a sender.
func payoutMetrics(sender *payout.Sender) []prometheus.Collector {
	counter := func(name, help string, read func(payout.Counts) int64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "redrain_payouts_" + name, Help: help}, func() float64 {
			if sender == nil {
				return 0
			}
			return float64(read(sender.Counts()))
		})
	}
	return []prometheus.Collector{
		counter("taken_total", "Payouts that the receiver has taken.", func(c payout.Counts) int64 { return c.Paid }),
		counter("put_off_total", "Attempts after which a payout was put off.", func(c payout.Counts) int64 { return c.PutOff }),
		counter("failed_total", "Payouts that were given up.", func(c payout.Counts) int64 { return c.GivenUp }),
	}
}
