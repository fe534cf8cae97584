// Package settle brings what was granted in Redis into the ledger: claims, then the refund, then settled. All the while it
// holds the two against each other.
//
// Invariants kept here:
//
//  1. Σ claims + remaining + refunded = budget: compared at a watermark, so that nothing in flight looks like a fault.
//  6. What a player was told is what the ledger says, or the round is frozen and an operator is told.
//  7. An entry of an outbox is acknowledged only after the ledger's transaction has committed. Nothing is trimmed, and
//     nothing unsettled expires unnoticed: keys get a shorter life only once their round is settled.
//
// Any number of settlers may work side by side: Redis gives each entry to one of them, and what two of them book all the
// same changes nothing the second time.
package settle
