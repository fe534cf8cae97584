package api

import (
	"net"
	"net/http"
	"net/netip"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"
)

// hostPattern matches a host with an optional port. A Host header that does not match is never copied into a response.
var hostPattern = regexp.MustCompile(`^([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?$`)

// joinAddress is where players reach this site. URLs have no slash at their end; the first is the most likely one.
type joinAddress struct {
	URLs []string `json:"urls"`
	// Reachable: other devices can open these URLs, as far as this server knows.
	Reachable bool `json:"reachable"`
}

// joinAddress returns PUBLIC_URL, or what this request was sent to. A host who opened the page as localhost cannot hand that to phones,
// so the addresses of this machine in its networks take its place, if it has any. ok is false if the Host header is not a host.
func (s *Server) joinAddress(r *http.Request) (address joinAddress, ok bool) {
	switch {
	case s.PublicURL != "":
		_, host, _ := strings.Cut(s.PublicURL, "://")
		return joinAddress{[]string{s.PublicURL}, !isNameOfThisMachine(host)}, true
	case !hostPattern.MatchString(r.Host):
		return joinAddress{}, false
	case !isNameOfThisMachine(r.Host):
		return joinAddress{[]string{s.scheme(r) + "://" + r.Host}, true}, true
	}
	var urls []string
	for _, host := range s.lanHosts() {
		urls = append(urls, "http://"+host)
	}
	if len(urls) == 0 {
		return joinAddress{[]string{s.scheme(r) + "://" + r.Host}, false}, true
	}
	return joinAddress{urls, true}, true
}

func (s *Server) lanHosts() []string {
	if s.LANHosts == nil {
		return nil
	}
	return s.LANHosts()
}

func (s *Server) scheme(r *http.Request) string {
	if s.Proxies.isHTTPS(r) {
		return "https"
	}
	return "http"
}

// isNameOfThisMachine reports whether a host, with or without a port, leads here from this machine only: a loopback one, or a name
// that its own /etc/hosts usually gives it. A host name with a dot is taken for one that the network's DNS knows.
func isNameOfThisMachine(host string) bool {
	switch name := hostName(host); name {
	case "localhost.localdomain", "ip6-localhost", "ip6-loopback":
		return true
	default:
		own, err := os.Hostname()
		return isLoopbackHost(host) || err == nil && !strings.Contains(own, ".") && strings.EqualFold(name, own)
	}
}

// hostName returns the name of a host without its port, brackets and final dot, in lower case.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}

// isLoopbackHost reports whether a host, with or without a port, means the device itself on every device.
func isLoopbackHost(host string) bool {
	host = hostName(host)
	if address, err := netip.ParseAddr(host); err == nil {
		address = address.Unmap()
		return address.IsLoopback() || address.IsUnspecified()
	}
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// showJoinAddress answers with the URLs at which players open a room.
func (s *Server) showJoinAddress(c echo.Context) error {
	room, err := s.readRoom(c)
	if err != nil {
		return err
	}
	address, ok := s.joinAddress(c.Request())
	if !ok {
		return errHostHeader
	}
	for i := range address.URLs {
		address.URLs[i] += "/r/" + room.Code
	}
	return answer(c, http.StatusOK, address)
}

var errHostHeader = badRequest("", "the Host header is not a host")

// chooseJoinURL returns the URL that the query asks for by its place in the list of showJoinAddress; the first without one.
func (s *Server) chooseJoinURL(c echo.Context) (string, error) {
	address, ok := s.joinAddress(c.Request())
	if !ok {
		return "", errHostHeader
	}
	at := 0
	if text := c.QueryParam("at"); text != "" {
		var err error
		if at, err = strconv.Atoi(text); err != nil || at < 0 || at >= len(address.URLs) {
			return "", badRequest("at", "at must be the place of one of the room's addresses, from 0")
		}
	}
	return address.URLs[at], nil
}
