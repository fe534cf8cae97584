// Package ledger is the system of record: rooms, rounds, players and their money in SQL. Redis holds what taps need at once; this
// package holds what must not be lost with it. No other package accesses the database.
//
// Invariants kept here:
//
//   - At most one round of a room is active, whatever races: a round becomes active only by taking its room's
//     active_round, a conditional update in the same transaction, and gives it back in the transaction that closes it.
//   - A round's phase never goes back, and changes only as game.Phase.Before allows. The first call that changes it wins;
//     repeated calls change nothing and return the round as it is.
//   - Invariant 1: what is booked, what is held in escrow and what was refunded sum to a round's budget. Every movement of money is
//     two entries that sum to zero; none is ever changed or deleted. Its key prevents that anything is moved twice, and a CHECK
//     that an escrow or a player has less than 0.
//   - Invariant 6: a claim that comes again changes nothing. One that contradicts the ledger goes into quarantine and freezes its round.
//   - A transaction that reads a round and acts on it locks the round's row first, in the order of transactions.go: room, round,
//     books, accounts in the order of their ids. Its last UPDATE repeats in its WHERE what it relied on.
//   - A payout is planned with the commit that settles its round, and moves money from its players once, with the commit that
//     makes it paid. Rehearsals and rounds that are not settled, so frozen ones too, have none.
//   - A round's secret, algorithm and commitment are written once, by the first Begin. The secret is in no error and no log.
//
// Statements use what SQLite, PostgreSQL and MySQL have in common. Ids are text, money is BIGINT cents, times are BIGINT
// milliseconds since 1970.
package ledger
