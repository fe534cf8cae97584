package game

// Event is one message about a room that an instance receives from Redis by pub/sub. One of the fields after Room is set.
type Event struct {
	Room   string
	Claims *Claimed
	Round  string // the round with this id was opened or closed
	Tally  []byte // a wire.Tally in JSON, from the holder of the room's lease
	Notice []byte // a wire.Notice in JSON
	// ForHosts is the code of a notice for the pages of hosts alone.
	ForHosts string
	// AccessChanged: a player was blocked, or unblocked.
	AccessChanged bool
	// Missed: messages may have been missed, so everything known of the room must be read again.
	Missed bool
}

// Claimed is one batch of winning grabs: claims with ascending numbers without a gap, and what is left after them.
type Claimed struct {
	Round  string
	Left   Total
	Claims []Claim
}
