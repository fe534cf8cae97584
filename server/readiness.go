package main

import (
	"context"

	"redrain/internal/api"
	"redrain/internal/ledger"
	"redrain/internal/probe"
	"redrain/internal/rdb"
)

// startProbes begins to prove that this instance can do what a round needs: write to Redis, read its clock, publish there and hear that,
// and write to the database. It goes on until ctx is done.
func (a *app) startProbes(ctx context.Context) {
	a.probes = []*probe.Probe{
		probe.New("redis", a.subscription.Probe),
		probe.New("database", func(ctx context.Context) error { return a.books.Probe(ctx, a.redis.Instance()) }),
	}
	for _, p := range a.probes {
		a.serving.Go(func() { p.Keep(ctx, a.log) })
	}
}

// checks returns the checks that must succeed for this instance to be ready. They only read the results of the probes.
func (a *app) checks() []api.Check {
	checks := make([]api.Check, len(a.probes))
	for i, p := range a.probes {
		checks[i] = api.Check{Name: p.Name(), Run: p.Check, Latency: p.Latency}
	}
	return checks
}

// unavailable reports whether a request failed because Redis or the database does not work right now. It may succeed when it is made
// again.
func unavailable(err error) bool {
	return ledger.ReasonOf(err).MayPass() || rdb.ReasonOf(err).MayPass()
}
