package game

// Heard is one message that an instance hears from Redis about a room; one of the fields after Room is set.
type Heard struct {
	Room   string
	Claims *Claimed
	Round  string // the round with this id was opened or closed
	Tally  []byte // a wire.Tally in JSON, from the holder of the room's lease
	Notice []byte // a wire.Notice in JSON
	// ForHosts is the code of a notice for the pages of hosts alone.
	ForHosts string
	// Doors: somebody was blocked, or let in again.
	Doors bool
	// Lost: something may have been missed; what is known must be read again.
	Lost bool
}

// Claimed is one batch of won grabs: numbers without a gap, ascending, and what was left after them.
type Claimed struct {
	Round  string
	Left   Total
	Claims []Claim
}
