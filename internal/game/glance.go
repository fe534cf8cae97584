package game

import "time"

// RoomSummary is a room as a list of rooms shows it.
type RoomSummary struct {
	Room    Room
	Players int    // who ever joined
	Drafts  int    // rounds to come
	Played  int    // rounds that are over
	Given   Cents  // what those gave away
	Active  string // the id of the active round, empty if there is none
}

// PlayedRound is a round as one of its players looks back on it.
type PlayedRound struct {
	Round   Round
	Packets int
	Cents   Cents
}

// RehearsalState says how far a rehearsal is.
type RehearsalState string

// The states of a rehearsal.
const (
	RehearsalRunning RehearsalState = "running"
	RehearsalDone    RehearsalState = "done"
	RehearsalFailed  RehearsalState = "failed" // it could not be played to its end
)

// Rehearsal is a round played by bots on the stage of a room. Report is JSON, nil until it is done.
type Rehearsal struct {
	Round   string // on the stage
	Room    string // that it is for
	Players int
	Rate    float64 // taps a second of each player
	State   RehearsalState
	Report  []byte
	Problem string // why it failed
	BegunAt time.Time
}
