package ledger_test

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"redrain/internal/ledger"
	"redrain/internal/probe"
	"redrain/internal/testkit"
)

// instancesProbed lists the instances that have a row, by their names.
func instancesProbed(t *testing.T, l *ledger.Ledger) string {
	t.Helper()
	rows, err := ledger.Pools(l)["read"].QueryContext(t.Context(), "SELECT instance FROM probes ORDER BY instance")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return strings.Join(names, " ")
}

func TestAProbeWritesOneRowForEachInstance(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		now := time.UnixMilli(1_800_000_000_000)
		l := open(ledger.WithClock(func() time.Time { return now }))
		proven := func(instance string, want string) {
			t.Helper()
			if err := l.Probe(t.Context(), instance); err != nil {
				t.Fatal(err)
			}
			if got := instancesProbed(t, l); got != want {
				t.Errorf("rows of %q, want %q", got, want)
			}
		}
		for range 3 { // the same moment, too
			proven("a", "a")
		}
		now = now.Add(50 * time.Minute)
		proven("b", "a b")
		now = now.Add(50 * time.Minute)
		proven("b", "a b")
		proven("c", "b c") // a has ended
		proven("a", "a b c")
	})
}

// However many instances ended, one that starts removes only so many.
func TestRowsOfEndedInstancesAreRemovedByAndBy(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		now := time.UnixMilli(1_800_000_000_000)
		l := open(ledger.WithClock(func() time.Time { return now }))
		for i := range 150 {
			if err := l.Probe(t.Context(), fmt.Sprint("old", i)); err != nil {
				t.Fatal(err)
			}
		}
		now = now.Add(2 * time.Hour)
		for _, want := range []int{51, 2, 3} {
			if err := l.Probe(t.Context(), fmt.Sprint("new", want)); err != nil {
				t.Fatal(err)
			}
			if left := len(strings.Fields(instancesProbed(t, l))); left != want {
				t.Errorf("%d rows, want %d", left, want)
			}
		}
	})
}

func wantReason(t *testing.T, l *ledger.Ledger, want probe.Reason) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	if want == probe.Locked || want == probe.Unreachable {
		ctx, cancel = context.WithTimeout(t.Context(), time.Second)
		defer cancel()
	}
	if err := l.Probe(ctx, "here"); err == nil || probe.ReasonOf(err) != want {
		t.Errorf("the probe says %v (%s), want %s", err, probe.ReasonOf(err), want)
	}
}

func wantWritable(t *testing.T, l *ledger.Ledger) {
	t.Helper()
	if err := l.Probe(t.Context(), "here"); err != nil {
		t.Errorf("it takes writes, and the probe says %v", err)
	}
}

// runSQL runs statements on a connection of their own, as an operator.
func runSQL(t *testing.T, driver, dsn string, statements ...string) {
	t.Helper()
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, statement := range statements {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// A connection that takes no writes any more is not used again, so that nobody has to restart the server.
func TestAProbeDropsAConnectionThatTakesNoWrites(t *testing.T) {
	l := openLedger(t, databases["sqlite"](t))
	wantWritable(t, l)
	if _, err := ledger.Pools(l)["write"].ExecContext(t.Context(), "PRAGMA query_only = 1"); err != nil {
		t.Fatal(err)
	}
	wantReason(t, l, probe.ReadOnly)
	wantWritable(t, l)
}

func TestAFullSQLiteFileIsFull(t *testing.T) {
	l := openLedger(t, databases["sqlite"](t))
	write := ledger.Pools(l)["write"]
	if _, err := write.ExecContext(t.Context(), "PRAGMA max_page_count = 1"); err != nil { // what it has now, at most
		t.Fatal(err)
	}
	_, err := write.ExecContext(t.Context(), "INSERT INTO probes VALUES (hex(zeroblob(10000)), 0)")
	if reason := ledger.ReasonOf(err); reason != probe.Full {
		t.Errorf("%v: %s", err, reason)
	}
}

func TestASQLiteFileThatAnotherProcessHoldsIsLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	l := openLedger(t, "sqlite:"+path)
	wantWritable(t, l)
	other, err := sql.Open("sqlite", "file:"+path+"?_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	holding, err := other.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	wantReason(t, l, probe.Locked)
	if err := holding.Rollback(); err != nil {
		t.Fatal(err)
	}
	wantWritable(t, l)
}

// Like after a failover, the setting is that of a connection for as long as it lives.
func TestAReadOnlyPostgresTakesNoWritesUntilItDoesAgain(t *testing.T) {
	database := testkit.SharedPostgres(t)
	l := openLedger(t, database)
	wantWritable(t, l)
	address := must[*url.URL](t)(url.Parse(database))
	name := strings.TrimPrefix(address.Path, "/")
	endSessions := "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '" + name + "' AND pid <> pg_backend_pid()"
	runSQL(t, "pgx", database, "ALTER DATABASE "+name+" SET default_transaction_read_only = on", endSessions)
	testkit.Eventually(t, soon, func() error { // the first finds connections that are broken
		if err := l.Probe(t.Context(), "here"); probe.ReasonOf(err) != probe.ReadOnly {
			return fmt.Errorf("the probe says %w", err)
		}
		return nil
	})
	runSQL(t, "pgx", database, "SET default_transaction_read_only = off",
		"ALTER DATABASE "+name+" RESET default_transaction_read_only")
	wantWritable(t, l) // connections from before would never be
}

// Here connections are those of a user without the right to write to a read-only server.
func TestAReadOnlyMariaDBTakesNoWritesUntilItDoesAgain(t *testing.T) {
	database := testkit.MariaDB(t)
	address := must[*url.URL](t)(url.Parse(database.URL))
	root := "root@tcp(" + address.Host + ")" + address.Path
	runSQL(t, "mysql", root, "FLUSH PRIVILEGES", // from now on users have rights
		"CREATE USER server@'%' IDENTIFIED BY 'pass'", "GRANT ALL ON redrain.* TO server@'%'")
	address.User = url.UserPassword("server", "pass")
	l := openLedger(t, address.String())
	wantWritable(t, l)
	runSQL(t, "mysql", root, "SET GLOBAL read_only = 1")
	wantReason(t, l, probe.ReadOnly)
	runSQL(t, "mysql", root, "SET GLOBAL read_only = 0")
	wantWritable(t, l)
	runSQL(t, "mysql", root, "REVOKE ALL ON redrain.* FROM server@'%'", "GRANT SELECT ON redrain.* TO server@'%'")
	wantReason(t, openUnmigrated(t, address.String()), probe.NoRights)
}

// A server that does not answer is not waited for any longer than the caller wants.
func TestADatabaseThatHoldsItsAnswerIsUnreachable(t *testing.T) {
	for _, name := range []string{"postgres", "mariadb"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := openLedger(t, databases[name](t))
			wantWritable(t, l)
			holding, err := ledger.Pools(l)["write"].BeginTx(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := holding.ExecContext(t.Context(), "SELECT * FROM probes FOR UPDATE"); err != nil {
				t.Fatal(err)
			}
			wantReason(t, l, probe.Unreachable)
			if err := holding.Rollback(); err != nil {
				t.Fatal(err)
			}
			wantWritable(t, l)
		})
	}
}
