package bots

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"redrain/internal/game"
	"redrain/internal/wire"
)

// Report is what a swarm measured. Times are in microseconds.
type Report struct {
	Players           int                  `json:"players"`
	ConnectsPerSecond float64              `json:"connects_per_second"`
	Taps              int64                `json:"taps"`
	TapsPerSecond     float64              `json:"taps_per_second"`
	Outcomes          map[game.Outcome]int `json:"outcomes"`
	Latency           Quantiles            `json:"latency_us"`
	// DropsSpread and TallySpread are, for each message to everybody, the time from the first player that received it to the last.
	// Tallies to players are spread over a second on purpose.
	DropsSpread Quantiles `json:"drops_spread_us"`
	TallySpread Quantiles `json:"tally_spread_us"`
	// Memory and MemoryPlayed are filled in by a caller that can inspect the server's process: before the round, and after it.
	Memory       *Memory `json:"memory,omitempty"`
	MemoryPlayed *Memory `json:"memory_played,omitempty"`
	// Conserved: the books fulfil the invariants, and agree with what every player was told. Violations lists where not.
	Conserved  bool     `json:"conserved"`
	Violations []string `json:"violations,omitempty"`
}

// Quantiles of one distribution, in microseconds.
type Quantiles struct {
	P50  int64 `json:"p50"`
	P90  int64 `json:"p90"`
	P99  int64 `json:"p99"`
	P999 int64 `json:"p99_9"`
	Max  int64 `json:"max"`
}

// Memory is what one connection costs the server, in bytes.
type Memory struct {
	RSSPerConnection  int64 `json:"rss_per_connection"`
	HeapPerConnection int64 `json:"heap_per_connection"`
}

// maxRecorded is the largest time that is recorded, in µs; larger ones count as this.
const maxRecorded = int64(time.Minute / time.Microsecond)

// measurements collects the measurements of all players. Safe for concurrent use.
type measurements struct {
	mu         sync.Mutex
	connects   float64
	latency    *hdrhistogram.Histogram
	outcomes   map[game.Outcome]int
	first      time.Time // result
	last       time.Time
	broadcasts map[string]*broadcast
}

// broadcast is the delivery of one message to all players.
type broadcast struct {
	kind        string
	first, last time.Time
	reached     int
}

func (m *measurements) connected(players int, took time.Duration) {
	m.connects = float64(players) / took.Seconds()
}

func (m *measurements) result(tapped time.Time, result wire.Result) {
	now := time.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.latency == nil {
		m.latency, m.outcomes, m.first = hdrhistogram.New(1, maxRecorded, 3), make(map[game.Outcome]int), now
	}
	m.last = now
	_ = m.latency.RecordValue(min(now.Sub(tapped).Microseconds(), maxRecorded)) // always in range
	m.outcomes[result.Outcome]++
}

// message records the arrival of a message that all players receive.
func (m *measurements) message(kind string, text []byte) {
	if kind != wire.TypeDrops && kind != wire.TypeTally {
		return
	}
	now := time.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.broadcasts == nil {
		m.broadcasts = make(map[string]*broadcast)
	}
	w := m.broadcasts[string(text)]
	if w == nil {
		w = &broadcast{kind: kind, first: now}
		m.broadcasts[string(text)] = w
	}
	w.last = now
	w.reached++
}

func (m *measurements) report(opts Options, violations []string) *Report {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := &Report{
		Players: opts.Players, ConnectsPerSecond: m.connects, Outcomes: m.outcomes,
		DropsSpread: m.spread(wire.TypeDrops, opts.Players), TallySpread: m.spread(wire.TypeTally, opts.Players),
		Conserved: len(violations) == 0, Violations: violations,
	}
	if m.latency != nil {
		r.Latency = quantiles(m.latency)
		r.Taps = m.latency.TotalCount()
		r.TapsPerSecond = float64(r.Taps) / max(m.last.Sub(m.first).Seconds(), 0.001)
	}
	return r
}

// spread counts only messages that reached every player: the server may skip a tally for some, since only the latest matters.
func (m *measurements) spread(kind string, players int) Quantiles {
	h := hdrhistogram.New(1, maxRecorded, 3)
	for _, w := range m.broadcasts {
		if w.kind == kind && w.reached == players {
			_ = h.RecordValue(min(max(w.last.Sub(w.first).Microseconds(), 1), maxRecorded)) // always in range
		}
	}
	return quantiles(h)
}

func quantiles(h *hdrhistogram.Histogram) Quantiles {
	return Quantiles{
		P50: h.ValueAtQuantile(50), P90: h.ValueAtQuantile(90), P99: h.ValueAtQuantile(99), P999: h.ValueAtQuantile(99.9), Max: h.Max(),
	}
}

// Write prints the report as a table for people.
func (r *Report) Write(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	defer t.Flush()
	row := func(name, format string, args ...any) { _, _ = fmt.Fprintf(t, name+"\t"+format+"\n", args...) }
	row("players", "%d", r.Players)
	row("connects/s", "%.0f", r.ConnectsPerSecond)
	row("taps", "%d (%.0f a second)", r.Taps, r.TapsPerSecond)
	var outcomes []string
	for outcome, count := range r.Outcomes {
		outcomes = append(outcomes, fmt.Sprintf("%s %d", outcome, count))
	}
	slices.Sort(outcomes)
	row("outcomes", "%s", strings.Join(outcomes, ", "))
	for _, line := range []struct {
		name string
		q    Quantiles
	}{{"tap to result", r.Latency}, {"drops to everybody", r.DropsSpread}, {"tally to everybody", r.TallySpread}} {
		row(line.name, "p50 %s  p90 %s  p99 %s  p99.9 %s  max %s", ms(line.q.P50), ms(line.q.P90), ms(line.q.P99), ms(line.q.P999), ms(line.q.Max))
	}
	memory := func(when string, m *Memory) {
		if m != nil {
			row("memory a connection, "+when, "RSS %.1f KB, heap %.1f KB", float64(m.RSSPerConnection)/1024, float64(m.HeapPerConnection)/1024)
		}
	}
	memory("idle", r.Memory)
	memory("played", r.MemoryPlayed)
	row("conserved", "%t", r.Conserved)
	for _, violation := range r.Violations[:min(len(r.Violations), 10)] {
		row("", "%s", violation)
	}
}

func ms(us int64) string { return fmt.Sprintf("%.2f ms", float64(us)/1000) }
