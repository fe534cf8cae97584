// Package rounds takes a round from draft to closed. SQL stores what the host asked for, and Redis runs the round. Every step between
// the two can be repeated by any instance, at any time, until both agree.
//
// Invariants kept here:
//
//   - Invariant 5: Redis' clock alone decides what is early or late. This package only estimates when to ask; whether a
//     round may close by time, or can still be cancelled, is decided by Redis.
//   - At most one round of a room is active: a round is begun in SQL, which enforces that, before it exists in Redis.
//   - A round has one secret, that of its first start. A repeated start uses the same.
//   - A round is closed in Redis before it is closed in SQL, so nothing can be won from a round that SQL calls closed.
//     The exception is a round whose keys are gone: nothing can be won from it.
//   - A round ends on time as long as one instance runs Keep.
package rounds
