package api

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// maxLimiterClients bounds the clients in one generation of a limiter.
const maxLimiterClients = 10_000

// limiter is a token bucket for each client network. It keeps at most two generations of maxLimiterClients clients: when the
// young generation is full it becomes the old one, and clients of the previous old one that made no request since are evicted. An
// evicted client starts with a full bucket again, so evading the limit takes ten thousand networks. Safe for concurrent use.
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

// allow takes a token from the bucket of the client with this address, and reports whether there was one.
func (l *limiter) allow(ip string) bool { return l.bucket(clientNetwork(ip)).AllowN(l.now(), 1) }

// bucket returns the bucket of a client network.
func (l *limiter) bucket(key string) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	bucket, known := l.young[key]
	if !known {
		if bucket, known = l.old[key]; !known {
			bucket = rate.NewLimiter(l.rate, l.burst)
		}
		if len(l.young) >= maxLimiterClients {
			l.old, l.young = l.young, make(map[string]*rate.Limiter, maxLimiterClients)
		}
		l.young[key] = bucket
	}
	return bucket
}
