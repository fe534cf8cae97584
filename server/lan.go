package main

import (
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// lanHosts returns where other devices in this machine's networks reach a listener, as HOST:PORT, the most likely one first.
func lanHosts(listening net.Addr) []string {
	tcp, ok := listening.(*net.TCPAddr)
	if !ok || tcp.IP.IsLoopback() {
		return nil
	}
	addresses := []netip.Addr{tcp.AddrPort().Addr().Unmap()}
	if tcp.IP.IsUnspecified() {
		addresses = ownAddresses()
	}
	var hosts []string
	for _, address := range addresses {
		hosts = append(hosts, net.JoinHostPort(address.String(), strconv.Itoa(tcp.Port)))
	}
	return hosts
}

// ownAddresses are the IPv4 addresses of this machine's interfaces that are up: private ones first, and those of virtual networks last,
// in which no phone is.
func ownAddresses() []netip.Addr {
	interfaces, err := net.Interfaces()
	if err != nil {
		return nil
	}
	type candidate struct {
		address netip.Addr
		rank    int
	}
	var found []candidate
	for _, device := range interfaces {
		if device.Flags&net.FlagUp == 0 || device.Flags&net.FlagLoopback != 0 {
			continue
		}
		addresses, _ := device.Addrs() // an interface that is just going down has none
		for _, text := range addresses {
			if prefix, err := netip.ParsePrefix(text.String()); err == nil && prefix.Addr().Is4() && prefix.Addr().IsGlobalUnicast() {
				found = append(found, candidate{prefix.Addr(), rankAddress(device.Name, prefix.Addr())})
			}
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return a.rank - b.rank })
	own := make([]netip.Addr, len(found))
	for i, c := range found {
		own[i] = c.address
	}
	return own
}

// virtual begins the names of interfaces to containers, virtual machines and tunnels.
var virtual = []string{"docker", "br-", "veth", "virbr", "vmnet", "vboxnet", "tun", "tap", "wg", "utun", "cni", "flannel"}

func rankAddress(device string, address netip.Addr) int {
	rank := 0
	if !address.IsPrivate() {
		rank = 1
	}
	if slices.ContainsFunc(virtual, func(prefix string) bool { return strings.HasPrefix(device, prefix) }) {
		rank += 2
	}
	return rank
}
