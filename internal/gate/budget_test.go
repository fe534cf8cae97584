package gate_test

import (
	"bytes"
	"testing"

	"golang.org/x/time/rate"

	"redrain/internal/gate"
	"redrain/internal/testkit"
	"redrain/internal/wire"
)

// Whatever a client sends costs it: the frames that are answered by the library alone, those that carry nothing, and bytes that
// belong to a message that is refused already.
func TestWhateverAClientSendsCountsAgainstItsBudget(t *testing.T) {
	i := newSite(t).instance(func(o *gate.Options) { o.FramesPerSecond = rate.Limit(5) })
	other := testkit.Connect(t, i.as("bob"))
	many := func(frame []byte) []byte { return bytes.Repeat(frame, 1000) }
	for name, flood := range map[string][]byte{
		"pings":                  many(frame(fin|opPing, "")),
		"pings of 125 bytes":     many(frame(fin|opPing, padded(125))),
		"pongs":                  many(frame(fin|opPong, "")),
		"empty continuations":    append(frame(opText, ""), many(frame(opContinue, ""))...),
		"pings within a text":    append(frame(opText, ""), many(frame(fin|opPing, ""))...),
		"texts":                  many(frame(fin|opText, `{"type":"ping","sent":1}`)),
		"texts of the full size": many(frame(fin|opText, padded(1024))),
	} {
		t.Run(name, func(t *testing.T) {
			r := dialRaw(t, i.as("ann"))
			r.patience()
			_, _ = r.conn.Write(flood) // the server may stop reading within it
			if code, reason := r.closeFrame(); code != int(wire.CloseTooManyErrors) {
				t.Errorf("closed with %d %s, want %d", code, reason, wire.CloseTooManyErrors)
			}
		})
		t.Run(name+" with the upgrade", func(t *testing.T) {
			r := dialRaw(t, i.as("ann"), flood[:4000]...)
			r.patience()
			_, _ = r.conn.Write(flood[4000:])
			if code, reason := r.closeFrame(); code != int(wire.CloseTooManyErrors) {
				t.Errorf("closed with %d %s, want %d", code, reason, wire.CloseTooManyErrors)
			}
		})
	}
	other.Ping(1)
}
