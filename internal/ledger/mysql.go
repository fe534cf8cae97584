package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/pressly/goose/v3"
	"github.com/uptrace/bun/dialect/mysqldialect"
	"github.com/uptrace/bun/schema"
)

// mysqlReadTimeout is how long a connection waits for the server to send something. It bounds what no context bounds, such as COMMIT.
const mysqlReadTimeout = 10 * time.Minute

func openMySQL(ctx context.Context, text string) (database, error) {
	config, err := mysqlConfig(text)
	if err != nil {
		return database{}, err
	}
	migrations, err := fs.Sub(migrationFiles, "migrations/mysql")
	if err != nil {
		return database{}, fmt.Errorf("embedded migrations: %w", err)
	}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return database{}, errMySQLURL
	}
	db := sql.OpenDB(connector)
	if err := pingPool(ctx, db, "mysql", config.Addr); err != nil {
		return database{}, err
	}
	return database{
		write: db, read: db, maxIdleWriters: maxConnections,
		newDialect: func() schema.Dialect { return mysqldialect.New() },
		migrations: migrations, goose: goose.DialectMySQL,
		transactions:   &sql.TxOptions{Isolation: sql.LevelReadCommitted},
		pacing:         unpaced, // the database works in another process
		rejects:        mysqlRejects,
		isDeadlock:     mysqlIsDeadlock,
		now:            "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000", // no time zone, no hour that comes twice
		lockMigrations: func(ctx context.Context) (*migrationLock, error) { return lockMySQL(ctx, config) },
	}, nil
}

var plainHost = regexp.MustCompile(`^(\[[0-9a-fA-F:]+\]|[\w.-]+)(:\d+)?$`)

var errMySQLURL = errors.New("DATABASE_URL is not like mysql://USER:PASSWORD@HOST:3306/DATABASE")

func mysqlConfig(text string) (*mysql.Config, error) {
	address, err := url.Parse(text)
	if err != nil || !plainHost.MatchString(address.Host) || len(address.Path) < 2 || strings.ContainsAny(address.Path[1:], "/'\\") {
		return nil, errMySQLURL
	}
	config, err := mysql.ParseDSN("/?" + address.RawQuery)
	if err != nil {
		return nil, errMySQLURL
	}
	config.User = address.User.Username()
	config.Passwd, _ = address.User.Password()
	config.Net, config.Addr, config.DBName = "tcp", address.Host, address.Path[1:]
	if address.Port() == "" {
		config.Addr = net.JoinHostPort(address.Hostname(), "3306")
	}
	config.ClientFoundRows = true // rows that an UPDATE found, changed or not, as elsewhere
	config.ParseTime = true
	config.Collation = "utf8mb4_bin"
	if config.Params == nil {
		config.Params = make(map[string]string)
	}
	// Strict, and backslashes escape: what is quoted for it is understood.
	config.Params["sql_mode"] = "'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'"
	config.Logger = quietLogger{}
	if config.Timeout == 0 {
		config.Timeout = connectTimeout
	}
	if config.ReadTimeout == 0 {
		config.ReadTimeout = mysqlReadTimeout
	}
	return config, nil
}

// quietLogger logs at debug level what the driver would print to stderr.
type quietLogger struct{}

func (quietLogger) Print(words ...any) { slog.Debug("mysql: " + fmt.Sprint(words...)) }

// mysqlRejections are the error numbers for values that the database rejects.
var mysqlRejections = []uint16{
	1048,       // NULL where none may be
	1062,       // a key twice
	1264, 1690, // out of range
	1366, 1406, // not of the type, too long
	1451, 1452, // foreign keys
	3819, 4025, // CHECK, of MySQL and of MariaDB
}

func mysqlRejects(err error) bool {
	var fault *mysql.MySQLError
	return errors.As(err, &fault) && slices.Contains(mysqlRejections, fault.Number)
}

func mysqlIsDeadlock(err error) bool {
	var fault *mysql.MySQLError
	const deadlock, changedSince = 1213, 1020 // the second of MariaDB, from 11.6 on
	return errors.As(err, &fault) && (fault.Number == deadlock || fault.Number == changedSince)
}
