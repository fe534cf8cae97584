package payout

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"
)

// Target is where payouts are posted.
type Target struct {
	address  string
	plain    bool // http, which goes to this machine alone
	resolver *net.Resolver
}

// lookupTimeout bounds the DNS lookup at the start.
const lookupTimeout = 5 * time.Second

// ParseTarget checks the address of a webhook: it must be https, or http to this machine, and must resolve to addresses of hosts (see addressBlocks).
// An https name that does not resolve now is accepted, since every connection is checked anyway. resolver nil: the system's. Errors
// have one line.
func ParseTarget(ctx context.Context, text string, resolver *net.Resolver) (Target, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Hostname() == "" || (u.Scheme != "https" && u.Scheme != "http"):
		return Target{}, errors.New("it is not like https://pay.example.org/redrain")
	case u.User != nil || u.Fragment != "":
		return Target{}, errors.New("it must have no user, no password and no fragment: payouts are signed")
	}
	if resolver == nil {
		resolver = net.DefaultResolver
	}
	t := Target{address: text, plain: u.Scheme == "http", resolver: resolver}
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	addresses, err := resolver.LookupNetIP(ctx, "ip", u.Hostname())
	if err != nil && t.plain {
		return Target{}, fmt.Errorf("%s is not this machine, and only that is reached by http", u.Hostname())
	}
	for _, address := range addresses {
		if err := t.allow(address); err != nil {
			return Target{}, fmt.Errorf("%s: %w", u.Hostname(), err)
		}
	}
	return t, nil
}

// allow returns an error for addresses to which payouts must not be sent.
func (t Target) allow(address netip.Addr) error {
	address = address.Unmap().WithZone("")
	if b := blockOf(address); !b.allowed {
		return fmt.Errorf("%s is %s", address, b.purpose)
	}
	if t.plain && !address.IsLoopback() {
		return fmt.Errorf("%s is not this machine, and only that is reached by http", address)
	}
	return nil
}

// client returns a client that connects only to allowed addresses, checked after resolving, and follows no redirects.
func (t Target) client(timeout time.Duration) *http.Client {
	dialer := &net.Dialer{Timeout: timeout, Resolver: t.resolver, Control: func(_, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil {
			return fmt.Errorf("connect to %q: %w", address, err)
		}
		return t.allow(at.Addr())
	}}
	return &http.Client{
		Timeout:       timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext: dialer.DialContext, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: postConcurrency, IdleConnTimeout: time.Minute,
			MaxResponseHeaderBytes: 64 << 10,
		},
	}
}
