// Package ledger is the system of record: rooms, rounds and players in SQL. What is hot lives in Redis; what must outlive
// it lives here. It alone knows the database.
//
// Invariants kept here:
//
//   - At most one round of a room is active, whatever races: a round becomes active only by taking its room's
//     active_round, a conditional update in the same transaction, and gives it back in the transaction that closes it.
//   - A round's phase never goes back, and only along game.Phase.Before. The first step wins; repeated, it changes
//     nothing and answers with what is there.
//   - A round's secret and commitment are written once, by the first Begin. The secret is in no error and no log.
//
// Statements keep to what SQLite, PostgreSQL and MySQL have in common; rows are locked in the order rooms, rounds. Ids are
// text, money is BIGINT cents, moments are BIGINT milliseconds since 1970.
package ledger
