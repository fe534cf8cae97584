package game

import "time"

// HostSession is one login of a host.
type HostSession struct {
	ID string
	// Credential is the version of the password that the host logged in with.
	Credential string
	ExpiresAt  time.Time
}
