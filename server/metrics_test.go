package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"redrain/internal/testkit"
)

const metricsList = "deploy/monitoring/METRICS.md"

// metric is one family of metrics as an instance shows it, with its values by series.
type metric struct {
	name, kind, help string
	labels           []string
	samples          map[string]float64
}

var (
	sampleLine = regexp.MustCompile(`^([a-z_]+)(\{[^}]*\})? (\S+)$`)
	labelName  = regexp.MustCompile(`([a-z_]+)="`)
)

// readMetrics reads what GET /metrics shows, by the name of the family.
func readMetrics(t *testing.T, url string) map[string]*metric {
	t.Helper()
	status, text := getBody(t, url+"/metrics")
	if status != 200 {
		t.Fatalf("/metrics: %d", status)
	}
	families := make(map[string]*metric)
	var last *metric
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		line := lines.Text()
		if help, ok := strings.CutPrefix(line, "# HELP "); ok {
			last = &metric{samples: make(map[string]float64)}
			last.name, last.help, _ = strings.Cut(help, " ")
			families[last.name] = last
		} else if kind, ok := strings.CutPrefix(line, "# TYPE "); ok {
			_, last.kind, _ = strings.Cut(kind, " ")
		} else if err := last.addSample(line); err != nil {
			t.Fatal(err)
		}
	}
	return families
}

func (m *metric) addSample(line string) error {
	parts := sampleLine.FindStringSubmatch(line)
	if parts == nil || !strings.HasPrefix(parts[1], m.name) {
		return fmt.Errorf("%q is no sample of %s", line, m.name)
	}
	value, err := strconv.ParseFloat(parts[3], 64)
	m.samples[parts[1]+parts[2]] = value
	for _, label := range labelName.FindAllStringSubmatch(parts[2], -1) {
		if !slices.Contains(m.labels, label[1]) && label[1] != "le" && label[1] != "quantile" {
			m.labels = append(m.labels, label[1])
		}
	}
	return err //nolint:wrapcheck // names the number
}

// own reports whether the metric is of this server or its database pool, not of the Go runtime.
func (m *metric) own() bool {
	return strings.HasPrefix(m.name, "redrain_") || strings.HasPrefix(m.name, "go_sql_")
}

// The list of metrics is what an instance shows after a round, under the conventions of Prometheus, and the round has moved them.
func TestEachMetricOfARoundIsListed(t *testing.T) {
	t.Parallel()
	in := startInstance(t, "REDIS_URL=redis://"+testkit.Redis(t).Addr)
	var out bytes.Buffer
	if code := run(t.Context(), []string{"load", "--instances", in.url, "--players", "8", "--ramp", "1s", "--duration", "3s", "--round", "packets=20", "--host-password", password}, &out, &out); code != exitOK {
		t.Fatalf("load: exit code %d: %s", code, out.String())
	}
	testkit.Eventually(t, soon, func() error {
		if lag := readMetrics(t, in.url)["redrain_settle_unsettled_rounds"].samples["redrain_settle_unsettled_rounds"]; lag != 0 {
			return fmt.Errorf("%v rounds are not settled", lag)
		}
		return nil
	})
	shown := readMetrics(t, in.url)
	checkConventions(t, shown)
	checkMoved(t, shown)
	checkList(t, shown)
}

func checkConventions(t *testing.T, shown map[string]*metric) {
	t.Helper()
	for _, m := range shown {
		if !strings.HasPrefix(m.name, "redrain_") {
			continue
		}
		if counter := m.kind == "counter"; counter != strings.HasSuffix(m.name, "_total") {
			t.Errorf("%s is a %s", m.name, m.kind)
		}
		if m.help == "" || strings.HasSuffix(m.name, "_ms") {
			t.Errorf("%s has no help, or no base unit", m.name)
		}
		for _, label := range m.labels {
			if !slices.Contains([]string{"answered_by", "code", "kind", "method", "outcome", "reason", "result", "role", "url"}, label) {
				t.Errorf("%s has the label %s", m.name, label)
			}
		}
	}
}

// checkMoved checks what every round moves, and that what is granted is booked.
func checkMoved(t *testing.T, shown map[string]*metric) {
	t.Helper()
	values := make(map[string]float64)
	for _, m := range shown {
		for series, value := range m.samples {
			values[series] = value
		}
	}
	for _, series := range []string{
		`redrain_taps_total{answered_by="script",outcome="won"}`,
		`redrain_tap_duration_seconds_count{answered_by="script"}`,
		`redrain_grab_call_duration_seconds_count{result="ok"}`,
		`redrain_grab_batch_taps_sum`,
		`redrain_connections_opened_total{role="player"}`,
		`redrain_connections_closed_total{code="1000"}`,
		`redrain_pubsub_resyncs_total`,
		`redrain_tally_lease_changes_total`,
		`redrain_redis_clock_spread_seconds`,
		`redrain_granted_claims_total`,
		`go_sql_open_connections{db_name="write"}`,
	} {
		if values[series] <= 0 {
			t.Errorf("%s is %v after a round", series, values[series])
		}
	}
	for _, of := range []string{"claims", "cents"} {
		if granted, booked := values["redrain_granted_"+of+"_total"], values["redrain_settle_"+of+"_total"]; granted != booked {
			t.Errorf("%v %s are granted, %v booked", granted, of, booked)
		}
	}
}

// checkList compares the list with what is shown: go test ./server -run Listed -update writes it.
func checkList(t *testing.T, shown map[string]*metric) {
	t.Helper()
	want := listMetrics(shown)
	text, err := os.ReadFile(metricsList)
	if err == nil && string(text) == want {
		return
	}
	if !*update {
		t.Fatalf("%s is not what an instance shows (%v); go test ./server -run Listed -update writes it:\n%s", metricsList, err, want)
	}
	if err := os.WriteFile(metricsList, []byte(want), 0o600); err != nil {
		t.Fatal(err)
	}
}

func listMetrics(shown map[string]*metric) string {
	var rows []string
	for _, m := range shown {
		if m.own() {
			slices.Sort(m.labels)
			rows = append(rows, fmt.Sprintf("| `%s` | %s | %s | %s |\n", m.name, m.kind, strings.Join(m.labels, ", "), m.help))
		}
	}
	slices.Sort(rows)
	return "# Metrics\n\nWhat `GET /metrics` shows of an instance, beside those of Go and of the process (`go_`, `process_`). Counters start at 0 with the process.\n" +
		"Histograms have buckets, and native histograms for those who scrape them. Generated from a running instance; a test compares it.\n\n" +
		"| metric | type | labels | meaning |\n|---|---|---|---|\n" + strings.Join(rows, "")
}
