package payout

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"syscall"
	"time"
)

// Target is where payouts are posted.
type Target struct {
	address  string
	plain    bool // http, which goes to this machine alone
	resolver *net.Resolver
}

// lookupWithin bounds the look at a name at the start.
const lookupWithin = 5 * time.Second

// ParseTarget checks the address of a webhook, in one line: it must be https, or http to this machine, and must not mean a
// link-local address. A name that cannot be looked up now is taken, if it is https: it is checked at every connection anyway.
// resolver nil: the system's own.
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
	ctx, cancel := context.WithTimeout(ctx, lookupWithin)
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

var (
	// translated are IPv4 addresses behind a gateway of IPv6 networks: their last 32 bits.
	translated = netip.MustParsePrefix("64:ff9b::/96")
	// metadata are the addresses of clouds' secrets that are not link-local.
	metadata = []netip.Addr{netip.MustParseAddr("fd00:ec2::254"), netip.MustParseAddr("100.100.100.200"), netip.MustParseAddr("192.0.0.192")}
)

// allow refuses addresses where no balance system is.
func (t Target) allow(address netip.Addr) error {
	address = address.Unmap().WithZone("")
	if translated.Contains(address) {
		bytes := address.As16()
		address = netip.AddrFrom4([4]byte(bytes[12:]))
	}
	switch {
	case address.IsLinkLocalUnicast() || slices.Contains(metadata, address):
		return fmt.Errorf("%s is link-local, or a cloud's own", address)
	case address.IsUnspecified() || address.IsMulticast() || !address.IsValid():
		return fmt.Errorf("%s is no host's address", address)
	case t.plain && !address.IsLoopback():
		return fmt.Errorf("%s is not this machine, and only that is reached by http", address)
	}
	return nil
}

// client connects to allowed addresses only, whatever the name means by then, and follows nobody.
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
			DialContext: dialer.DialContext, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: atOnce, IdleConnTimeout: time.Minute,
			MaxResponseHeaderBytes: 64 << 10,
		},
	}
}
