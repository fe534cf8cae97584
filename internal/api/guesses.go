package api

import (
	"time"

	"golang.org/x/time/rate"
)

// Limits of wrong passwords: failures per second and burst. Guests share the host's address, so one of them who guesses all the time must
// not lock the host out: guesses within guessRate are taken, and those above it wait for their turn. A password of 10 characters
// stands that for years. Beyond a burst, all networks of an IPv6 site count as one, and all that have failed often share a limit.
const (
	guessRate, guessBurst   = 30, 5
	siteBurst               = 10 * guessBurst
	globalRate, globalBurst = 120, 120
	// maxGuessDelay is how long a guess may wait for its turn; if that is not enough it is refused.
	maxGuessDelay = 1500 * time.Millisecond
)

// guessLimiter limits wrong passwords. Safe for concurrent use.
type guessLimiter struct {
	networks, sites *limiter
	global          *rate.Limiter // of the networks that have used up their burst
	now             func() time.Time
}

func newGuessLimiter(now func() time.Time) *guessLimiter {
	return &guessLimiter{
		networks: newLimiter(guessRate, guessBurst, now), sites: newLimiter(guessRate, siteBurst, now),
		global: rate.NewLimiter(globalRate, globalBurst), now: now,
	}
}

// delay returns how long the answer to a guess from this address must wait, and false if it must be refused. That does not depend on
// whether the guess was wrong, so it tells nothing, but only wrong ones count.
func (g *guessLimiter) delay(ip string, wrong bool) (time.Duration, bool) {
	now := g.now()
	own := g.networks.bucket(clientNetwork(ip))
	buckets := []*rate.Limiter{own, g.sites.bucket(clientSite(ip))}
	if own.TokensAt(now) < 1 {
		buckets = append(buckets, g.global)
	}
	var longest time.Duration
	reserved := make([]*rate.Reservation, len(buckets))
	for i, bucket := range buckets {
		reserved[i] = bucket.ReserveN(now, 1)
		longest = max(longest, reserved[i].DelayFrom(now))
	}
	ok := longest <= maxGuessDelay
	if !ok || !wrong {
		for _, r := range reserved {
			r.CancelAt(now)
		}
	}
	return longest, ok
}
