// Package rounds brings a round from draft to closed. SQL remembers what a host asked for, Redis runs the round, and every
// step between the two can be repeated by any instance, at any time, until both agree.
//
// Invariants kept here:
//
//   - Invariant 5: Redis' clock alone decides what is early or late. This package only guesses when to ask: whether a round
//     may close by time, or can still be cancelled, is Redis' answer.
//   - At most one round of a room is active: a round is begun in SQL, which sees to that, before it exists in Redis.
//   - A round has one secret, that of its first start; whatever opens it again does so with the same.
//   - A round is closed in Redis before it is closed in SQL, so nothing can be won from a round that SQL calls closed.
//     Only keys that are gone are an exception: there is nothing to win.
//   - A round ends on time as long as one instance runs Keep.
package rounds
