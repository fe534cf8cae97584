package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
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
	site := c.PublicURL
	if site == "" {
		site = "http://" + net.JoinHostPort(printableHost(app.address), strconv.Itoa(app.port()))
	}
	_, _ = fmt.Fprintf(to.out, "\n  redrain is ready\n\n  players   %s/\n  host      %s/host\n  screen    %s/screen/CODE\n", site, site, site)
	if made {
		_, _ = fmt.Fprintf(to.out, "\n  the host's password for this run: %s\n", c.HostPassword)
	}
	if c.RedisURL == "" {
		_, _ = fmt.Fprintf(to.out, "\n  Embedded Redis and %s: good for trying out and for a party on one machine; set REDIS_URL for money that must\n  outlive this process and for more instances.\n", c.DatabaseURL)
	}
	_, _ = fmt.Fprintln(to.out)
}

// printableHost returns the host to print: a private address of this machine if there is one, which phones in the same network can
// reach.
func printableHost(listening net.Addr) string {
	tcp, ok := listening.(*net.TCPAddr)
	if !ok {
		return "localhost"
	}
	if !tcp.IP.IsUnspecified() {
		return tcp.IP.String()
	}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return "localhost"
	}
	for _, address := range addresses {
		if network, ok := address.(*net.IPNet); ok && network.IP.IsPrivate() && network.IP.To4() != nil {
			return network.IP.String()
		}
	}
	return "localhost"
}

// warnIfFailed logs the error of a step whose failure is not fatal.
func warnIfFailed(log *slog.Logger, doing string, err error) {
	if err != nil {
		log.Warn("cannot "+doing, "error", err)
	}
}
