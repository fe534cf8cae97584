package api

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"
)

// Proxies are the networks of the trusted reverse proxies in front of this server. Forwarded headers count only from them.
type Proxies []netip.Prefix

// ClientIP returns a function that finds a client's address: if the connection comes from a trusted proxy, the last one that the
// proxies forward and that is no trusted proxy itself; else the address of the connection.
func (p Proxies) ClientIP() func(*http.Request) string {
	return func(r *http.Request) string {
		client, err := parseHop(r.RemoteAddr)
		if err != nil {
			return r.RemoteAddr
		}
		for _, hop := range slices.Backward(forwardedHops(r)) {
			address, err := parseHop(hop)
			if err != nil || !p.contain(client) {
				break
			}
			client = address
		}
		return client.String()
	}
}

func (p Proxies) contain(address netip.Addr) bool {
	return slices.ContainsFunc(p, func(network netip.Prefix) bool { return network.Contains(address) })
}

// parseHop parses an address as proxies write it: with or without a port, and with brackets or without.
func parseHop(text string) (netip.Addr, error) {
	if address, err := netip.ParseAddrPort(text); err == nil {
		return address.Addr().Unmap().WithZone(""), nil
	}
	if inside, ok := strings.CutPrefix(text, "["); ok {
		text = strings.TrimSuffix(inside, "]")
	}
	address, err := netip.ParseAddr(text)
	return address.Unmap().WithZone(""), err //nolint:wrapcheck // only whether it failed matters
}

// forwardedHops returns what proxies say about whom they forward for, the last proxy's words last. X-Forwarded-For wins over Forwarded:
// proxies that send the former pass the client's own Forwarded on.
func forwardedHops(r *http.Request) []string {
	if values := r.Header.Values(echo.HeaderXForwardedFor); len(values) > 0 {
		hops := strings.Split(strings.Join(values, ","), ",")
		for i := range hops {
			hops[i] = strings.TrimSpace(hops[i])
		}
		return hops
	}
	return forwarded(r, "for")
}

// forwarded returns one parameter of each element of the Forwarded headers (RFC 7239); empty where an element has none.
func forwarded(r *http.Request, name string) []string {
	var found []string
	for element := range strings.SplitSeq(strings.Join(r.Header.Values("Forwarded"), ","), ",") {
		value := ""
		for pair := range strings.SplitSeq(element, ";") {
			if key, said, _ := strings.Cut(strings.TrimSpace(pair), "="); strings.EqualFold(key, name) {
				value = strings.Trim(said, `"`)
			}
		}
		found = append(found, value)
	}
	return found
}

// isHTTPS reports whether the client used TLS, to this server or to a trusted proxy.
func (p Proxies) isHTTPS(r *http.Request) bool {
	if r.TLS != nil {
		return true
	}
	if peer, err := parseHop(r.RemoteAddr); err != nil || !p.contain(peer) {
		return false
	}
	protocol := r.Header.Get(echo.HeaderXForwardedProto)
	if protocol == "" {
		said := forwarded(r, "proto")
		protocol = said[len(said)-1]
	}
	return strings.EqualFold(protocol, "https")
}

// ClientNetwork returns a function that finds the network that counts as one client: the address that ClientIP finds, or its /64.
func (p Proxies) ClientNetwork() func(*http.Request) string {
	address := p.ClientIP()
	return func(r *http.Request) string { return clientNetwork(address(r)) }
}

// clientNetwork returns the network that counts as one client: an IPv4 address, or the /64 of an IPv6 address, since an IPv6
// client can use any address in its /64.
func clientNetwork(ip string) string { return networkOf(ip, 64) }

// clientSite returns the largest network that is usually one customer's: an IPv4 address, or the /48 of an IPv6 address.
func clientSite(ip string) string { return networkOf(ip, 48) }

func networkOf(ip string, bitsOfIPv6 int) string {
	address, err := netip.ParseAddr(ip)
	if err != nil {
		return ip
	}
	if address = address.Unmap(); address.Is4() {
		return address.String()
	}
	prefix, err := address.WithZone("").Prefix(bitsOfIPv6)
	if err != nil {
		return ip
	}
	return prefix.String()
}
