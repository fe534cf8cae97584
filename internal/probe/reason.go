package probe

import "errors"

// Reason is why something that an instance needs does not work. Pages have words for each.
type Reason string

// The reasons.
const (
	Unreachable Reason = "unreachable" // it does not answer in time, or turns every client away for a while
	Full        Reason = "full"        // it has no room for what is written, or cannot store it
	ReadOnly    Reason = "read_only"   // it takes no writes, as a replica
	Locked      Reason = "locked"      // another client keeps it from answering
	NoRights    Reason = "no_rights"   // its user may not do what this server needs
	Unheard     Reason = "unheard"     // what this instance publishes does not arrive here
	NotDurable  Reason = "not_durable" // it could lose what it was told
	Late        Reason = "late"        // it works, but cannot keep up
	Other       Reason = "other"
)

// MayPass reports whether a request that failed for this reason may succeed a while later, with nothing about it changed.
func (r Reason) MayPass() bool {
	switch r {
	case Unreachable, Full, ReadOnly, Locked:
		return true
	}
	return false
}

// Failure is an error with its reason.
type Failure struct {
	Reason Reason
	Err    error
}

// Error is the text of the error alone.
func (f *Failure) Error() string { return f.Err.Error() }

// Unwrap returns the error.
func (f *Failure) Unwrap() error { return f.Err }

// ReasonOf returns the reason of the Failure that an error wraps; Other for any other error.
func ReasonOf(err error) Reason {
	if failure, ok := errors.AsType[*Failure](err); ok {
		return failure.Reason
	}
	return Other
}
