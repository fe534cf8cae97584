package game

import (
	"sort"
)

// DropKind is what falls.
type DropKind string

// The kinds of drops.
const (
	KindPacket DropKind = "packet"
	KindBomb   DropKind = "bomb"
)

// Lanes is the number of places across the screen at which drops fall.
const Lanes = 1000

// Drop is something that falls on every screen.
type Drop struct {
	ID   DropID
	Kind DropKind
	// AtMS is when it begins to fall, in milliseconds after starts_at.
	AtMS int64
	// Lane is where it falls, from 0 at the left edge to Lanes − 1 at the right.
	Lane int
}

// A drop can be tapped for DropStays after its slot, until it has left every screen: in calm mode it stands for as long (calm-grid.js). Its
// tap may take DropGrace more to reach Redis, by a slow network. After that the drop wins nothing: grab.lua checks it.
const (
	DropStays Millis = 9_000
	DropGrace Millis = 3_000
)

// BombPenalty is how long a player who tapped a bomb wins nothing. Pages hold a player's input for as long.
const BombPenalty Millis = 2_000

// Schedule is all drops of a round in the order in which they fall. Every instance computes the same from the secret, so
// drops need no message between instances. It is read-only after NewSchedule and safe for concurrent use.
type Schedule struct {
	drops []Drop
}

// NewSchedule computes the drops of a round: one in each slot of 1/DropsPerSecond, with three draws under the label
// "drop" for its kind, its lane, and its delay within the slot.
func NewSchedule(s Settings, secret Secret) Schedule {
	draws := secret.Draws("drop")
	drops := make([]Drop, int64(s.Duration)*int64(s.DropsPerSecond)/1000)
	for i := range drops {
		slot, next := slotStart(i, s.DropsPerSecond), slotStart(i+1, s.DropsPerSecond)
		drops[i] = Drop{
			ID:   DropID(i + 1), //nolint:gosec // at most MaxDuration · MaxDropsPerSecond
			Kind: KindPacket,
			Lane: int(draws.At(3*i+1) % Lanes),                            //nolint:gosec // below Lanes
			AtMS: slot + int64(draws.At(3*i+2)%uint64(max(next-slot, 1))), //nolint:gosec // below a second
		}
		if draws.At(3*i)%100 < uint64(s.BombPercent) { //nolint:gosec // validated to be ≥ 0
			drops[i].Kind = KindBomb
		}
	}
	return Schedule{drops: drops}
}

func slotStart(i, perSecond int) int64 { return int64(i) * 1000 / int64(perSecond) }

// Len is the number of drops.
func (s Schedule) Len() int { return len(s.drops) }

// Find returns the drop with this id.
func (s Schedule) Find(id DropID) (Drop, bool) {
	if id < 1 || int(id) > len(s.drops) {
		return Drop{}, false
	}
	return s.drops[id-1], true
}

// EndMS is when a drop can be tapped no more, in ms after starts_at.
func (s Settings) EndMS(id DropID) int64 {
	return slotStart(int(id), s.DropsPerSecond) + int64(DropStays)
} // slots count from 0

// Between returns the drops that begin to fall in (after, until], in ms after starts_at. The slice is shared: do not
// write to it.
func (s Schedule) Between(after, until int64) []Drop {
	from := sort.Search(len(s.drops), func(i int) bool { return s.drops[i].AtMS > after })
	to := sort.Search(len(s.drops), func(i int) bool { return s.drops[i].AtMS > until })
	return s.drops[from:max(from, to)]
}

// Pace says when packets are released to be won.
type Pace string

// The paces.
const (
	PaceBurst Pace = "burst" // all at starts_at, gone in a blink
	PaceEven  Pace = "even"  // spread over the first nine tenths, so that the rain is worth playing to its end
)

// Released is how many packets are out at elapsed ms after starts_at. With an even pace packet k (1, 2, …) is released at
// (k − 1)·0.9·duration/packets; grab.lua computes the same in integers.
func (s Settings) Released(elapsedMS int64) int {
	if elapsedMS < 0 {
		return 0
	}
	if s.Pace == PaceBurst || elapsedMS >= int64(s.Duration) {
		return s.Packets
	}
	out := elapsedMS*10*int64(s.Packets)/(9*int64(s.Duration)) + 1
	return int(min(out, int64(s.Packets)))
}
