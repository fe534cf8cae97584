//go:build !race

package ledger_test

var sqliteSize = serverSize
