package testkit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

var postgres = databaseKind{
	name: "postgres", program: "postgres", debianPackage: "postgresql",
	find: func() (string, error) {
		found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
		if len(found) > 0 {
			return filepath.Dir(found[len(found)-1]), nil
		}
		path, err := exec.LookPath("postgres")
		return filepath.Dir(path), err
	},
	prepare: func(folder, dir string) *exec.Cmd {
		return exec.Command(folder+"/initdb", "--pgdata", dir+"/data", "--username", "redrain", "--auth", "trust",
			"--encoding", "UTF8", "--locale", "C", "--no-sync")
	},
	run: func(folder, dir string, port int) *exec.Cmd {
		_ = os.Remove(dir + "/data/postmaster.pid") // of one that was killed
		return exec.Command(folder+"/postgres", "-D", dir+"/data", "-p", strconv.Itoa(port), "-c", "listen_addresses=127.0.0.1",
			"-c", "unix_socket_directories="+dir, "-c", "max_connections=200")
	},
	url: func(port int, database string) string {
		return fmt.Sprintf("postgres://redrain@%s/%s?sslmode=disable", loopback(port), database)
	},
	create: createInPostgres,
}

// createInPostgres makes a database, or finds it made.
func createInPostgres(port int, database string) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, fmt.Sprintf("postgres://redrain@%s/postgres?sslmode=disable", loopback(port)))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	var exists bool
	if err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", database).Scan(&exists); err != nil || exists {
		return err
	}
	_, err = conn.Exec(ctx, "CREATE DATABASE "+database)
	return err
}

// Postgres starts a PostgreSQL server of this test's own, and ends it with the test.
func Postgres(t testing.TB) *Database {
	t.Helper()
	return ownDatabase(t, postgres)
}

// SharedPostgres returns the URL of a new database on the PostgreSQL server of this test binary, see Main.
func SharedPostgres(t testing.TB) string {
	t.Helper()
	return sharedDatabase(t, postgres)
}
