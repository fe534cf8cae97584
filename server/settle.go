package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"redrain/internal/backoff"
	"redrain/internal/game"
	"redrain/internal/ledger"
	"redrain/internal/rdb"
	"redrain/internal/rounds"
	"redrain/internal/settle"
)

// openSettler starts settling in this process. Its work has a context of its own: it ends after everything that grants.
func (a *app) openSettler() {
	a.settler = a.config.newSettler(a.books, a.redis, a.embedded != nil, a.log)
	a.lossDetector = settle.NewLossDetector(a.settler)
	if a.config.NoSettle {
		return
	}
	settling, end := context.WithCancel(context.Background())
	a.endSettling = end
	a.settling.Go(func() { a.settler.Run(settling) })
}

func (c *settleConfig) newSettler(books *ledger.Ledger, redis *rdb.Client, embedded bool, log *slog.Logger) *settle.Settler {
	return settle.New(books, redis, settle.Options{Retention: c.KeysRetention, Embedded: embedded, Log: log})
}

// handleEvent passes an event from Redis on to the loss detector and to the rooms.
func (a *app) handleEvent(event game.Event) {
	a.lossDetector.HandleEvent(event)
	a.rooms.HandleEvent(event)
}

// recordGrants tells the loss detector which claim numbers were granted.
func (a *app) recordGrants(room, round string, grabbed game.Grabbed) {
	highest := 0
	for _, answer := range grabbed.Answers {
		highest = max(highest, answer.Number)
	}
	if highest > 0 {
		a.lossDetector.RecordGrant(room, round, highest)
	}
}

// interruptFor bounds one try to close all rounds: a call that hangs must not use up all the time there is.
const interruptFor = 4 * time.Second

// settleEmbedded closes the rounds that the embedded Redis holds and settles them, so that nothing is lost with it. It uses
// what time there is, also where the database is slow or away for a while; what is not in the books then is an error.
func (a *app) settleEmbedded(ctx context.Context) error {
	if a.embedded == nil || a.settler == nil || a.overtaken.Load() { // who took the database over has ended these rounds
		return nil
	}
	settling, cancel := context.WithTimeout(ctx, settleWithin)
	defer cancel()
	a.settler.Expedite()
	err := a.interrupt(settling)
	if err == nil {
		err = a.settler.Finish(settling)
	}
	if err == nil {
		return nil
	}
	return a.tellUnbooked(ctx, err)
}

// interrupt closes all rounds, and tries again until ctx ends. What was granted is booked meanwhile.
func (a *app) interrupt(ctx context.Context) error {
	failures := backoff.Exponential{Max: time.Second}
	for {
		trying, cancel := context.WithTimeout(ctx, interruptFor)
		err := a.rounds.Interrupt(trying)
		cancel()
		if err == nil {
			return nil
		}
		wait := failures.Next()
		a.log.Warn("cannot close all rounds before the embedded Redis ends", "error", err, "again_in", wait)
		if !backoff.Sleep(ctx, wait, nil) {
			return err
		}
	}
}

// tellUnbooked says which claims are not in the books: they end with the embedded Redis. What else was not settled in time is
// settled by the next start.
func (a *app) tellUnbooked(ctx context.Context, cause error) error {
	unbooked, err := a.lossDetector.Unbooked(ctx)
	if err != nil {
		cause = errors.Join(cause, fmt.Errorf("it is not known what else is not in the books: %w", err))
	}
	var lost game.Total
	for _, u := range unbooked {
		a.log.Error("claims that were granted are not in the books, and end with the embedded Redis", "round", u.Round, "room", u.Room,
			"claims", u.Left.Packets, "cents", int64(u.Left.Cents))
		lost.Packets += u.Left.Packets
		lost.Cents += u.Left.Cents
	}
	if lost.Packets == 0 && err == nil {
		a.log.Warn("not every round was settled in time: all claims are in the books, and the next start settles the rest", "error", cause)
		return nil
	}
	return fmt.Errorf("%d claims of %d cents are not in the books: %w", lost.Packets, lost.Cents, cause)
}

// settleCommand settles without serving anybody.
type settleCommand struct {
	databaseConfig
	settleConfig
	payoutConfig

	RedisURL string `env:"REDIS_URL" placeholder:"URL" help:"Redis 7 or later: redis://, rediss:// or redis+cluster://. Needed."`
	LogLevel string `env:"LOG_LEVEL" default:"info" enum:"debug,info,warn,error" help:"One of debug, info, warn, error."`
}

// Run settles until ctx ends. It also keeps rounds, so that they end on time when no instance is left that serves.
func (c *settleCommand) Run(ctx context.Context, to *console) error {
	log := newLogger(c.LogLevel, to)
	if c.RedisURL == "" {
		return &startError{errors.New("REDIS_URL is needed: the embedded Redis can be settled by nobody else")}
	}
	if err := c.check(); err != nil {
		return &startError{err}
	}
	books, redis, err := c.openWhenThere(ctx, log)
	if err != nil {
		return &startError{err}
	}
	sender, err := c.newSender(ctx, books, log)
	if err == nil {
		err = c.checkDurable(ctx, redis, log)
	}
	if err != nil {
		return &startError{errors.Join(err, redis.Disconnect(), books.Close())}
	}
	log.Info("settling")
	var settling, keeping, paying sync.WaitGroup
	settler := c.newSettler(books, redis, false, log)
	settling.Go(func() { settler.Run(ctx) })
	detector := settle.NewLossDetector(settler)
	subscription := redis.Subscribe(context.WithoutCancel(ctx), log, detector.HandleEvent)
	keeping.Go(func() { detector.Run(ctx, subscription) })
	keeper := rounds.New(books, redis, rounds.Options{Log: log})
	keeping.Go(func() { keeper.Keep(ctx) })
	if sender != nil {
		paying.Go(func() { sender.Run(ctx) })
	}
	<-ctx.Done()
	log.Info("stopping")
	return stopIn(context.WithoutCancel(ctx), log, settleStages(&settling, &keeping, &paying, subscription, redis, books)...)
}

// settleStages end what was told to end, then what that used. What was under way is done by other settlers, or the next.
func settleStages(settling, keeping, paying *sync.WaitGroup, subscription *rdb.Subscription, redis *rdb.Client, books *ledger.Ledger) []stage {
	return []stage{
		{
			waitFor("end settling", finishWithin, settling),
			waitFor("end keeping rounds", finishWithin, keeping),
			waitFor("finish the payouts under way", finishWithin, paying),
		},
		{{doing: "end the subscription", within: leaveWithin, do: func(context.Context) error { return subscription.Close() }}},
		{
			{doing: "disconnect from Redis", within: closeWithin, do: func(context.Context) error { return redis.Disconnect() }},
			{doing: "close the database", within: closeWithin, do: func(context.Context) error { return books.Close() }},
		},
	}
}

// worstWait is how long a settler waits at most before it asks again for what does not answer at its start.
const worstWait = 5 * time.Second

// openWhenThere opens both as soon as the database answers: a settler is often started together with it. What the database refuses,
// and a Redis that does not answer, end it at once.
func (c *settleCommand) openWhenThere(ctx context.Context, log *slog.Logger) (*ledger.Ledger, *rdb.Client, error) {
	failures := backoff.Exponential{Max: worstWait}
	for {
		books, redis, err := openBoth(ctx, &c.databaseConfig, c.RedisURL, log, c.ledgerOptions()...)
		if !errors.Is(err, ledger.ErrUnreachable) {
			return books, redis, err
		}
		wait := failures.Next()
		log.Warn("waiting for the database", "error", err, "again_in", wait)
		if !backoff.Sleep(ctx, wait, nil) {
			return nil, nil, err
		}
	}
}

// openBoth opens the database and a Redis of its own.
func openBoth(ctx context.Context, database *databaseConfig, redisURL string, log *slog.Logger, options ...ledger.Option) (*ledger.Ledger, *rdb.Client, error) {
	books, err := database.openLedger(ctx, log, options...)
	if err != nil {
		return nil, nil, err
	}
	rdb.LogDriver(log)
	redis, err := rdb.Dial(ctx, redisURL)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("REDIS_URL: %w", err), books.Close())
	}
	return books, redis, nil
}

// settleMetrics are what operators see of settling.
func settleMetrics(settler *settle.Settler) []prometheus.Collector {
	counter := func(name, help string, read func(settle.Counts) int64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "redrain_settle_" + name, Help: help},
			func() float64 { return float64(read(settler.Counts())) })
	}
	gauge := func(name, help string, read func(settle.Counts) int64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "redrain_settle_" + name, Help: help},
			func() float64 { return float64(read(settler.Counts())) })
	}
	return []prometheus.Collector{
		counter("claims_total", "Claims booked.", func(c settle.Counts) int64 { return c.Claims }),
		counter("cents_total", "Cents of the claims booked.", func(c settle.Counts) int64 { return c.Cents }),
		counter("redelivered_total", "Claims that came again, equal.", func(c settle.Counts) int64 { return c.Redelivered }),
		counter("quarantined_total", "Claims put aside.", func(c settle.Counts) int64 { return c.Quarantined }),
		counter("dead_letters_total", "Entries that do not parse.", func(c settle.Counts) int64 { return c.DeadLetters }),
		counter("alarms_total", "Rounds frozen because their books do not agree.", func(c settle.Counts) int64 { return c.Alarms }),
		counter("lost_total", "Rounds frozen because Redis lost claims that players were told of.", func(c settle.Counts) int64 { return c.Lost }),
		counter("reclosed_total", "Rounds closed in Redis again, which had lost their close.", func(c settle.Counts) int64 { return c.Reclosed }),
		counter("repaired_total", "Keys of rounds that Redis had lost, made anew.", func(c settle.Counts) int64 { return c.Repaired }),
		counter("expiring_total", "Warnings that an unsettled round's keys expire soon.", func(c settle.Counts) int64 { return c.Expiring }),
		gauge("unsettled_rounds", "Begun rounds that are not settled.", func(c settle.Counts) int64 { return c.Unsettled }),
		gauge("lag_ms", "How old the newest entry was when it was booked last, in ms.", func(c settle.Counts) int64 { return c.Lag }),
	}
}
