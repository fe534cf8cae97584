package ledger

// LockBeside lets tests hold what Migrate waits for.
var LockBeside = lockBeside
