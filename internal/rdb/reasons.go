package rdb

import (
	"errors"
	"io"
	"net"

	"github.com/redis/go-redis/v9"

	"redrain/internal/probe"
)

// refusalReasons has the beginnings of errors with which Redis refuses a command for what it is itself, or for who asks.
var refusalReasons = []struct {
	reason   probe.Reason
	prefixes []string
}{
	{probe.Full, []string{"OOM ", "MISCONF "}},             // no memory; cannot store
	{probe.ReadOnly, []string{"READONLY ", "NOREPLICAS "}}, // a replica; a master that misses replicas
	{probe.Locked, []string{"BUSY "}},                      // another script runs
	{probe.NoRights, []string{
		"NOPERM ", "NOAUTH ", "WRONGPASS ",
		"The user executing the script can't ", "ACL failure in script", // inside a script, of Redis 7.0 and later
	}},
	{probe.Unreachable, []string{
		"LOADING ", "CLUSTERDOWN ", "MASTERDOWN ", "TRYAGAIN ", "MOVED ", "ASK ", "max number of clients reached",
	}},
}

// ReasonOf returns why a call of Redis failed, as far as it says something about Redis and not about the call; else probe.Other.
func ReasonOf(err error) probe.Reason {
	for _, known := range refusalReasons {
		if hasAnyPrefix(err, known.prefixes) {
			return known.reason
		}
	}
	if isDisconnection(err) {
		return probe.Unreachable
	}
	return probe.Other
}

// isDisconnection reports that there was no connection, or none any more, or no answer in time.
func isDisconnection(err error) bool {
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	for _, broken := range []error{redis.ErrPoolTimeout, redis.ErrPoolExhausted, io.EOF, io.ErrUnexpectedEOF} {
		if errors.Is(err, broken) {
			return true
		}
	}
	return false
}
