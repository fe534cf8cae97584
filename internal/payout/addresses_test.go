package payout

import (
	"net/netip"
	"testing"
)

// The IANA IPv4 and IPv6 special-purpose address registries, entry by entry, and whether payouts may go there.
var specialPurpose = map[string]bool{
	"0.0.0.0/8": false, "0.0.0.0/32": false, "10.0.0.0/8": true, "100.64.0.0/10": true, "127.0.0.0/8": true, "169.254.0.0/16": false,
	"172.16.0.0/12": true, "192.0.0.0/24": false, "192.0.0.0/29": false, "192.0.0.8/32": false, "192.0.0.9/32": false,
	"192.0.0.10/32": false, "192.0.0.170/32": false, "192.0.0.171/32": false, "192.0.2.0/24": false, "192.31.196.0/24": false,
	"192.52.193.0/24": false, "192.88.99.0/24": false, "192.88.99.2/32": false, "192.168.0.0/16": true, "192.175.48.0/24": false,
	"198.18.0.0/15": false, "198.51.100.0/24": false, "203.0.113.0/24": false, "240.0.0.0/4": false, "255.255.255.255/32": false,

	"::1/128": true, "::/128": false, "64:ff9b:1::/48": false, "100::/64": false, "100:0:0:1::/64": false, "2001::/23": false,
	"2001::/32": false, "2001:1::1/128": false, "2001:1::2/128": false, "2001:1::3/128": false, "2001:2::/48": false, "2001:3::/32": false,
	"2001:4:112::/48": false, "2001:10::/28": false, "2001:20::/28": false, "2001:30::/28": false, "2001:db8::/32": false,
	"2002::/16": false, "2620:4f:8000::/48": false, "3fff::/20": false, "5f00::/16": false, "fc00::/7": true, "fe80::/10": false,

	// Not in the registries: multicast, IPv4 in deprecated forms, what is not given to hosts, and metadata services of clouds.
	"224.0.0.0/4": false, "ff00::/8": false, "::2/127": false, "::a00:0/104": false, "::ffff:0:0:0/96": false, "fec0::/10": false, "4000::/3": false,
	"100.100.100.200/32": false, "168.63.129.16/32": false, "192.0.0.192/32": false, "fd00:ec2::254/128": false, "fd20:ce::254/128": false,
	// Addresses on the internet.
	"8.8.8.0/24": true, "1.0.0.0/8": true, "223.255.255.0/24": true, "2000::/16": true, "2001:200::/23": true, "2606:4700::/32": true, "2a00::/12": true,
}

func lastOf(prefix netip.Prefix) netip.Addr {
	bytes := prefix.Addr().AsSlice()
	for bit := prefix.Bits(); bit < len(bytes)*8; bit++ {
		bytes[bit/8] |= 1 << (7 - bit%8)
	}
	last, _ := netip.AddrFromSlice(bytes)
	return last
}

func TestEverySpecialAddressIsJudged(t *testing.T) {
	https, http := Target{}, Target{plain: true}
	for text, want := range specialPurpose {
		prefix := netip.MustParsePrefix(text)
		for _, address := range []netip.Addr{prefix.Addr(), lastOf(prefix), lastOf(prefix).Prev()} {
			if !prefix.Contains(address) {
				continue // of a block of one address
			}
			if err := https.allow(address); (err == nil) != want {
				t.Errorf("%s of %s: %v", address, text, err)
			}
			if err := http.allow(address); (err == nil) != address.IsLoopback() {
				t.Errorf("%s of %s by http: %v", address, text, err)
			}
		}
	}
	if https.allow(netip.Addr{}) == nil {
		t.Error("an invalid address is allowed")
	}
}

// An IPv4 address within an IPv6 one leads to the same host, so it is judged as that, or refused whatever it is.
func TestIPv4WithinIPv6IsJudged(t *testing.T) {
	for text, want := range map[string]bool{"8.8.8.8": true, "169.254.169.254": false, "127.0.0.1": false, "10.1.2.3": false, "0.0.0.0": false, "100.100.100.200": false} {
		v4 := netip.MustParseAddr(text).As4()
		within := func(prefix string, at int) netip.Addr {
			bytes := netip.MustParseAddr(prefix).As16()
			copy(bytes[at:], v4[:])
			return netip.AddrFrom16(bytes)
		}
		nat64 := within("64:ff9b::", 12)
		if err := (Target{}).allow(nat64); (err == nil) != want {
			t.Errorf("%s in %s: %v", text, nat64, err)
		}
		teredo := within("2001::", 12)
		for _, address := range []netip.Addr{within("64:ff9b:1::", 12), within("64:ff9b:1::", 6), within("2002::", 2), within("::", 12), within("2001::", 4), teredo, within("::ffff:0:0:0", 12)} {
			if err := (Target{}).allow(address); err == nil {
				t.Errorf("%s in %s is allowed", text, address)
			}
		}
		mapped := netip.AddrFrom16(netip.AddrFrom4(v4).As16())
		if got, plain := (Target{}).allow(mapped), (Target{}).allow(netip.AddrFrom4(v4)); (got == nil) != (plain == nil) {
			t.Errorf("%s mapped: %v, itself: %v", text, got, plain)
		}
	}
}
