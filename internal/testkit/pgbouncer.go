package testkit

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// PgBouncer starts a PgBouncer of this test's own in transaction mode, before the database of a postgres:// URL, with at most
// pool connections to it. Its URL stands in for the database's own.
func PgBouncer(t testing.TB, database string, pool int) *Database {
	t.Helper()
	behind, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	return ownDatabase(t, pgbouncer(behind, pool))
}

func pgbouncer(behind *url.URL, pool int) databaseKind {
	pooled := func(port int, _ string) string {
		front := *behind
		front.Host = loopback(port)
		return front.String()
	}
	return databaseKind{
		name: "pgbouncer", program: "pgbouncer", debianPackage: "pgbouncer",
		find: func() (string, error) {
			for _, path := range []string{"pgbouncer", "/usr/sbin/pgbouncer"} {
				if found, err := exec.LookPath(path); err == nil {
					return filepath.Dir(found), nil
				}
			}
			return "", exec.ErrNotFound
		},
		prepare: func(_, dir string) *exec.Cmd { return exec.Command("touch", dir+"/ini") },
		run: func(folder, dir string, port int) *exec.Cmd {
			// A file that cannot be written leaves it empty, which PgBouncer complains of.
			_ = os.WriteFile(dir+"/ini", []byte(pgbouncerConfig(behind, pool, port)), 0o644) //nolint:gosec // its owner is another user
			return exec.Command(folder+"/pgbouncer", dir+"/ini")
		},
		url:    pooled,
		create: func(port int, name string) error { return pingPostgres(pooled(port, name)) },
	}
}

// pgbouncerConfig has PgBouncer's own defaults but for the pool. It logs to standard error.
func pgbouncerConfig(behind *url.URL, pool, port int) string {
	return fmt.Sprintf(`[databases]
* = host=%s port=%s user=%s
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %s
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = %d
max_client_conn = 200
`, behind.Hostname(), behind.Port(), behind.User.Username(), strconv.Itoa(port), pool)
}

func pingPostgres(url string) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	return conn.Ping(ctx)
}
