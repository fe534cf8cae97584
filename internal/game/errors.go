package game

import "errors"

// Errors that callers tell apart with errors.Is. Packages that do I/O wrap them with %w.
var (
	ErrNotFound   = errors.New("not found")
	ErrRoomBusy   = errors.New("another round of the room is active")
	ErrWrongPhase = errors.New("the round is in another phase")
	ErrNotYet     = errors.New("the round is not at its end yet")
	// ErrGone: Redis has no keys of the round.
	ErrGone = errors.New("the round's keys are gone from redis")
	ErrBusy = errors.New("too much is waiting")
	// ErrTooMany: somebody tries too often.
	ErrTooMany = errors.New("too many tries")
	// ErrUnknown: a call failed, and it is not known whether it had an effect.
	ErrUnknown = errors.New("the result is not known")
	// ErrTorn: Redis has some keys of the round, but they are incomplete or contradict each other.
	ErrTorn = errors.New("the round's keys do not fit together")
	// ErrRefused: nothing was done. Trying again at once does not help, unless ErrTryAgain is wrapped too.
	ErrRefused = errors.New("refused")
	// ErrTryAgain: nothing was done, for a temporary reason such as a failover.
	ErrTryAgain = errors.New("nothing was done, try again")
	// ErrOff: the feature is not configured.
	ErrOff = errors.New("this is not set up")
)
