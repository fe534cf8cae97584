package ledger_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"redrain/internal/game"
	"redrain/internal/ledger"
	"redrain/internal/testkit"
)

// withPooler are the databases, and PostgreSQL behind a PgBouncer that has one connection to it, or two.
func withPooler() map[string]func(testing.TB) string {
	all := map[string]func(testing.TB) string{
		"one pooled connection":  func(t testing.TB) string { return testkit.PgBouncer(t, testkit.SharedPostgres(t), 1).URL },
		"two pooled connections": func(t testing.TB) string { return testkit.PgBouncer(t, testkit.SharedPostgres(t), 2).URL },
	}
	for name, newDatabase := range databases {
		all[name] = newDatabase
	}
	return all
}

func onEachDatabaseAndPooler(t *testing.T, test func(t *testing.T, url string)) {
	for name, newDatabase := range withPooler() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newDatabase(t))
		})
	}
}

const (
	leaseDuration = 6 * time.Second // in these tests
	soon          = 20 * time.Second
)

var short = ledger.WithTimeouts(3*time.Second, leaseDuration)

// holderURL is an environment variable that makes this test binary an instance which holds the lock named in holderOf until it is
// killed.
const (
	holderURL = "LEDGER_TEST_HOLDER_URL"
	holderOf  = "LEDGER_TEST_HOLDER_OF"
)

func runHolder(url string) int {
	l, err := ledger.Open(context.Background(), url, short)
	if err != nil {
		fmt.Println("failed:", err)
		return 1
	}
	if os.Getenv(holderOf) == "migrations" {
		err = ledger.HoldMigrationLock(context.Background(), l, func() { fmt.Println("holds"); select {} })
		fmt.Println("failed:", err)
		return 1
	}
	lost := make(chan error, 1)
	if _, err = l.LockExclusively(context.Background(), func(why error) { lost <- why }); err != nil {
		fmt.Println("failed:", err)
		return 1
	}
	fmt.Println("holds")
	why := <-lost
	_, err = l.CreateRoom(context.Background(), "too late")
	fmt.Printf("lost: %v; a change: %v\n", why, err)
	return 0
}

func startHolder(t *testing.T, url, of string) *testkit.Program {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := testkit.StartProgram(t, []string{holderURL + "=" + url, holderOf + "=" + of}, self)
	p.Await(t, soon, "holds\n")
	return p
}

// One instance at a time has the migration lock, whatever connection of a pooler it gets. An instance that waits for the lock logs
// that and gives up after a while. A killed instance leaves no lock behind.
//
// Session locks would fail here behind a pooler in transaction mode: two instances could hold one over the same connection, and a lock
// that was left on a connection would shut out all instances.
func TestOneInstanceMigratesAtATime(t *testing.T) {
	onEachDatabaseAndPooler(t, func(t *testing.T, url string) {
		openLedger(t, url) // so that there is nothing to do but to lock
		holder := startHolder(t, url, "migrations")
		var log bytes.Buffer
		began := time.Now()
		err := openAndMigrate(t, url, short, ledger.WithLog(slog.New(slog.NewTextHandler(&log, nil))))
		if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "another instance") {
			t.Errorf("migrating beside another ends with: %v", err)
		}
		if took := time.Since(began); took > soon {
			t.Errorf("gave up after %v", took)
		}
		if got := log.String(); strings.Count(got, "msg=\"waiting for ") != 1 {
			t.Errorf("the log says:\n%s", got)
		}
		holder.Kill(t)
		began = time.Now()
		if err := openAndMigrate(t, url); err != nil {
			t.Errorf("after the other's death: %v", err)
		}
		if took := time.Since(began); took > soon {
			t.Errorf("after the other's death it took %v", took)
		}
	})
}

// openAndMigrate is what a start does: on a file, and with one connection, already the opening waits.
func openAndMigrate(t *testing.T, url string, options ...ledger.Option) error {
	t.Helper()
	l, err := ledger.Open(t.Context(), url, options...)
	if err == nil {
		err = errors.Join(l.Migrate(t.Context()), l.Close())
	}
	return err
}

// A lock does not stay on a connection of a pooler: instances that migrate one after the other over different connections all get it.
func TestAPoolersConnectionsKeepNoLock(t *testing.T) {
	pooled := testkit.PgBouncer(t, testkit.SharedPostgres(t), 2).URL
	openLedger(t, pooled)
	busy := openUnmigrated(t, pooled)
	tx, err := ledger.Pools(busy)["write"].BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(t.Context(), "SELECT 1"); err != nil { // on the connection that was used last
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	if err := openUnmigrated(t, pooled).Migrate(ctx); err != nil {
		t.Errorf("migrating on the other connection: %v", err)
	}
}

// Failed migrations are rolled back as a whole where the database can do that, and the lock is free afterwards.
func TestMigrationsThatFailLeaveTheLockFree(t *testing.T) {
	onEachDatabaseAndPooler(t, func(t *testing.T, url string) {
		l := openUnmigrated(t, url)
		if _, err := ledger.Pools(l)["write"].ExecContext(t.Context(), "CREATE TABLE payouts (mine INT)"); err != nil {
			t.Fatal(err)
		}
		if err := l.Migrate(t.Context()); err == nil {
			t.Fatal("migrated although a table is in the way")
		}
		if err := ledger.HoldMigrationLock(t.Context(), openUnmigrated(t, url), func() {}); err != nil {
			t.Errorf("the lock is stuck: %v", err)
		}
		var rooms int
		found := ledger.Pools(l)["read"].QueryRowContext(t.Context(), "SELECT COUNT(*) FROM rooms").Scan(&rooms)
		if strings.HasPrefix(url, "postgres") == (found == nil) {
			t.Errorf("after migrations that failed, the tables of those before: %v", found)
		}
	})
}

func failOnExpiry(t *testing.T) func(error) {
	return func(why error) { t.Errorf("the lease was lost: %v", why) }
}

func TestOneInstanceHasTheExclusiveLockUntilItReleases(t *testing.T) {
	onEachDatabaseAndPooler(t, func(t *testing.T, url string) {
		first, second := openLedger(t, url, short), openLedger(t, url, short)
		release := must[func() error](t)(first.LockExclusively(t.Context(), failOnExpiry(t)))
		if _, err := second.LockExclusively(t.Context(), failOnExpiry(t)); !errors.Is(err, game.ErrBusy) {
			t.Errorf("two are alone: %v", err)
		}
		if err := second.Migrate(t.Context()); err != nil {
			t.Errorf("another instance cannot migrate: %v", err)
		}
		newRoom(t, first)
		if err := release(); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		release = must[func() error](t)(second.LockExclusively(t.Context(), failOnExpiry(t)))
		if took := time.Since(began); took > leaseDuration/2 {
			t.Errorf("after the other has left it took %v", took)
		}
		if err := release(); err != nil {
			t.Fatal(err)
		}
	})
}

// The lease of a killed instance lasts until it expires; the next instance waits for that and logs it.
func TestTheExclusiveLockOfAKilledInstanceExpires(t *testing.T) {
	onEachDatabaseAndPooler(t, func(t *testing.T, url string) {
		var log bytes.Buffer
		l := openLedger(t, url, short, ledger.WithLog(slog.New(slog.NewTextHandler(&log, nil))))
		startHolder(t, url, "lease").Kill(t)
		began := time.Now()
		release := must[func() error](t)(l.LockExclusively(t.Context(), failOnExpiry(t)))
		took := time.Since(began)
		if said := strings.Contains(log.String(), "waiting for the lease of another instance"); !said && took > 2*time.Second {
			t.Errorf("after %v the log says:\n%s", took, log.String())
		}
		if took > leaseDuration+soon/2 {
			t.Errorf("it took %v", took)
		}
		if err := release(); err != nil {
			t.Error(err)
		}
	})
}

// An instance that was stopped for a while, so that another has its lease by now, notices that and changes nothing.
func TestAPausedInstanceLosesItsLeaseToAnother(t *testing.T) {
	onServers(t, func(t *testing.T, url string) {
		l := openLedger(t, url, short)
		paused := startHolder(t, url, "lease")
		signal(t, paused, syscall.SIGSTOP)
		release := must[func() error](t)(l.LockExclusively(t.Context(), failOnExpiry(t)))
		signal(t, paused, syscall.SIGCONT)
		said := paused.Await(t, soon, "lost: (.*); a change: (.*)\n")
		if !strings.Contains(said[1], "another instance has taken the lease") || strings.Contains(said[2], "nil") {
			t.Errorf("it says %q", said[0])
		}
		if err := release(); err != nil {
			t.Error(err)
		}
	})
}

func signal(t *testing.T, p *testkit.Program, sig syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(p.Pid(), sig); err != nil {
		t.Fatal(err)
	}
}

// onServers runs a test where leases are rows.
func onServers(t *testing.T, test func(t *testing.T, url string)) {
	onEachDatabaseAndPooler(t, func(t *testing.T, url string) {
		if !strings.HasPrefix(url, "sqlite:") {
			test(t, url)
		}
	})
}

// An instance that cannot reach the database gives its lease up before another instance can take it.
func TestAnInstanceThatIsCutOffStopsBeforeAnotherStarts(t *testing.T) {
	onServers(t, func(t *testing.T, database string) {
		through, err := url.Parse(database)
		if err != nil {
			t.Fatal(err)
		}
		proxy := testkit.NewSwallowProxy(t, through.Host)
		through.Host = proxy.Addr
		lost := make(chan time.Time, 1)
		first, second := openLedger(t, through.String(), short), openLedger(t, database, short)
		release := must[func() error](t)(first.LockExclusively(t.Context(), func(error) { lost <- time.Now() }))
		proxy.Refuse()
		proxy.Cut()
		leave := must[func() error](t)(second.LockExclusively(t.Context(), failOnExpiry(t)))
		took := time.Now()
		if at := <-lost; at.After(took) {
			t.Errorf("two were alone for %v", at.Sub(took))
		}
		if _, err := first.CreateRoom(t.Context(), "too late"); err == nil {
			t.Error("the first one still makes changes")
		}
		if err := release(); err == nil {
			t.Error("a lease was given back without a database")
		}
		if err := leave(); err != nil {
			t.Error(err)
		}
	})
}

// A database outage that is shorter than the time of trust ends no instance.
func TestALeaseSurvivesAShortOutage(t *testing.T) {
	database := testkit.Postgres(t)
	l := openLedger(t, database.URL, ledger.WithTimeouts(time.Minute, 30*time.Second))
	release := must[func() error](t)(l.LockExclusively(t.Context(), failOnExpiry(t)))
	database.Restart(t)
	testkit.Eventually(t, soon, func() error { return l.Probe(t.Context(), "here") })
	if err := release(); err != nil {
		t.Error(err)
	}
}

// A statement that ends soon after its context keeps its connection. No cancel request is sent, which would crash PgBouncer 1.18 if the
// process ended at that moment.
func TestAPostgresConnectionSurvivesACancelledContext(t *testing.T) {
	conn, err := ledger.Pools(openLedger(t, testkit.SharedPostgres(t)))["read"].Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, _ = conn.ExecContext(ctx, "SELECT pg_sleep(0.2)")
	if ctx.Err() == nil {
		t.Error("the context is not done, so this test shows nothing")
	}
	if _, err := conn.ExecContext(t.Context(), "SELECT 1"); err != nil {
		t.Errorf("the connection is gone: %v", err)
	}
}
