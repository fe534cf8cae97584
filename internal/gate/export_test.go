package gate

import "time"

// DefaultPings are the time between pings and the time for an answer of a gate without other options.
func DefaultPings() [2]time.Duration {
	g := New(Options{})
	return [2]time.Duration{g.opts.PingEvery, g.opts.PongWithin}
}
