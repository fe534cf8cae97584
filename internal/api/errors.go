package api

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"redrain/internal/game"
	"redrain/internal/wire"
)

// refusal is an error with its HTTP status, and the code, field and message that a client gets.
type refusal struct {
	status  int
	code    string
	field   string
	message string
}

func (r *refusal) Error() string { return r.message }

// The refusals of this package.
var (
	errUnauthorized   = &refusal{http.StatusUnauthorized, "unauthorized", "", "this needs a session: log in or join first"}
	errWrongPassword  = &refusal{http.StatusUnauthorized, "wrong_password", "password", "this is not the password"}
	errOriginRefused  = &refusal{http.StatusForbidden, "origin_refused", "", "pages of this origin may not connect: set PUBLIC_URL to it, or have the proxy pass the Host header on with its port"}
	errNeedsHTTPS     = &refusal{http.StatusForbidden, "https_required", "", "this page was opened by http, where browsers keep no session: open it by https, at PUBLIC_URL"}
	errRoomLocked     = &refusal{http.StatusForbidden, "room_locked", "", "the host has locked the room to newcomers"}
	errAppOnly        = &refusal{http.StatusForbidden, "app_only", "", "this room is entered through the host's own app"}
	errBlocked        = &refusal{http.StatusForbidden, "blocked", "", "the host has blocked this player"}
	errTokensOff      = &refusal{http.StatusForbidden, "tokens_off", "", "this server takes no tokens of other apps"}
	errBadToken       = &refusal{http.StatusUnauthorized, "bad_token", "token", "this token is not valid here, or not any more"}
	errPageNotFound   = &refusal{http.StatusNotFound, "not_found", "", "there is nothing at this address"}
	errRoomNotFound   = &refusal{http.StatusNotFound, "room_not_found", "", "there is no such room"}
	errRoundNotFound  = &refusal{http.StatusNotFound, "round_not_found", "", "there is no such round"}
	errPlayerNotFound = &refusal{http.StatusNotFound, "player_not_found", "", "there is no such player in this room"}
	errRoomFull       = &refusal{http.StatusForbidden, "room_full", "", "the room has as many players as it may"}
	errMethod         = &refusal{http.StatusMethodNotAllowed, "method_not_allowed", "", "this address does not take this method"}
	errRoomBusy       = &refusal{http.StatusConflict, "room_busy", "", "another round of the room is active"}
	errWrongPhase     = &refusal{http.StatusConflict, "wrong_phase", "", "the round's phase does not allow this"}
	errPayoutsOff     = &refusal{http.StatusConflict, "payouts_off", "", "nothing is paid out here: PAYOUT_WEBHOOK_URL is not set"}
	errKeysLost       = &refusal{http.StatusConflict, "keys_lost", "", "redis has lost the round's keys: it is frozen, and stopping it once more gives it up"}
	errTooLarge       = &refusal{http.StatusRequestEntityTooLarge, "too_large", "", "the request is too large"}
	errNotJSON        = &refusal{http.StatusUnsupportedMediaType, "not_json", "", "the Content-Type must be application/json"}
	errTooManyRequest = &refusal{http.StatusTooManyRequests, "too_many_requests", "", "too many requests, try again later"}
	errFault          = &refusal{http.StatusInternalServerError, "fault", "", "the server could not do this"}
	errFull           = &refusal{http.StatusServiceUnavailable, "full", "", "the server has no room for more connections right now, try again later"}
	errBusy           = &refusal{http.StatusServiceUnavailable, "busy", "", "the server could not do this in time, try again"}
)

func badRequest(field, message string) *refusal {
	return &refusal{http.StatusBadRequest, "bad_request", field, message}
}

func notReady(reason string) *refusal {
	return &refusal{http.StatusServiceUnavailable, "not_ready", "", reason}
}

// refusalsByError maps the errors of other packages to refusals.
var refusalsByError = []struct {
	err     error
	refusal *refusal
}{
	{game.ErrNotFound, errPageNotFound},
	{game.ErrRoomBusy, errRoomBusy},
	{game.ErrWrongPhase, errWrongPhase},
	{game.ErrNotYet, errWrongPhase},
	{game.ErrOff, errPayoutsOff},
	{game.ErrGone, errKeysLost},
	{game.ErrTorn, errKeysLost},
	{game.ErrTooMany, errTooManyRequest},
	{game.ErrBusy, errBusy},
	{game.ErrRefused, errBusy},
	{game.ErrUnknown, errBusy},
	{ErrUnauthorized, errUnauthorized},
	{context.DeadlineExceeded, errBusy},
	{context.Canceled, errBusy}, // the client is gone and reads no answer
}

// refusalFor maps every error to an HTTP status and a code.
func (s *Server) refusalFor(err error) *refusal {
	refused := refusalFor(err)
	if refused == errFault && s.Unavailable(err) {
		return errBusy
	}
	return refused
}

func refusalFor(err error) *refusal {
	if refused, ok := errors.AsType[*refusal](err); ok {
		return refused
	}
	if invalid, ok := errors.AsType[*game.Invalid](err); ok {
		return &refusal{http.StatusUnprocessableEntity, invalid.Code, invalid.Field, invalid.Message}
	}
	if bad, ok := errors.AsType[*wire.BadFrame](err); ok {
		status := http.StatusBadRequest
		if bad.Code == wire.CodeTooLarge {
			status = http.StatusRequestEntityTooLarge
		}
		return &refusal{status, bad.Code, bad.Field, bad.Message}
	}
	for _, known := range refusalsByError {
		if errors.Is(err, known.err) {
			return known.refusal
		}
	}
	if fromEcho, ok := errors.AsType[*echo.HTTPError](err); ok {
		return refusalForStatus(fromEcho.Code)
	}
	return errFault
}

// refusalForStatus maps the status of an error of Echo itself to a refusal.
func refusalForStatus(status int) *refusal {
	for _, known := range []*refusal{errPageNotFound, errMethod, errTooLarge, errNotJSON, errTooManyRequest, errUnauthorized} {
		if known.status == status {
			return known
		}
	}
	if status >= http.StatusBadRequest && status < http.StatusInternalServerError {
		return &refusal{status, "bad_request", "", "the request is not understood"}
	}
	return errFault
}

// replaceNotFound replaces game.ErrNotFound with the refusal that names what does not exist.
func replaceNotFound(err error, missing *refusal) error {
	if errors.Is(err, game.ErrNotFound) {
		return missing
	}
	return err
}

type errorAnswer struct {
	Error errorDetail `json:"error"`
}

type errorDetail struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Field   string `json:"field,omitempty"`
}

// handleError is Echo's error handler. It answers with an error in JSON or a page, and logs errors that are the server's fault.
func (s *Server) handleError(err error, c echo.Context) {
	refused := s.refusalFor(err)
	if refused.status == http.StatusInternalServerError {
		s.Logger.Error("request failed", "method", c.Request().Method, "path", c.Request().URL.Path, "error", err)
	}
	if errors.Is(err, errFromFuture) {
		s.clockSkewLog.Do(func() { s.Logger.Error("players or hosts are refused: set the clocks of all instances", "error", err) })
	}
	if c.Response().Committed {
		return
	}
	if refused == errPageNotFound && wantsPage(c.Request()) {
		err = c.HTML(refused.status, notFoundPage)
	} else {
		err = answer(c, refused.status, errorAnswer{errorDetail{refused.code, refused.message, refused.field}})
	}
	if err != nil {
		s.Logger.Debug("refusal not delivered", "error", err)
	}
}

// wantsPage reports whether a request comes from a person who opened a page, rather than from a client of the API.
func wantsPage(r *http.Request) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	return r.URL.Path != "/api" && !strings.HasPrefix(r.URL.Path, "/api/")
}

const notFoundPage = `<!doctype html>
<html lang="zh-CN" translate="no">
<meta charset="utf-8">
<meta name="google" content="notranslate">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>404 · redrain</title>
<link rel="stylesheet" href="/assets/shared/base.css">
<h1>404</h1>
<p>这里什么都没有。There is nothing at this address.</p>
<p><a href="/">回到首页 · Back to the start</a></p>
</html>
`

// answer writes a JSON response that must not be cached.
func answer(c echo.Context, status int, body any) error {
	text, err := wire.Marshal(body)
	if err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderCacheControl, "no-store")
	return c.Blob(status, echo.MIMEApplicationJSON, text)
}
