package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// stopWithin is what process supervisors give a process between SIGTERM and SIGKILL; the README says so. The bounds of all
// stages of a stop together stay below it. A second signal ends the process at once.
const stopWithin = 30 * time.Second

// The bounds of the stages of a stop.
const (
	answerWithin = 3500 * time.Millisecond // a tap hears busy after 3 s
	settleWithin = 12 * time.Second
	tellWithin   = time.Second // of settling: to find out what is not in the books
	finishWithin = 5 * time.Second
	leaveWithin  = 2 * time.Second
	endWithin    = 2 * time.Second
	closeWithin  = 1500 * time.Millisecond
	// stopGrace is how long a part may take to return once its context has ended.
	stopGrace = 250 * time.Millisecond
)

// part is one part of a stop. It has a context that ends after its bound; if it does not return then, it is left behind.
type part struct {
	doing  string
	within time.Duration
	do     func(context.Context) error
	// needed parts make the stop fail if they do; the others are safe to cut short, and only logged.
	needed bool
}

// stage is parts that run beside each other.
type stage []part

// bound is how long a stage may take.
func (s stage) bound() time.Duration {
	longest := time.Duration(0)
	for _, p := range s {
		longest = max(longest, p.within)
	}
	return longest + stopGrace
}

// stopIn goes through the stages in order. The log says what had to be cut short; the error is that of the needed parts.
func stopIn(ctx context.Context, log *slog.Logger, stages ...stage) error {
	var failed []error
	for _, stage := range stages {
		errs := make([]error, len(stage))
		var running sync.WaitGroup
		for i, p := range stage {
			running.Go(func() { errs[i] = p.run(ctx, log) })
		}
		running.Wait()
		failed = append(failed, errs...)
	}
	return errors.Join(failed...)
}

func (p part) run(ctx context.Context, log *slog.Logger) error {
	ctx, cancel := context.WithTimeout(ctx, p.within)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- p.do(ctx) }()
	timer := time.NewTimer(p.within + stopGrace)
	defer timer.Stop()
	var err error
	select {
	case err = <-ended:
	case <-timer.C:
		err = context.DeadlineExceeded
	}
	switch {
	case err == nil:
		return nil
	case p.needed:
		return fmt.Errorf("stop: %s: %w", p.doing, err)
	}
	log.Warn("the stop was cut short", "doing", p.doing, "within", p.within, "error", err)
	return nil
}

// waitFor returns a part that waits for goroutines that were stopped before.
func waitFor(doing string, within time.Duration, running *sync.WaitGroup) part {
	return part{doing: doing, within: within, do: func(context.Context) error { running.Wait(); return nil }}
}

// stop stops an instance, also one that was started only in part. It first refuses everything new without waiting, since nothing may
// be granted once a round was settled, and then runs the stages, each with its own timeout.
func (a *app) stop(ctx context.Context) error {
	a.refuseNewWork(ctx)
	return stopIn(ctx, a.log, a.stages()...)
}

// refuseNewWork refuses new requests and connections, and cancels everything that settling does not need.
func (a *app) refuseNewWork(ctx context.Context) {
	if a.web != nil {
		a.web.RefuseRequests()
	}
	if a.http != nil { // closes the listener and idle connections now, and waits for active ones until ctx ends
		a.requestsDone = make(chan error, 1)
		go func() { a.requestsDone <- a.http.Shutdown(ctx) }()
	}
	if a.debug != nil {
		warnIfFailed(a.log, "close the profiles' address", a.debug.Close())
	}
	if a.operators != nil {
		warnIfFailed(a.log, "close the operators' address", a.operators.Close())
	}
	if a.rehearsals != nil {
		a.rehearsals.Stop()
	}
	for _, end := range []context.CancelFunc{a.stopKeeping, a.stopPayouts} {
		if end != nil {
			end()
		}
	}
}

// stages come in this order for these reasons:
//
//  1. pending taps are answered, and new ones are refused as busy: nothing is granted here any more;
//  2. the rounds in the embedded Redis are settled, since it ends with this process, before anything that may be cut short;
//  3. active requests, connections (after the results of the taps were sent), rehearsals and payouts in flight are finished;
//  4. rooms release their leases, and rounds are left to the keepers of other instances, or to the next start;
//  5. settling ends;
//  6. Redis and the ledger, which all of these used, are closed.
func (a *app) stages() []stage {
	return []stage{
		{{doing: "answer the taps that wait", within: answerWithin, do: a.answerPendingTaps}},
		{{doing: "settle what the embedded Redis holds", within: settleWithin + tellWithin, do: a.settleEmbedded, needed: true}},
		{
			{doing: "answer the requests under way", within: finishWithin, do: a.finishRequests},
			{doing: "close the connections", within: finishWithin, do: a.closeConnections},
			{doing: "note the end of rehearsals", within: finishWithin, do: a.endRehearsals},
			waitFor("finish the payouts under way", finishWithin, &a.paying),
		},
		{{doing: "give the rooms back", within: leaveWithin, do: a.closeRooms}},
		{
			{doing: "end settling", within: endWithin, do: a.waitForSettling},
			waitFor("end keeping rounds", endWithin, &a.serving),
		},
		{
			{doing: "disconnect from Redis", within: closeWithin, do: a.closeRedis},
			{doing: "close the database", within: closeWithin, do: a.closeBooks},
		},
	}
}

func (a *app) answerPendingTaps(ctx context.Context) error {
	if a.committer == nil {
		return nil
	}
	return a.committer.Close(ctx)
}

// finishRequests waits for active requests, and closes their connections if they take too long.
func (a *app) finishRequests(ctx context.Context) error {
	if a.requestsDone == nil {
		return nil
	}
	select {
	case err := <-a.requestsDone:
		return err
	case <-ctx.Done():
	}
	cut := fmt.Errorf("%d requests under way are cut: %w", a.web.ActiveRequests(), ctx.Err())
	return errors.Join(cut, a.http.Close())
}

func (a *app) closeConnections(ctx context.Context) error {
	if a.gate == nil {
		return nil
	}
	return a.gate.Close(ctx)
}

func (a *app) endRehearsals(context.Context) error {
	if a.rehearsals != nil {
		a.rehearsals.Close()
	}
	return nil
}

func (a *app) closeRooms(context.Context) error {
	if a.rooms == nil {
		return nil
	}
	a.rooms.Close()
	return a.subscription.Close()
}

func (a *app) waitForSettling(context.Context) error {
	if a.stopSettling != nil {
		a.stopSettling()
	}
	a.settling.Wait()
	return nil
}

func (a *app) closeRedis(context.Context) (err error) {
	if a.redis != nil {
		err = a.redis.Disconnect()
	}
	if a.embedded != nil {
		a.embedded.Close()
	}
	return err
}

func (a *app) closeBooks(context.Context) (err error) {
	if a.unlockDatabase != nil {
		err = a.unlockDatabase()
	}
	if a.books != nil {
		err = errors.Join(err, a.books.Close())
	}
	return err
}
