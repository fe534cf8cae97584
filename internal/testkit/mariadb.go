package testkit

import (
	"database/sql"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	_ "github.com/go-sql-driver/mysql" // the database/sql driver "mysql"
)

var mariadb = databaseKind{
	name: "mariadb", program: "mariadbd", debianPackage: "mariadb-server",
	find: func() (string, error) {
		for _, path := range []string{"mariadbd", "/usr/sbin/mariadbd"} {
			if found, err := exec.LookPath(path); err == nil {
				return filepath.Dir(found), nil
			}
		}
		return "", exec.ErrNotFound
	},
	prepare: func(_, dir string) *exec.Cmd {
		return exec.Command("mariadb-install-db", "--no-defaults", "--datadir="+dir+"/data", "--skip-test-db",
			"--auth-root-authentication-method=normal")
	},
	run: func(folder, dir string, port int) *exec.Cmd {
		return exec.Command(folder+"/mariadbd", "--no-defaults", "--datadir="+dir+"/data", "--port="+strconv.Itoa(port),
			"--bind-address=127.0.0.1", "--socket="+dir+"/socket", "--pid-file="+dir+"/pid", "--skip-grant-tables",
			"--innodb-buffer-pool-size=256M", "--innodb-log-file-size=256M", "--max-connections=200")
	},
	url:    func(port int, database string) string { return "mysql://root@" + loopback(port) + "/" + database },
	create: createInMariaDB,
}

// createInMariaDB makes a database, or finds it made.
func createInMariaDB(port int, database string) (err error) {
	db, err := sql.Open("mysql", fmt.Sprintf("root@tcp(%s)/?timeout=2s", loopback(port)))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	_, err = db.Exec("CREATE DATABASE IF NOT EXISTS " + database)
	return err
}

// MariaDB starts a MariaDB server of this test's own, or MySQL if TEST_MYSQLD says so, and ends it with the test.
func MariaDB(t testing.TB) *Database {
	t.Helper()
	return ownDatabase(t, mariadbOrMySQL())
}

// SharedMariaDB returns the URL of a new database on the MariaDB server of this test binary, see Main; or MySQL if TEST_MYSQLD
// says so.
func SharedMariaDB(t testing.TB) string {
	t.Helper()
	return sharedDatabase(t, mariadbOrMySQL())
}
