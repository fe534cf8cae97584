package gate

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"redrain/internal/game"
	"redrain/internal/wire"
)

// metrics are a Gate's. Every value of a label is known beforehand, so recording allocates nothing and guests choose none.
type metrics struct {
	fromMemory, fromScript map[game.Outcome]prometheus.Counter
	open                   map[wire.Role]prometheus.Gauge
	opened                 map[wire.Role]prometheus.Counter

	taps, joins, closes, refusals *prometheus.CounterVec
	connections                   *prometheus.GaugeVec
}

// Values of the label answered_by.
const (
	answeredByMemory = "memory"
	answeredByScript = "script"
)

// refusalCodes are the codes of all refusals.
var refusalCodes = []string{
	"bad_request", "blocked", "full", "not_ready", "origin_refused", "room_not_found", "too_many_requests", "unauthorized",
}

func newMetrics() *metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "redrain_" + name, Help: help}, labels)
	}
	m := &metrics{
		taps:     counter("taps_total", "Taps answered, by outcome, and whether this instance's memory or the script in Redis knew it.", "answered_by", "outcome"),
		joins:    counter("connections_opened_total", "WebSocket connections that were let in, by role.", "role"),
		closes:   counter("connections_closed_total", "WebSocket connections that ended, by the code of the close frame; 4001 were too slow.", "code"),
		refusals: counter("connections_refused_total", "WebSocket connections that were not let in, by the code of the refusal.", "reason"),
		connections: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "redrain_connections", Help: "Open WebSocket connections of this instance, by role.",
		}, []string{"role"}),
		fromMemory: make(map[game.Outcome]prometheus.Counter), fromScript: make(map[game.Outcome]prometheus.Counter),
		open: make(map[wire.Role]prometheus.Gauge), opened: make(map[wire.Role]prometheus.Counter),
	}
	m.prepare()
	return m
}

// prepare makes all series, so that each starts at 0.
func (m *metrics) prepare() {
	for _, outcome := range game.Outcomes() {
		m.fromMemory[outcome] = m.taps.WithLabelValues(answeredByMemory, outcome.String())
		m.fromScript[outcome] = m.taps.WithLabelValues(answeredByScript, outcome.String())
	}
	for _, role := range []wire.Role{wire.RolePlayer, wire.RoleHost, wire.RoleScreen} {
		m.open[role], m.opened[role] = m.connections.WithLabelValues(string(role)), m.joins.WithLabelValues(string(role))
	}
	for _, code := range refusalCodes {
		m.refusals.WithLabelValues(code)
	}
	for _, why := range []closing{
		closeGoingAway, closeSlowConsumer, closeFault, closePingTimeout, closeTooManyErrors, closeBlocked, closeSessionEnded,
		closeBinary, closeNotUTF8, closeOver,
	} {
		m.closes.WithLabelValues(strconv.Itoa(int(why.code)))
	}
}

// Metrics returns what a registry needs to show how the Gate does.
func (g *Gate) Metrics() []prometheus.Collector {
	m := g.metrics
	return []prometheus.Collector{m.taps, m.joins, m.closes, m.refusals, m.connections}
}

func (m *metrics) recordClosing(why closing) {
	m.closes.WithLabelValues(strconv.Itoa(int(why.code))).Inc()
}

func (m *metrics) recordRefusal(code string) { m.refusals.WithLabelValues(code).Inc() }
