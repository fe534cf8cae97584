package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

const monitoring = "deploy/monitoring/"

func promtool(t *testing.T, args ...string) {
	t.Helper()
	path, err := exec.LookPath("promtool")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("promtool is missing: Debian has it in prometheus")
		}
		t.Skip("promtool is missing: Debian has it in prometheus")
	}
	if out, err := exec.CommandContext(t.Context(), path, args...).CombinedOutput(); err != nil {
		t.Errorf("promtool %v: %v\n%s", args, err, out)
	}
}

// Each alert fires on what it is for, and none on an instance that is well.
func TestAlertRules(t *testing.T) {
	t.Parallel()
	rules, tests := read(t, monitoring+"alerts.yml"), read(t, monitoring+"alerts_test.yml")
	alerts := regexp.MustCompile(`(?m)^ +- alert: (\w+)$`).FindAllStringSubmatch(rules, -1)
	if len(alerts) == 0 || strings.Count(rules, "runbook: ") != len(alerts) {
		t.Errorf("of %d alerts %d have a runbook", len(alerts), strings.Count(rules, "runbook: "))
	}
	for _, alert := range alerts {
		if !strings.Contains(tests, "- alertname: "+alert[1]+"\n") {
			t.Errorf("nothing tests %s", alert[1])
		}
	}
	promtool(t, "check", "rules", monitoring+"alerts.yml")
	promtool(t, "test", "rules", monitoring+"alerts_test.yml")
}

// The expressions of the dashboards are valid.
func TestDashboardExpressions(t *testing.T) {
	t.Parallel()
	rules := "groups:\n  - name: dashboards\n    rules:\n"
	for _, expression := range dashboardExpressions(t) {
		rules += "      - { record: 'x', expr: " + strconv.Quote(expression) + ", labels: { n: '" + strconv.Itoa(len(rules)) + "' } }\n"
	}
	file := filepath.Join(t.TempDir(), "rules.yml")
	if err := os.WriteFile(file, []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	promtool(t, "check", "rules", file)
}

// Dashboards and alerts use no metric that an instance does not show.
func TestDashboardsAndAlertsUseListedMetrics(t *testing.T) {
	t.Parallel()
	list := read(t, metricsList)
	used := strings.Join(append(dashboardExpressions(t), read(t, monitoring+"alerts.yml")), "\n")
	names := regexp.MustCompile(`\b(?:redrain|go_sql)_[a-z_]+`).FindAllString(used, -1)
	if len(names) == 0 {
		t.Fatal("no metric is used")
	}
	for _, name := range names {
		family := regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(name, "")
		if !strings.Contains(list, "| `"+name+"` |") && !strings.Contains(list, "| `"+family+"` | histogram |") {
			t.Errorf("%s is not in %s", name, metricsList)
		}
	}
}

// dashboardExpressions returns the queries of all dashboards.
func dashboardExpressions(t *testing.T) (all []string) {
	t.Helper()
	files, err := filepath.Glob(monitoring + "*.json")
	if err != nil || len(files) != 2 {
		t.Fatalf("the dashboards are %v, %v", files, err)
	}
	for _, file := range files {
		var dashboard struct {
			Panels []struct{ Targets []struct{ Expr string } }
		}
		if err := json.Unmarshal([]byte(read(t, file)), &dashboard); err != nil {
			t.Fatal(err)
		}
		for _, panel := range dashboard.Panels {
			for _, target := range panel.Targets {
				all = append(all, target.Expr)
			}
		}
	}
	return all
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
