// Package api is the HTTP side of redrain: pages, the JSON API of internal/wire/protocol.md, sessions, health and metrics.
//
// What holds here:
//
//   - Every refusal of the API is one JSON error with a code (errors.go), never a stack trace or an HTML page.
//   - A request that changes something comes with a bearer token, or with a cookie and from an allowed Origin (auth.go).
//   - A client's address is what the connection says; forwarded headers count only from configured proxies (address.go).
//   - The secret of a round leaves through wire.RoundOf alone, which shows it once the round is settled.
//   - Nothing stands between http.Server and the WebSocket gate: no compression, no timeout, no wrapped writer (server.go).
//   - What strangers can make this package remember is bounded (limiter.go).
package api
