// Package game is the domain of a red packet rain: rooms, rounds, phases, money, the ways to split it, the pace at which
// packets are released, the drops that fall, and what a tap can come to. It imports no other package of this module, does
// no I/O and reads no clock.
//
// Invariants kept here (the numbers are used in tests too):
//
//  1. Σ claims + remaining + refunded = budget, at every moment.
//  2. Every claim ≥ min (≥ 1 cent) and ≤ max where one is set; never more claims than packets.
//  3. A player has at most cap claims in a round, and at most one for a drop.
//  4. A won tap repeated has its first result; nothing is taken twice.
//  5. Redis' clock alone decides what is early or late: a round is open in [starts_at, ends_at).
package game
