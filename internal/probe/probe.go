// Package probe keeps the proof that what an instance needs works: it is tried again and again in the background, so that asking
// for readiness costs nothing, however often that is done. What does not work has one of a few reasons.
package probe

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"redrain/internal/backoff"
)

const (
	interval = 2 * time.Second // from the end of one try to the beginning of the next
	timeout  = 2 * time.Second // of one try, so that there is a result every 4 s
	// maxAge is how long a success counts. It is over only if a try does not end at its deadline, or if the process was suspended.
	maxAge = 5 * time.Second
)

// Probe tries whether one thing works, and remembers the last result. It is safe for concurrent use.
type Probe struct {
	name  string
	try   func(context.Context) error
	first chan struct{} // closed when the first try has ended

	mu      sync.Mutex // guards what follows
	at      time.Time  // when the last try ended; zero before the first has
	latency time.Duration
	err     error
}

// New returns a probe by this name. Nothing is tried until Keep runs. The context of try ends after 2 s; try has to return then.
func New(name string, try func(context.Context) error) *Probe {
	return &Probe{name: name, try: try, first: make(chan struct{})}
}

// Name is the probe's name.
func (p *Probe) Name() string { return p.name }

// Keep tries at least every 4 s, until ctx is done. It logs when it begins to fail, for another reason too, and when it works again.
// It must be called once.
func (p *Probe) Keep(ctx context.Context, log *slog.Logger) {
	var reason Reason // why the last try failed; empty: it did not
	for {
		began := time.Now()
		err := p.tryOnce(ctx)
		if ctx.Err() != nil {
			return
		}
		p.record(began, err)
		switch {
		case err != nil && reason != ReasonOf(err):
			reason = ReasonOf(err)
			log.Warn("not ready: "+p.name, "reason", reason, "error", err)
		case err == nil && reason != "":
			reason = ""
			log.Info("ready again: " + p.name)
		}
		if !backoff.Sleep(ctx, interval, nil) {
			return
		}
	}
}

func (p *Probe) tryOnce(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return p.try(ctx)
}

func (p *Probe) record(began time.Time, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.at.IsZero() {
		close(p.first)
	}
	p.at = time.Now()
	p.latency, p.err = p.at.Sub(began), err
}

// Check returns nil if the last try succeeded and ended within the last 5 s, else its error, with a reason. Before the first try has
// ended it waits for that, until ctx is done.
func (p *Probe) Check(ctx context.Context) error {
	select {
	case <-p.first:
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.at.IsZero() {
		return &Failure{Unreachable, errors.New("has not answered yet")}
	}
	if age := time.Since(p.at); p.err == nil && age > maxAge {
		return &Failure{Unreachable, fmt.Errorf("has not answered for %.0f s", age.Seconds())}
	}
	return p.err
}

// Latency is how long the last try took.
func (p *Probe) Latency() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.latency
}
