package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"redrain/internal/game"
	"redrain/internal/ledger"
	"redrain/internal/rdb"
	"redrain/internal/settle"
)

// reconcileCommand compares rounds with their books, and accounts with their entries: those of the round's room, or all of them,
// which must sum to 0. It changes nothing.
type reconcileCommand struct {
	databaseConfig

	Round    string `arg:"" optional:"" help:"Id of one round, which is compared with the accounts of its room; all that were ever begun, and all accounts, if there is none."`
	JSON     bool   `help:"Print JSON, one object a line."`
	RedisURL string `env:"REDIS_URL" placeholder:"URL" help:"Redis of the rounds. None: the books are compared with themselves."`
}

// reconcileTimeout bounds a comparison, which reads every claim there is.
const reconcileTimeout = 6 * time.Hour

// errDiffers makes the command fail after all differences were printed.
var errDiffers = errors.New("the books do not agree")

// Run ends with exit code 1 if anything differs.
func (c *reconcileCommand) Run(ctx context.Context, to *console) (err error) {
	ctx, cancel := context.WithTimeout(ctx, reconcileTimeout)
	defer cancel()
	books, err := c.openLedger(ctx, newLogger("info", to))
	if err != nil {
		return &startError{err}
	}
	defer func() { err = errors.Join(err, books.Close()) }()
	var outbox settle.Outbox = noOutbox{}
	if c.RedisURL != "" {
		rdb.LogDriver(slog.New(slog.DiscardHandler))
		redis, err := rdb.Dial(ctx, c.RedisURL)
		if err != nil {
			return &startError{fmt.Errorf("REDIS_URL: %w", err)}
		}
		defer func() { err = errors.Join(err, redis.Disconnect()) }()
		outbox = redis
	}
	agree, err := c.compare(ctx, to.out, books, settle.New(books, outbox, settle.Options{}))
	if err == nil && !agree {
		err = errDiffers
	}
	return err
}

func (c *reconcileCommand) compare(ctx context.Context, out io.Writer, books *ledger.Ledger, settler *settle.Settler) (agree bool, err error) {
	ids, err := c.rounds(ctx, books)
	if err != nil {
		return false, err
	}
	agree = true
	for _, id := range ids {
		r, err := settler.Reconcile(ctx, id)
		if errors.Is(err, game.ErrNotFound) || errors.Is(err, game.ErrWrongPhase) {
			return false, &startError{fmt.Errorf("round %s was never begun", id)}
		}
		if err != nil {
			return false, err
		}
		agree = agree && r.Agrees
		if err := c.printRound(out, r); err != nil {
			return false, err
		}
		if c.Round != "" {
			accounts, err := books.UnbalancedAccountsOf(ctx, r.Room)
			if err != nil {
				return false, err
			}
			return agree && len(accounts) == 0, c.printAccounts(out, "every account of its room", accounts)
		}
	}
	accounts, err := allAccounts(ctx, books)
	if err != nil {
		return false, err
	}
	return agree && len(accounts) == 0, c.printAccounts(out, "every account", accounts)
}

// allAccounts compares every account with its entries, and the sum of all balances with 0. It reads the whole ledger.
func allAccounts(ctx context.Context, books *ledger.Ledger) ([]game.Difference, error) {
	differences, errEntries := books.UnbalancedAccounts(ctx)
	sum, errSum := books.SumBalances(ctx)
	if sum != 0 {
		differences = append(differences, game.Difference{What: "balances_cents", Found: int64(sum)})
	}
	return differences, errors.Join(errEntries, errSum)
}

func (c *reconcileCommand) rounds(ctx context.Context, books *ledger.Ledger) ([]string, error) {
	if c.Round != "" {
		return []string{c.Round}, nil
	}
	begun, err := books.AllBegunRounds(ctx)
	ids := make([]string, len(begun))
	for i, round := range begun {
		ids[i] = round.ID
	}
	return ids, err
}

func (c *reconcileCommand) printRound(out io.Writer, r game.Reconciliation) error {
	if c.JSON {
		return json.NewEncoder(out).Encode(r)
	}
	state := "agrees"
	if !r.Agrees {
		state = "DIFFERS"
	}
	if r.InFlight {
		state += ", with claims on their way"
	}
	_, err := fmt.Fprintf(out, "%s %-9s %s: %d claims of %v, escrow %v, refunded %v\n", r.Round, r.Phase, state,
		r.Ledger.Claims, r.Ledger.ClaimedCents, r.Ledger.EscrowCents, r.Ledger.RefundedCents)
	for _, d := range r.Differences {
		_, err = fmt.Fprintf(out, "  %s: %d expected, %d found\n", d.What, d.Expected, d.Found)
	}
	return err
}

func (c *reconcileCommand) printAccounts(out io.Writer, which string, differences []game.Difference) error {
	if c.JSON {
		return json.NewEncoder(out).Encode(map[string][]game.Difference{"accounts": append([]game.Difference{}, differences...)})
	}
	if len(differences) == 0 {
		_, err := fmt.Fprintln(out, which+" is the sum of its entries")
		return err
	}
	var err error
	for _, d := range differences {
		_, err = fmt.Fprintf(out, "%s: %d expected, %d found\n", d.What, d.Expected, d.Found)
	}
	return err
}

// noOutbox stands for a Redis without any data.
type noOutbox struct{ settle.Outbox }

func (noOutbox) Watermark(context.Context, string) (game.Watermark, error) {
	return game.Watermark{}, game.ErrGone
}
