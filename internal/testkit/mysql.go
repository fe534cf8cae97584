package testkit

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

// mysqldVariable names the mysqld of MySQL 8 or later on which everything runs that else runs on MariaDB; Debian stable has none.
const mysqldVariable = "TEST_MYSQLD"

var mysql = databaseKind{
	name: "mysql", program: "mysqld", debianPackage: "mysql-server-core",
	find: func() (string, error) {
		found, err := exec.LookPath(os.Getenv(mysqldVariable))
		return filepath.Dir(found), err
	},
	prepare: func(_, dir string) *exec.Cmd {
		return exec.Command(os.Getenv(mysqldVariable), "--no-defaults", "--datadir="+dir+"/data", "--initialize-insecure")
	},
	run: func(_, dir string, port int) *exec.Cmd {
		return exec.Command(os.Getenv(mysqldVariable), "--no-defaults", "--datadir="+dir+"/data", "--port="+strconv.Itoa(port),
			"--bind-address=127.0.0.1", "--socket="+dir+"/socket", "--pid-file="+dir+"/pid", "--mysqlx=OFF", "--secure-file-priv=NULL",
			"--innodb-buffer-pool-size=256M", "--innodb-redo-log-capacity=512M", "--max-connections=200")
	},
	url:    mariadb.url,
	create: createInMariaDB,
}

// mariadbOrMySQL is what tests of the MySQL family run on.
func mariadbOrMySQL() databaseKind {
	if os.Getenv(mysqldVariable) != "" {
		return mysql
	}
	return mariadb
}
