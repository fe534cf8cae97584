package wire

// CloseCode is the code of a WebSocket close frame sent by this server. Its range tells a client what to do, so that a
// client needs no table: 4000–4099 come back after a growing, jittered delay, 4500–4599 do not come back by yourself.
type CloseCode int

// The close codes; their names are the reasons in the close frame.
const (
	CloseGoingAway     CloseCode = 4000 // this instance stops
	CloseSlowConsumer  CloseCode = 4001 // messages were not read in time
	ClosePingTimeout   CloseCode = 4002 // no answer to a ping
	CloseFault         CloseCode = 4003 // the server could not go on with this connection
	CloseSessionEnded  CloseCode = 4500 // the session is no longer valid
	CloseTooManyErrors CloseCode = 4501 // frames were refused again and again
	CloseBlocked       CloseCode = 4502 // the host has sent this player away
)

var closeReasons = map[CloseCode]string{
	CloseGoingAway:     "going_away",
	CloseSlowConsumer:  "slow_consumer",
	ClosePingTimeout:   "ping_timeout",
	CloseFault:         "fault",
	CloseSessionEnded:  "session_ended",
	CloseTooManyErrors: "too_many_errors",
	CloseBlocked:       "blocked",
}

// String is the reason in the close frame, empty for a code that is not in the protocol.
func (c CloseCode) String() string { return closeReasons[c] }

// ComeBack reports whether a client that was closed with c should connect again by itself.
func (c CloseCode) ComeBack() bool { return c >= 4000 && c <= 4099 }
