package api

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"
)

// Proxies are the networks of the trusted reverse proxies in front of this server. Forwarded headers count only from them.
type Proxies []netip.Prefix

// ClientIP returns a function that finds a client's address: if the connection comes from a trusted proxy, the last one in
// X-Forwarded-For that is no trusted proxy itself; else the address of the connection.
func (p Proxies) ClientIP() func(*http.Request) string {
	if len(p) == 0 {
		return echo.ExtractIPDirect()
	}
	// By default Echo trusts loopback, link-local and private networks.
	trust := []echo.TrustOption{echo.TrustLoopback(false), echo.TrustLinkLocal(false), echo.TrustPrivateNet(false)}
	for _, prefix := range p {
		address := prefix.Masked().Addr()
		network := net.IPNet{IP: address.AsSlice(), Mask: net.CIDRMask(prefix.Bits(), address.BitLen())}
		trust = append(trust, echo.TrustIPRange(&network))
	}
	return echo.ExtractIPFromXFFHeader(trust...)
}

// isHTTPS reports whether the client used TLS, to this server or to a trusted proxy.
func (p Proxies) isHTTPS(r *http.Request) bool {
	if r.TLS != nil {
		return true
	}
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && p.contain(peer.Addr().Unmap()) && strings.EqualFold(r.Header.Get(echo.HeaderXForwardedProto), "https")
}

func (p Proxies) contain(address netip.Addr) bool {
	return slices.ContainsFunc(p, func(prefix netip.Prefix) bool { return prefix.Contains(address) })
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
