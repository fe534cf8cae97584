package api

import (
	"net/http"
	"net/url"
	"strings"
)

// Origins are the origins of the web pages whose requests may use their visitors' cookies: this site's own and configured ones.
// The gate applies the same rule to WebSockets.
type Origins struct {
	// Public is PUBLIC_URL, empty if there is none.
	Public string
	// Allowed are further origins, like https://example.org.
	Allowed []string
}

// Check reports whether r has an Origin header, and whether that origin is allowed. A browser sends the header with every
// upgrade and every request that changes something, and no page can omit or choose it. A request without one does not come
// from a page: it needs a bearer token, since a browser may add cookies to a request that another site caused.
func (o Origins) Check(r *http.Request) (present, ok bool) {
	headers := r.Header.Values("Origin")
	if len(headers) == 0 {
		return false, false
	}
	if len(headers) > 1 {
		return true, false
	}
	origin, valid := parseOrigin(headers[0])
	return true, valid && (o.isConfigured(origin) || o.isSameOrigin(origin, r))
}

func (o Origins) isConfigured(origin origin) bool {
	for _, text := range append([]string{o.Public}, o.Allowed...) {
		if named, valid := parseOrigin(text); valid && named == origin {
			return true
		}
	}
	return false
}

// isSameOrigin reports whether an origin is the host that the request was sent to. If PUBLIC_URL names this host, only its own
// scheme is allowed: a page that came over plain HTTP may have been forged.
func (o Origins) isSameOrigin(origin origin, r *http.Request) bool {
	if public, valid := parseOrigin(o.Public); valid && public.host == origin.host {
		return false // isConfigured has compared host and scheme
	}
	own, valid := parseOrigin(origin.scheme + "://" + r.Host)
	return valid && own == origin && (r.TLS == nil || origin.scheme == "https")
}

// NeedsHTTPS reports whether a request comes from a page of this site that was opened over plain HTTP though PUBLIC_URL is https: its
// browser does not keep the cookie of a session, which is Secure. A page of ALLOWED_ORIGINS may do so.
func (o Origins) NeedsHTTPS(r *http.Request) bool {
	public, _ := parseOrigin(o.Public)
	page, valid := parseOrigin(r.Header.Get("Origin"))
	if !valid || page.scheme != "http" || public.scheme != "https" || o.isConfigured(page) {
		return false
	}
	own, _ := parseOrigin("http://" + r.Host)
	return page == own || page.host == public.host
}

// origin is a scheme and a host in lower case, without the scheme's default port.
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
