package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"redrain/internal/backoff"
	"redrain/internal/game"
	"redrain/internal/ledger"
	"redrain/internal/rdb"
	"redrain/internal/rounds"
	"redrain/internal/settle"
)

// openSettler starts settling in this process. It has a context of its own, since it must stop after everything that grants claims.
func (a *app) openSettler() {
	a.settler = a.config.newSettler(a.books, a.redis, a.embedded != nil, a.log)
	a.lossDetector = settle.NewLossDetector(a.settler)
	if a.config.NoSettle {
		return
	}
	settling, end := context.WithCancel(context.Background())
	a.stopSettling = end
	a.settling.Go(func() { a.settler.Run(settling) })
}

func (c *settleConfig) newSettler(books *ledger.Ledger, redis *rdb.Client, embedded bool, log *slog.Logger) *settle.Settler {
	return settle.New(books, redis, settle.Options{Retention: c.KeysRetention, Embedded: embedded, Log: log})
}

// handleEvent passes an event from Redis on to the loss detector and to the rooms.
func (a *app) handleEvent(event game.Event) {
	if event.Missed {
		a.instruments.resyncs.Inc()
	}
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

// interruptAttemptTimeout bounds one attempt to close all rounds, so that a hanging call does not use up the whole time of a stop.
const interruptAttemptTimeout = 4 * time.Second

// settleEmbedded closes and settles the rounds in the embedded Redis, whose data ends with the process. It retries within
// settleWithin while the database is slow or unreachable. Claims that are not booked then are an error.
func (a *app) settleEmbedded(ctx context.Context) error {
	if a.embedded == nil || a.settler == nil || a.lostDatabaseLock.Load() { // the instance that took over the database has ended these rounds
		return nil
	}
	settling, cancel := context.WithTimeout(ctx, settleWithin)
	defer cancel()
	a.settler.Expedite()
	err := a.interruptRounds(settling)
	if err == nil {
		err = a.settler.Finish(settling)
	}
	if err == nil {
		return nil
	}
	return a.reportUnbooked(ctx, err)
}

// interruptRounds closes all rounds, and retries until ctx ends. The settler books granted claims meanwhile.
func (a *app) interruptRounds(ctx context.Context) error {
	failures := backoff.Exponential{Max: time.Second}
	for {
		trying, cancel := context.WithTimeout(ctx, interruptAttemptTimeout)
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

// reportUnbooked logs which granted claims are not booked, and returns an error if there are any: they are lost with the embedded
// Redis. Rounds whose claims are all booked are settled by the next start.
func (a *app) reportUnbooked(ctx context.Context, cause error) error {
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

// settleCommand settles rounds without serving HTTP.
type settleCommand struct {
	databaseConfig
	settleConfig
	payoutConfig

	RedisURL string `env:"REDIS_URL" placeholder:"URL" help:"Redis 7 or later: redis://, rediss:// or redis+cluster://. Needed."`
	LogLevel string `env:"LOG_LEVEL" default:"info" enum:"debug,info,warn,error" help:"One of debug, info, warn, error."`
}

// Run settles until ctx ends. It also starts and ends rounds on time, for when no serving instance is left.
func (c *settleCommand) Run(ctx context.Context, to *console) error {
	log := newLogger(c.LogLevel, to)
	if c.RedisURL == "" {
		return &startError{errors.New("REDIS_URL is needed: the embedded Redis can be settled by nobody else")}
	}
	if err := c.check(); err != nil {
		return &startError{err}
	}
	books, redis, err := c.openWithRetry(ctx, log)
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

// settleStages waits for everything that ctx has stopped, then closes what that used. Unfinished work is done by other settlers, or
// after the next start.
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

// maxDatabaseWait is the longest delay between two attempts to reach the database at the start of a settler.
const maxDatabaseWait = 5 * time.Second

// openWithRetry opens the ledger and Redis, and retries while the database is unreachable: a settler is often started together with
// it. Other errors of the database, and an unreachable Redis, are returned at once.
func (c *settleCommand) openWithRetry(ctx context.Context, log *slog.Logger) (*ledger.Ledger, *rdb.Client, error) {
	failures := backoff.Exponential{Max: maxDatabaseWait}
	for {
		books, redis, err := openLedgerAndRedis(ctx, &c.databaseConfig, c.RedisURL, log, c.ledgerOptions()...)
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

// openLedgerAndRedis opens the database and connects to an external Redis.
func openLedgerAndRedis(ctx context.Context, database *databaseConfig, redisURL string, log *slog.Logger, options ...ledger.Option) (*ledger.Ledger, *rdb.Client, error) {
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
