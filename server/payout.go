package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"redrain/internal/ledger"
	"redrain/internal/payout"
)

// payoutConfig configures payouts. All instances and settlers need the same values.
type payoutConfig struct {
	PayoutURL    string `name:"payout-webhook-url" env:"PAYOUT_WEBHOOK_URL" placeholder:"URL" help:"Address of your own balance system, which hears what players won in settled rounds: https, or http on this machine. None: won money stays in the players' balances here."`
	PayoutSecret string `env:"PAYOUT_SECRET" placeholder:"TEXT" help:"Secret that payouts are signed with: whsec_ and the base64 of 24 to 64 random bytes."`
	PayoutBatch  int    `env:"PAYOUT_BATCH" default:"1" help:"Claims in one payout at most, 1 to 1000."`
}

func (c *payoutConfig) ledgerOptions() []ledger.Option {
	if c.PayoutURL == "" {
		return nil
	}
	return []ledger.Option{ledger.WithPayouts(c.PayoutBatch)}
}

// options validates the configuration before anything is sent.
func (c *payoutConfig) options(ctx context.Context) (options payout.Options, err error) {
	if c.PayoutBatch < 1 || c.PayoutBatch > 1000 {
		return payout.Options{}, fmt.Errorf("PAYOUT_BATCH must be between 1 and 1000, not %d", c.PayoutBatch)
	}
	if options.Target, err = payout.ParseTarget(ctx, c.PayoutURL, nil); err != nil {
		return payout.Options{}, fmt.Errorf("PAYOUT_WEBHOOK_URL is refused: %w", err)
	}
	if options.Secret, err = payout.ParseSecret(c.PayoutSecret); err != nil {
		return payout.Options{}, fmt.Errorf("PAYOUT_SECRET is refused: %w", err)
	}
	return options, nil
}

// newSender returns the sender of payouts; nil if payouts are not configured.
func (c *payoutConfig) newSender(ctx context.Context, books payout.Books, log *slog.Logger) (*payout.Sender, error) {
	if c.PayoutURL == "" {
		if c.PayoutSecret != "" {
			return nil, errors.New("PAYOUT_SECRET is for PAYOUT_WEBHOOK_URL, which is not set")
		}
		return nil, nil //nolint:nilnil // no payouts are an answer
	}
	options, err := c.options(ctx)
	if err != nil {
		return nil, err
	}
	options.Log = log
	return payout.New(books, options), nil
}

// openPayouts starts sending payouts, if this instance also settles.
func (a *app) openPayouts(ctx context.Context) error {
	sender, err := a.config.newSender(ctx, a.books, a.log)
	if err != nil || sender == nil || a.config.NoSettle {
		return err
	}
	sending, end := context.WithCancel(context.Background())
	a.payouts, a.stopPayouts = sender, end
	a.paying.Go(func() { sender.Run(sending) })
	return nil
}
