package game

// Waiter hears what its taps came to. Answered is called once for each tap, from another goroutine, and must not block.
type Waiter interface {
	Answered(tap Tap, answer Answer)
}
