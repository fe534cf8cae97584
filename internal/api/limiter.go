package api

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// limiterKeys bounds the clients of one generation in a limiter.
const limiterKeys = 10_000

// limiter is a token bucket for each client network. It remembers at most two generations of limiterKeys clients: when the
// young one is full it becomes the old one, and those who do not show up meanwhile are forgotten. Forgetting gives a client
// a full bucket, so to get around the limit takes ten thousand networks. Safe for concurrent use.
type limiter struct {
	rate  rate.Limit
	burst int
	now   func() time.Time

	mu         sync.Mutex
	young, old map[string]*rate.Limiter
}

func newLimiter(perSecond float64, burst int, now func() time.Time) *limiter {
	return &limiter{rate: rate.Limit(perSecond), burst: burst, now: now, young: map[string]*rate.Limiter{}}
}

// allow takes a token of the client with this address, if there is one.
func (l *limiter) allow(ip string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := network(ip)
	bucket, known := l.young[key]
	if !known {
		if bucket, known = l.old[key]; !known {
			bucket = rate.NewLimiter(l.rate, l.burst)
		}
		if len(l.young) >= limiterKeys {
			l.old, l.young = l.young, make(map[string]*rate.Limiter, limiterKeys)
		}
		l.young[key] = bucket
	}
	return bucket.AllowN(l.now(), 1)
}
