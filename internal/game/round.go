package game

import "time"

// Round is one rain: its settings and where it stands. StartsAt and EndsAt are 0 until it was opened in Redis; the round
// is open for taps in [StartsAt, EndsAt).
type Round struct {
	ID         string
	Room       string
	Settings   Settings
	Phase      Phase
	Reason     CloseReason // of a closed round
	Frozen     bool
	Rehearsal  bool
	Secret     Secret // made with the start; never shown before Settled
	Commitment string
	StartsAt   Moment
	EndsAt     Moment
	CreatedAt  time.Time
	// Place orders the drafts of a room, ascending. A draft with StartsOn is started by itself at that moment; 0: by hand.
	Place    int64
	StartsOn Moment
	// Claimed is what a closed round gave away; of an open one Redis knows.
	Claimed Left
}
