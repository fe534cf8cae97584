// Package ledger is the system of record: rooms, rounds, players and their money in SQL. What is hot lives in Redis; what must
// outlive it lives here. It alone knows the database.
//
// Invariants kept here:
//
//   - At most one round of a room is active, whatever races: a round becomes active only by taking its room's
//     active_round, a conditional update in the same transaction, and gives it back in the transaction that closes it.
//   - A round's phase never goes back, and only along game.Phase.Before. The first step wins; repeated, it changes
//     nothing and answers with what is there.
//   - Invariant 1: what is booked, what is held in escrow and what was refunded are a round's budget. Every movement of money is
//     two entries that sum to zero; none is ever changed or deleted; nothing is moved twice, by its key; and no escrow and no
//     player can have less than nothing, by CHECK.
//   - Invariant 6: a claim that comes again changes nothing; one that comes otherwise is put aside, and freezes its round.
//   - Whatever reads a round and acts on it locks the round's row first, in lock.go's one order: room, round, books, accounts in
//     the order of their ids. Its last UPDATE says again what it relied on.
//   - A payout is planned with the commit that settles its round, and moves money from its players once, with the commit that
//     makes it paid. Rehearsals and rounds that are not settled, so frozen ones too, have none.
//   - A round's secret, algorithm and commitment are written once, by the first Begin. The secret is in no error and no log.
//
// Statements keep to what SQLite, PostgreSQL and MySQL have in common. Ids are text, money is BIGINT cents, moments are BIGINT
// milliseconds since 1970.
package ledger
