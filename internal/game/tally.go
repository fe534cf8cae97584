package game

// Report is what one instance knows of a room: players online there, taps that it counted in the round, and who came last.
// An instance reports a dozen arrivals at most, and none while a round is active.
type Report struct {
	Round    string
	Online   int
	Taps     int64
	Arrivals []Arrival
}

// Arrival is a player who is in a room, and since when.
type Arrival struct {
	Player string
	At     Moment
}

// Reports is what all instances know of a room together. Epoch is above 0 for the instance that holds the room's lease, and
// grows with every holder. Arrivals are those of all instances, in no order, and told to that instance alone.
type Reports struct {
	Now      Moment
	Epoch    int64
	Online   int
	Taps     int64
	Arrivals []Arrival
}
