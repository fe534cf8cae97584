package game

import "errors"

// What callers decide on. Adapters wrap them with %w.
var (
	ErrNotFound   = errors.New("not found")
	ErrRoomBusy   = errors.New("another round of the room is active")
	ErrWrongPhase = errors.New("the round is in another phase")
	ErrNotYet     = errors.New("the round is not at its end yet")
	ErrGone       = errors.New("the round's keys are gone from redis")
	ErrBusy       = errors.New("too much is waiting")
	ErrUnknown    = errors.New("the result is not known")
	ErrTorn       = errors.New("the round's keys do not fit together")
	// ErrRefused: nothing was done. Unless ErrTryAgain is there too, asking again at once would not help.
	ErrRefused = errors.New("refused")
	// ErrTryAgain: nothing was done, for a reason that passes, such as a failover.
	ErrTryAgain = errors.New("nothing was done, try again")
	ErrOff      = errors.New("this is not set up")
)
