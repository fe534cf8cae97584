// Package settle books in the ledger what Redis has granted: first a round's claims, then its refund; then the round is
// settled. Meanwhile it keeps comparing the ledger with Redis, and freezes a round whose two sides disagree.
//
// Each round has an outbox in Redis, a Stream, in which every winning batch is an entry. A settler reads the outbox as a member
// of a consumer group, books the entries in SQL, and then acknowledges them.
//
// Invariants kept here:
//
//  1. Sum of claims + remaining + refunded = budget. It is compared at a watermark: once everything that had been granted at one
//     moment is booked. So claims on their way to the ledger never look like an error.
//  6. What a player was told is what the ledger says; otherwise the round is frozen and an operator is alerted.
//  7. An outbox entry is acknowledged only after the ledger's transaction has committed. Outboxes are never trimmed, and the
//     keys of a round get a shorter time to live only once it is settled.
//
// Any number of settlers may work side by side. Redis delivers each entry to one of them, and booking an entry a second time
// changes nothing.
package settle
