package settle_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"redrain/internal/game"
	"redrain/internal/ledger"
	"redrain/internal/rdb"
	"redrain/internal/settle"
	"redrain/internal/testkit"
)

// With these environment variables the test binary runs as a settler that commits and never acknowledges.
const (
	childRedis    = "SETTLE_TEST_CHILD_REDIS"
	childDatabase = "SETTLE_TEST_CHILD_DATABASE"
)

// runChild runs that settler if the variables are set; else it returns false.
func runChild() bool {
	if os.Getenv(childRedis) == "" {
		return false
	}
	ctx := context.Background()
	books, err := ledger.Open(ctx, os.Getenv(childDatabase))
	if err != nil {
		fmt.Println("failed:", err)
		return true
	}
	client, err := rdb.Dial(ctx, os.Getenv(childRedis))
	if err != nil {
		fmt.Println("failed:", err)
		return true
	}
	f := &faults{Ledger: books, Client: client, acknowledge: func(context.Context) error {
		fmt.Println("committed")
		select {}
	}}
	settle.New(asBooks(f), f, settle.Options{}).Run(ctx)
	return true
}

// databases are the kinds that the product supports; the functions make a new database each.
var databases = map[string]func(testing.TB) string{
	"sqlite":   func(t testing.TB) string { return "sqlite:" + t.TempDir() + "/ledger.db" },
	"postgres": testkit.SharedPostgres,
	"mariadb":  testkit.SharedMariaDB,
}

// The process of a settler is killed after its transaction has committed and before it acknowledges.
func TestASettlerIsKilledBetweenCommitAndAcknowledgement(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, newDatabase := range databases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newEnv(t, testkit.Redis(t).URL, newDatabase(t))
			round := h.startRound(50)
			told := h.grabEach(round, 20)
			child := testkit.StartProgram(t, []string{childRedis + "=" + h.redisURL, childDatabase + "=" + h.databaseURL}, self)
			child.Await(t, soon, "committed")
			child.Kill(t)
			if account := h.account(round); account.Booked.Packets == 0 || h.pending(round) == 0 {
				t.Fatalf("it was killed too early or too late: %+v, %d pending", account, h.pending(round))
			}
			told = append(told, h.grabEach(round, 5)...)
			h.close(round, game.Stopped)
			h.startSettler(settle.Options{ClaimStaleAfter: 100 * time.Millisecond})
			h.awaitAccount(round, "settled", settled)
			h.wantBooked(round, told)
		})
	}
}

// The database server is killed during settlement and stays down for 10 s; grabs go on meanwhile.
func TestTheDatabaseServerIsDownForTenSeconds(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(testing.TB) *testkit.Database{"postgres": testkit.Postgres, "mariadb": testkit.MariaDB} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := start(t)
			h := newEnv(t, testkit.Redis(t).URL, server.URL)
			round := h.startRound(100_000)
			h.startSettler(settle.Options{})
			h.startSettler(settle.Options{})
			var told []game.Claim
			grabFor := func(d time.Duration) {
				for since := time.Now(); time.Since(since) < d; {
					told = append(told, h.grab(round, 5)...)
					time.Sleep(10 * time.Millisecond) // a pace of grabs, not a wait
				}
			}
			grabFor(time.Second)
			server.Kill(t)
			grabFor(10 * time.Second)
			server.Restart(t)
			grabFor(time.Second)
			h.close(round, game.Stopped)
			h.awaitAccount(round, "settled", settled)
			h.wantBooked(round, told)
		})
	}
}

// Another process locks the SQLite file for longer than the ledger waits for a lock.
func TestTheSQLiteFileIsLockedForTwelveSeconds(t *testing.T) {
	t.Parallel()
	h := newSQLiteEnv(t, testkit.Redis(t).URL)
	round := h.startRound(100_000)
	h.startSettler(settle.Options{})
	h.startSettler(settle.Options{})
	told := h.grab(round, 100)
	h.awaitAccount(round, "every claim", func(a game.Account) bool { return a.Booked.Packets == 100 })

	other := must(sql.Open("sqlite", "file:"+strings.TrimPrefix(h.databaseURL, "sqlite:")+"?_txlock=immediate"))(t)
	defer other.Close()
	held := must(other.BeginTx(t.Context(), nil))(t)
	for since := time.Now(); time.Since(since) < 12*time.Second; {
		told = append(told, h.grab(round, 5)...)
		time.Sleep(10 * time.Millisecond) // a pace of grabs, not a wait
	}
	if account := h.account(round); account.Booked.Packets != 100 || h.pending(round) == 0 {
		t.Errorf("something was booked into a locked file, or acknowledged: %+v", account)
	}
	if err := held.Rollback(); err != nil {
		t.Fatal(err)
	}
	h.close(round, game.Stopped)
	h.awaitAccount(round, "settled", settled)
	h.wantBooked(round, told)
}
