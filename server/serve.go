package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
)

// Run serves until ctx ends.
func (c *serveCommand) Run(ctx context.Context, to *console) error {
	log := c.logger(to)
	made := c.HostPassword == ""
	if made {
		c.HostPassword = rand.Text()[:12]
	}
	app, err := start(ctx, c, log)
	if err != nil {
		return &startError{err}
	}
	c.printWelcome(to, app, made)
	select {
	case <-ctx.Done():
		log.Info("stopping")
		err = nil
	case err = <-app.fatal:
	}
	return errors.Join(err, app.stop(context.WithoutCancel(ctx)))
}

// printWelcome prints the addresses of the pages, and the password if it was generated.
func (c *serveCommand) printWelcome(to *console, app *app, made bool) {
	lan := lanHosts(app.address)
	site := c.PublicURL
	switch {
	case site != "":
	case len(lan) > 0:
		site = "http://" + lan[0]
	default:
		site = app.loopback()
	}
	_, _ = fmt.Fprintf(to.out, "\n  redrain is ready\n\n  players   %s/\n  host      %s/host\n  screen    %s/screen/CODE\n", site, site, site)
	if c.PublicURL == "" && len(lan) == 0 {
		_, _ = fmt.Fprint(to.out, "\n  Phones cannot reach this address: connect this machine to their network, or set PUBLIC_URL.\n")
	}
	if made {
		_, _ = fmt.Fprintf(to.out, "\n  the host's password for this run: %s\n", c.HostPassword)
	}
	if c.RedisURL == "" {
		_, _ = fmt.Fprintf(to.out, "\n  Embedded Redis and %s: good for trying out and for a party on one machine; set REDIS_URL for money that must\n  outlive this process and for more instances.\n", c.DatabaseURL)
	}
	_, _ = fmt.Fprintln(to.out)
}

// warnIfFailed logs the error of a step whose failure is not fatal.
func warnIfFailed(log *slog.Logger, doing string, err error) {
	if err != nil {
		log.Warn("cannot "+doing, "error", err)
	}
}
