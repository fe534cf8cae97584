package ledger

import "database/sql"

// LockBeside lets tests hold what Migrate waits for.
var LockBeside = lockBeside

// Pools are the connections of a ledger.
func Pools(l *Ledger) map[string]*sql.DB {
	return map[string]*sql.DB{"read": l.database.read, "write": l.database.write}
}
