package api

import (
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/labstack/echo/v4"
)

// Proxies are the networks of the proxies in front of this server. What they say about a client is believed, what anybody
// else says is not.
type Proxies []netip.Prefix

// ClientIP returns a function that tells a client's address: the nearest one in X-Forwarded-For that is no proxy of ours
// if the connection comes from a proxy of ours, else the connection's own.
func (p Proxies) ClientIP() func(*http.Request) string {
	if len(p) == 0 {
		return echo.ExtractIPDirect()
	}
	// Echo would trust loopback, link-local and private networks unasked.
	trust := []echo.TrustOption{echo.TrustLoopback(false), echo.TrustLinkLocal(false), echo.TrustPrivateNet(false)}
	for _, prefix := range p {
		address := prefix.Masked().Addr()
		network := net.IPNet{IP: address.AsSlice(), Mask: net.CIDRMask(prefix.Bits(), address.BitLen())}
		trust = append(trust, echo.TrustIPRange(&network))
	}
	return echo.ExtractIPFromXFFHeader(trust...)
}

// https reports whether the client spoke TLS, to this server or to a proxy of ours.
func (p Proxies) https(r *http.Request) bool {
	if r.TLS != nil {
		return true
	}
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return false
	}
	for _, prefix := range p {
		if prefix.Contains(peer.Addr().Unmap()) {
			return strings.EqualFold(r.Header.Get(echo.HeaderXForwardedProto), "https")
		}
	}
	return false
}

// network is what counts as one client: an IPv4 address, or the /64 in which an IPv6 client picks addresses at will.
func network(ip string) string {
	address, err := netip.ParseAddr(ip)
	if err != nil {
		return ip
	}
	if address = address.Unmap(); address.Is4() {
		return address.String()
	}
	prefix, err := address.WithZone("").Prefix(64)
	if err != nil {
		return ip
	}
	return prefix.String()
}
