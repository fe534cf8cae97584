package game

// Report is what one instance knows of a room: players online there, taps that it counted in the round, who came last, and which
// players came and left. An instance reports a dozen arrivals at most, and none while a round is active.
type Report struct {
	Round    string
	Online   int
	Taps     int64
	Arrivals []Arrival
	Changes  Changes
}

// Arrival is a player who is in a room, and since when.
type Arrival struct {
	Player string
	At     Moment
}

// Reports is what all instances know of a room together. Epoch is above 0 for the instance that holds the room's lease, and
// grows with every holder; to others only Now and Mark are told. Online counts each player once. Arrivals are those of all
// instances, in no order.
type Reports struct {
	Now      Moment
	Epoch    int64
	Online   int
	Taps     int64
	Arrivals []Arrival
	Mark     int64 // the instance's own, see Presence.Told
	Garbage  int   // marks of players which no instance has any more: they are to be swept
}

// Swept is what sweeping one page of a room's garbage came to. Cursor is "0" after the last page.
type Swept struct {
	Cursor  string
	Removed int
}
