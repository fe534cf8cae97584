package api

import (
	"net/http"
	"net/url"
	"strings"
)

// Origins says which web pages may act for their visitors here: those of this site and those that are allowed by name.
// The gate keeps the same rule for sockets.
type Origins struct {
	// Public is PUBLIC_URL, empty if there is none.
	Public string
	// Allowed are further origins, like https://example.org.
	Allowed []string
}

// Check reports whether r has an Origin header, and whether that origin is allowed. A browser sends the header with every
// upgrade and every request that changes something, and no page can leave it out or choose it. A request without one
// comes from a program: it must prove itself with a token, for cookies are what browsers add unasked.
func (o Origins) Check(r *http.Request) (present, ok bool) {
	headers := r.Header.Values("Origin")
	if len(headers) == 0 {
		return false, false
	}
	if len(headers) > 1 {
		return true, false
	}
	origin, valid := parseOrigin(headers[0])
	return true, valid && (o.isNamed(origin) || o.isOwn(origin, r))
}

func (o Origins) isNamed(origin origin) bool {
	for _, text := range append([]string{o.Public}, o.Allowed...) {
		if named, valid := parseOrigin(text); valid && named == origin {
			return true
		}
	}
	return false
}

// isOwn compares with the host that the request was sent to. Where PUBLIC_URL says how this host is reached, a page that
// came over another scheme is a stranger: plain HTTP can be forged on its way.
func (o Origins) isOwn(origin origin, r *http.Request) bool {
	if public, valid := parseOrigin(o.Public); valid && public.host == origin.host {
		return false // isNamed has compared all of it
	}
	own, valid := parseOrigin(origin.scheme + "://" + r.Host)
	return valid && own == origin && (r.TLS == nil || origin.scheme == "https")
}

// origin is a scheme and a host in lower case, without the scheme's own port.
type origin struct{ scheme, host string }

func parseOrigin(text string) (origin, bool) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || (u.Path != "" && u.Path != "/") || u.RawQuery != "" {
		return origin{}, false
	}
	host := strings.ToLower(u.Host)
	switch u.Scheme {
	case "http":
		host = strings.TrimSuffix(host, ":80")
	case "https":
		host = strings.TrimSuffix(host, ":443")
	default:
		return origin{}, false
	}
	return origin{u.Scheme, host}, true
}
