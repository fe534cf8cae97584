package game

// Report is what one instance knows of a room: players online there, and taps that it counted in the round.
type Report struct {
	Round  string
	Online int
	Taps   int64
}

// Reports is what all instances know of a room together. Epoch is above 0 for the instance that holds the room's lease, and
// grows with every holder.
type Reports struct {
	Now    Moment
	Epoch  int64
	Online int
	Taps   int64
}
