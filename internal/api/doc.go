// Package api serves HTTP: the pages, the JSON API of internal/wire/protocol.md, sessions, health and metrics.
//
// Rules of this package:
//
//   - Every refusal of the API is one JSON error with a code (errors.go), never a stack trace or an HTML page.
//   - A request that changes something needs a bearer token, or a cookie and an allowed Origin (auth.go).
//   - A client's address is that of the connection; forwarded headers count only from configured proxies (address.go).
//   - The secret of a round is only sent by wire.RoundOf, which includes it once the round is settled.
//   - Nothing wraps http.Server's connection for the WebSocket gate: no compression, no timeout, no middleware (server.go).
//   - Memory that unauthenticated clients can make this package use is bounded (limiter.go).
package api
