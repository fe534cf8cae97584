package game

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
	if s.Pace == PaceBurst || elapsedMS >= s.Duration.Milliseconds() {
		return s.Packets
	}
	out := elapsedMS*10*int64(s.Packets)/(9*s.Duration.Milliseconds()) + 1
	return int(min(out, int64(s.Packets)))
}
