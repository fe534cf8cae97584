package ledger_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/uptrace/bun"
)

// sent notes the statements that a ledger sends, with their arguments in them.
type sent struct {
	mu         sync.Mutex
	statements []string
}

func (s *sent) BeforeQuery(ctx context.Context, _ *bun.QueryEvent) context.Context { return ctx }

func (s *sent) AfterQuery(_ context.Context, event *bun.QueryEvent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.Contains([]string{"SELECT", "INSERT", "UPDATE", "DELETE"}, event.Operation()) {
		s.statements = append(s.statements, event.Query)
	}
}

// take returns the statements since the last time.
func (s *sent) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	statements := s.statements
	s.statements = nil
	return statements
}

// explainer reads how a database carries out statements.
type explainer interface {
	// scans lists the steps that read a whole table, or a whole index.
	scans(t *testing.T, conn *sql.Conn, statement string) []string
	// read counts the rows that a SELECT reads, of tables that are not small; 0: the database does not tell.
	read(t *testing.T, conn *sql.Conn, statement string) int
}

var explainers = map[string]explainer{"sqlite": sqlitePlans{}, "postgres": postgresPlans{}, "mariadb": mysqlPlans{}}

// rowsOf runs a statement and returns its rows as texts by their columns.
func rowsOf(t *testing.T, conn *sql.Conn, statement string) []map[string]string {
	t.Helper()
	rows, err := conn.QueryContext(t.Context(), statement)
	if err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var all []map[string]string
	for rows.Next() {
		texts := make([]sql.NullString, len(columns))
		into := make([]any, len(columns))
		for i := range texts {
			into[i] = &texts[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		row := make(map[string]string, len(columns))
		for i, column := range columns {
			row[column] = texts[i].String
		}
		all = append(all, row)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// small are tables, by their names and aliases in statements, that may be read as a whole. Rooms are few.
var small = []string{"rooms", "room_row"}

// derived are the aliases of subqueries in statements; the steps of these are looked at like others.
var derived = []string{"begun"}

// ofOnePlayer are statements about claims of one player, which must not read those of all.
var ofOnePlayer = regexp.MustCompile(`\(player (= '[^']*'|IN \('[^']*'\))\)`)

type sqlitePlans struct{}

func (sqlitePlans) scans(t *testing.T, conn *sql.Conn, statement string) (found []string) {
	t.Helper()
	ofPlayer := ofOnePlayer.MatchString(statement)
	for _, row := range rowsOf(t, conn, "EXPLAIN QUERY PLAN "+statement) {
		step, scans := strings.CutPrefix(row["detail"], "SCAN ")
		table, _, _ := strings.Cut(step, " ")
		if scans && !slices.Contains(small, table) && !slices.Contains(derived, table) && step != "CONSTANT ROW" && !strings.HasPrefix(step, "(") {
			found = append(found, row["detail"])
		}
		if ofPlayer && strings.HasSuffix(row["detail"], "(book=?)") {
			found = append(found, "all claims of a round: "+row["detail"])
		}
	}
	return found
}

func (sqlitePlans) read(*testing.T, *sql.Conn, string) int { return 0 }

type postgresPlans struct{}

// postgresNode is a step of a plan. Actual rows are those of one loop.
type postgresNode struct {
	Type      string         `json:"Node Type"`
	Relation  string         `json:"Relation Name"`
	Index     string         `json:"Index Name"`
	Condition string         `json:"Index Cond"`
	Rows      float64        `json:"Actual Rows"`
	Filtered  float64        `json:"Rows Removed by Filter"`
	Rechecked float64        `json:"Rows Removed by Index Recheck"`
	Loops     float64        `json:"Actual Loops"`
	Plans     []postgresNode `json:"Plans"`
}

func (p postgresPlans) plan(t *testing.T, conn *sql.Conn, how, statement string) postgresNode {
	t.Helper()
	var plans []struct{ Plan postgresNode }
	if err := json.Unmarshal([]byte(rowsOf(t, conn, "EXPLAIN ("+how+"FORMAT JSON) "+statement)[0]["QUERY PLAN"]), &plans); err != nil {
		t.Fatal(err)
	}
	return plans[0].Plan
}

func (p postgresPlans) scans(t *testing.T, conn *sql.Conn, statement string) (found []string) {
	t.Helper()
	p.plan(t, conn, "", statement).walk(func(n postgresNode) {
		whole := n.Type == "Seq Scan" || (strings.Contains(n.Type, "Index") && n.Condition == "")
		if whole && !slices.Contains(small, n.Relation) {
			found = append(found, fmt.Sprint(n.Type, " ", n.Relation, " ", n.Index))
		}
	})
	return found
}

func (p postgresPlans) read(t *testing.T, conn *sql.Conn, statement string) int {
	t.Helper()
	rows := 0.0
	p.plan(t, conn, "ANALYZE, ", statement).walk(func(n postgresNode) {
		if (n.Relation != "" && n.Type != "Bitmap Heap Scan" && !slices.Contains(small, n.Relation)) || n.Type == "Bitmap Index Scan" {
			rows += (n.Rows + n.Filtered + n.Rechecked) * n.Loops
		}
	})
	return int(rows)
}

func (n postgresNode) walk(see func(postgresNode)) {
	see(n)
	for _, below := range n.Plans {
		below.walk(see)
	}
}

// mysqlPlans are those of MySQL and MariaDB.
type mysqlPlans struct{}

func (mysqlPlans) scans(t *testing.T, conn *sql.Conn, statement string) (found []string) {
	t.Helper()
	for _, row := range rowsOf(t, conn, "EXPLAIN "+statement) {
		table := row["table"]
		if (row["type"] == "ALL" || row["type"] == "index") && !slices.Contains(small, table) && !strings.HasPrefix(table, "<") {
			found = append(found, fmt.Sprint(row["type"], " ", table, " ", row["key"]))
		}
	}
	return found
}

func (m mysqlPlans) read(t *testing.T, conn *sql.Conn, statement string) int {
	t.Helper()
	before := m.handled(t, conn)
	rowsOf(t, conn, statement)
	return m.handled(t, conn) - before
}

// handled counts the rows that this connection has read from tables.
func (mysqlPlans) handled(t *testing.T, conn *sql.Conn) (rows int) {
	t.Helper()
	for _, row := range rowsOf(t, conn, "SHOW SESSION STATUS LIKE 'Handler_read%'") {
		count, err := strconv.Atoi(row["Value"])
		if err != nil {
			t.Fatal(err)
		}
		rows += count
	}
	return rows
}
