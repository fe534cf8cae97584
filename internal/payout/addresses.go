package payout

import "net/netip"

// addressBlock says of a block of addresses whether payouts may be posted to it, and what it is for.
type addressBlock struct {
	prefix  netip.Prefix
	allowed bool
	purpose string
}

const (
	allowed = true
	refused = false
)

func block(prefix string, allowed bool, purpose string) addressBlock {
	return addressBlock{netip.MustParsePrefix(prefix), allowed, purpose}
}

// addressBlocks are the IANA special-purpose address registries of IPv4 and IPv6, what is multicast, and the metadata services of
// clouds. The smallest block that contains an address decides. Private networks are allowed: a balance system is often in one.
// IPv6 blocks that contain IPv4 addresses are refused, except that of NAT64, through which some networks reach all of IPv4.
var addressBlocks = []addressBlock{
	block("0.0.0.0/0", allowed, "an address on the internet"),
	block("0.0.0.0/8", refused, "no host's address"),
	block("10.0.0.0/8", allowed, "a private network"),
	block("100.64.0.0/10", allowed, "shared address space, which private networks between sites use too"),
	block("100.100.100.200/32", refused, "a cloud's own"),
	block("127.0.0.0/8", allowed, "this machine"),
	block("168.63.129.16/32", refused, "a cloud's own"),
	block("169.254.0.0/16", refused, "link-local"),
	block("172.16.0.0/12", allowed, "a private network"),
	block("192.0.0.0/24", refused, "for protocols, or a cloud's own"),
	block("192.0.2.0/24", refused, "for documentation"),
	block("192.31.196.0/24", refused, "for DNS (AS112)"),
	block("192.52.193.0/24", refused, "for multicast tunnels (AMT)"),
	block("192.88.99.0/24", refused, "for 6to4 relays"),
	block("192.168.0.0/16", allowed, "a private network"),
	block("192.175.48.0/24", refused, "for DNS (AS112)"),
	block("198.18.0.0/15", refused, "for benchmarks"),
	block("198.51.100.0/24", refused, "for documentation"),
	block("203.0.113.0/24", refused, "for documentation"),
	block("224.0.0.0/4", refused, "multicast, no host's address"),
	block("240.0.0.0/4", refused, "reserved, no host's address"),

	block("::/0", refused, "not in use for hosts"),
	block("::/128", refused, "no host's address"),
	block("::/96", refused, "an IPv4 address in a form that is not in use"),
	block("::1/128", allowed, "this machine"),
	block("64:ff9b::/96", allowed, "an IPv4 address behind NAT64, which must be one on the internet"),
	block("64:ff9b:1::/48", refused, "an IPv4 address behind a network's own translation"),
	block("100::/64", refused, "for what is to be discarded"),
	block("100:0:0:1::/64", refused, "a dummy"),
	block("2000::/3", allowed, "an address on the internet"),
	block("2001::/23", refused, "for protocols"),
	block("2001::/32", refused, "an IPv4 address behind Teredo"),
	block("2001:2::/48", refused, "for benchmarks"),
	block("2001:db8::/32", refused, "for documentation"),
	block("2002::/16", refused, "an IPv4 address behind 6to4"),
	block("2620:4f:8000::/48", refused, "for DNS (AS112)"),
	block("3fff::/20", refused, "for documentation"),
	block("5f00::/16", refused, "for segment routing"),
	block("fc00::/7", allowed, "a private network"),
	block("fd00:ec2::254/128", refused, "a cloud's own"),
	block("fd20:ce::254/128", refused, "a cloud's own"),
	block("fe80::/10", refused, "link-local"),
	block("ff00::/8", refused, "multicast, no host's address"),
}

var (
	nat64Prefix = netip.MustParsePrefix("64:ff9b::/96")
	allOfIPv4   = netip.MustParsePrefix("0.0.0.0/0")
)

// blockOf returns the smallest block that contains an address. That of an invalid address is empty, and refused.
func blockOf(address netip.Addr) addressBlock {
	smallest := addressBlock{purpose: "no host's address"}
	for _, b := range addressBlocks {
		if b.prefix.Contains(address) && (!smallest.prefix.IsValid() || b.prefix.Bits() > smallest.prefix.Bits()) {
			smallest = b
		}
	}
	if smallest.prefix == nat64Prefix {
		bytes := address.As16()
		embedded := blockOf(netip.AddrFrom4([4]byte(bytes[12:])))
		smallest.allowed = embedded.prefix == allOfIPv4
	}
	return smallest
}
