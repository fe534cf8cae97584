//go:build race

package ledger_test

// sqliteSize is smaller here: SQLite runs within the test, and takes ten times as long under the race detector.
var sqliteSize = size{rooms: 20, drops: 20}
