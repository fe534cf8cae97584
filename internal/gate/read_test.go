package gate_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"golang.org/x/time/rate"

	"redrain/internal/game"
	"redrain/internal/gate"
	"redrain/internal/testkit"
	"redrain/internal/wire"
)

const someRound = "11111111-2222-4333-8444-555555555555"

// Each frame that cannot be taken has one clear answer, changes nothing, and the connection stays.
func TestMalformedFrames(t *testing.T) {
	i := newSite(t).instance(manyFrames)
	tap := func(fields string) string { return `{"type":"tap",` + fields + `}` }
	for name, frame := range map[string]string{
		"empty":              ``,
		"not JSON":           `tap`,
		"cut short":          `{"type":"tap","round":"` + someRound,
		"two objects":        `{"type":"ping","sent":1}{"type":"ping","sent":2}`,
		"a list":             `[{"type":"ping","sent":1}]`,
		"null":               `null`,
		"a number":           `17`,
		"no type":            `{"sent":1}`,
		"type of a number":   `{"type":1,"sent":1}`,
		"unknown type":       `{"type":"win","cents":100}`,
		"a server's type":    `{"type":"result","round":"` + someRound + `","drop":1,"outcome":"won","cents":100}`,
		"another case":       `{"Type":"ping","sent":1}`,
		"field in capitals":  tap(`"round":"` + someRound + `","Drop":1`),
		"field twice":        tap(`"round":"` + someRound + `","drop":1,"drop":2`),
		"type twice":         `{"type":"ping","sent":1,"type":"ping"}`,
		"unknown field":      tap(`"round":"` + someRound + `","drop":1,"cents":100`),
		"missing drop":       tap(`"round":"` + someRound + `"`),
		"missing round":      tap(`"drop":1`),
		"null drop":          tap(`"round":"` + someRound + `","drop":null`),
		"drop as text":       tap(`"round":"` + someRound + `","drop":"1"`),
		"drop of a fraction": tap(`"round":"` + someRound + `","drop":1.5`),
		"drop as 1.0":        tap(`"round":"` + someRound + `","drop":1.0`),
		"drop with exponent": tap(`"round":"` + someRound + `","drop":1e1`),
		"drop zero":          tap(`"round":"` + someRound + `","drop":0`),
		"drop below zero":    tap(`"round":"` + someRound + `","drop":-1`),
		"huge drop":          tap(`"round":"` + someRound + `","drop":99999999999999999999`),
		"round of a number":  tap(`"round":1,"drop":1`),
		"not a UUID":         tap(`"round":"1","drop":1`),
		"UUID in capitals":   tap(`"round":"` + strings.ToUpper("aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee") + `","drop":1`),
		"sent below zero":    `{"type":"ping","sent":-1}`,
		"sent too large":     `{"type":"ping","sent":9007199254740992}`,
		"deep":               strings.Repeat("[", 500) + strings.Repeat("]", 500),
		"a comment":          `{"type":"ping",/* */"sent":1}`,
		"NaN":                `{"type":"ping","sent":NaN}`,
	} {
		t.Run(name, func(t *testing.T) {
			c := testkit.Connect(t, i.as("ann"))
			c.Send(frame)
			c.Ping(1) // everything before it was answered by now
			said := testkit.All[wire.Error](c)
			if len(said) != 1 || said[0].Code != wire.CodeBadFrame || said[0].Message == "" {
				t.Fatalf("answers %+v, want one bad_frame", said)
			}
			for _, inside := range []string{"Go ", "json:", "unmarshal", "game.", "wire.", "goroutine"} {
				if strings.Contains(said[0].Message, inside) {
					t.Errorf("the message tells of the inside: %s", said[0].Message)
				}
			}
			if results := testkit.All[wire.Result](c); len(results) != 0 {
				t.Errorf("results %v", results)
			}
		})
	}
}

// manyFrames lets a test send as fast as it likes.
func manyFrames(o *gate.Options) { o.FramesPerSecond = 1_000_000 }

func TestAfterTwentyRefusedFramesTheConnectionIsClosed(t *testing.T) {
	i := newSite(t).instance(manyFrames)
	c := testkit.Connect(t, i.as("ann"))
	for range 20 {
		c.Send(`{"type":"win"}`)
	}
	c.Ping(1)
	if said := testkit.All[wire.Error](c); len(said) != 20 {
		t.Fatalf("%d errors after 20 refused frames", len(said))
	}
	for range 5 { // one a second is forgiven, so it may take a few more
		if c.TrySend(websocket.MessageText, []byte(`{"type":"win"}`)) != nil {
			break
		}
	}
	c.WantClose(wire.CloseTooManyErrors)
}

func TestWhoSendsTooManyFramesIsClosed(t *testing.T) {
	i := newSite(t).instance(func(o *gate.Options) { o.FramesPerSecond = rate.Limit(5) })
	other := testkit.Connect(t, i.as("bob"))
	c := testkit.Connect(t, i.as("ann"))
	for range 100 {
		if c.TrySend(websocket.MessageText, []byte(`{"type":"ping","sent":1}`)) != nil {
			break
		}
	}
	c.WantClose(wire.CloseTooManyErrors)
	other.Ping(1)
}

func TestHostsAndScreensCannotTap(t *testing.T) {
	s := newSite(t)
	i := s.instance()
	round := s.rain()
	for _, visit := range []testkit.Visit{i.host(), i.screen()} {
		c := testkit.Connect(t, visit)
		c.Tap(round.ID, 1)
		if said := testkit.Expect[wire.Error](c, nil); said.Code != wire.CodeNotAPlayer {
			t.Errorf("%s hears %v", visit.Role, said)
		}
		c.Ping(1)
	}
}

func TestATapOnARoundThatTheRoomDoesNotHave(t *testing.T) {
	s := newSite(t)
	i := s.instance()
	foreign := game.Round{ID: someRound, Room: "SUNNY8", Settings: game.DefaultSettings(), Phase: game.Raining, Secret: game.NewSecret()}
	s.books.Keep(foreign)
	s.rain()
	c := testkit.Connect(t, i.as("ann"))
	for _, id := range []string{"aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee", foreign.ID} {
		c.Tap(id, 1)
		if said := testkit.Expect[wire.Error](c, nil); said.Code != wire.CodeUnknownRound {
			t.Errorf("%s: %v", id, said)
		}
	}
}

// padded is a ping of exactly n bytes.
func padded(n int) string {
	const ping = `{"type":"ping","sent":5}`
	return ping[:1] + strings.Repeat(" ", n-len(ping)) + ping[1:]
}

func TestAFrameMayHave1024Bytes(t *testing.T) {
	i := newSite(t).instance(manyFrames)         // every fragment counts as one
	for _, parts := range []int{1, 2, 7, 1024} { // fragments
		t.Run(fmt.Sprintf("%d fragments", parts), func(t *testing.T) {
			r := dialRaw(t, i.screen())
			r.sendParts(padded(1024), parts)
			if pong := r.message("pong"); !strings.Contains(pong, `"sent":5`) {
				t.Errorf("pong %s", pong)
			}
			r.sendParts(padded(1025), parts)
			if code, reason := r.closeFrame(); code != int(websocket.StatusMessageTooBig) {
				t.Errorf("1025 bytes: closed with %d %s, want 1009", code, reason)
			}
		})
	}
}

// sendParts sends one message in n fragments, a ping in between.
func (r *rawClient) sendParts(text string, n int) {
	r.t.Helper()
	size := (len(text) + n - 1) / n
	var all []byte
	for from := 0; from < len(text); from += size {
		to := min(from+size, len(text))
		first := byte(opContinue)
		if from == 0 {
			first = opText
		}
		if to == len(text) {
			first |= fin
		}
		all = append(all, frame(first, text[from:to])...)
		if from == 0 && to < len(text) {
			all = append(all, frame(fin|opPing, "between")...)
		}
	}
	r.write(all)
}

// A client need not wait for the answer to its upgrade; what it sends early, whole frames or a part of one, was once lost.
func TestFramesThatComeWithTheUpgradeCount(t *testing.T) {
	i := newSite(t).instance()
	text := append(frame(fin|opText, padded(600)), frame(fin|opText, padded(1024))...)
	for _, early := range []int{1, 2, 100, len(text) - 1, len(text)} {
		r := dialRaw(t, i.screen(), text[:early]...)
		r.write(text[early:])
		for range 2 {
			r.message("pong")
		}
	}
}

func TestAFragmentedTapCounts(t *testing.T) {
	s := newSite(t)
	i := s.instance()
	round := s.rain()
	watching := testkit.Connect(t, i.screen())
	drop := drops(t, watching, round, 1)[0]
	r := dialRaw(t, i.as("ann"))
	r.sendParts(fmt.Sprintf(`{"type":"tap","round":%q,"drop":%d}`, round.ID, drop.Drop), 9)
	if result := r.message("result"); !strings.Contains(result, `"outcome":"won"`) {
		t.Errorf("result %s", result)
	}
	// A character may be cut in two as long as the message is whole.
	r.sendParts(`{"type":"é😀"}`, 16)
	if said := r.message("error"); !strings.Contains(said, "é😀") {
		t.Errorf("error %s", said)
	}
}

// What is no valid text of at most 1 KiB ends the connection with a code that says why.
func TestFramesThatEndTheConnection(t *testing.T) {
	i := newSite(t).instance()
	unmasked := append([]byte{fin | opText, byte(len(padded(30)))}, padded(30)...)
	for name, test := range map[string]struct {
		frames []byte
		code   websocket.StatusCode // 0: any way of ending
	}{
		"invalid UTF-8":          {frame(fin|opText, "{\"type\":\"p\xffng\"}"), websocket.StatusInvalidFramePayloadData},
		"overlong UTF-8":         {frame(fin|opText, "{\"type\":\"\xc0\xaf\"}"), websocket.StatusInvalidFramePayloadData},
		"a surrogate":            {frame(fin|opText, "{\"type\":\"\xed\xa0\x80\"}"), websocket.StatusInvalidFramePayloadData},
		"a character cut short":  {frame(fin|opText, "{\"type\":\"\xe9\x9b"), websocket.StatusInvalidFramePayloadData},
		"binary":                 {frame(fin|opBinary, padded(30)), websocket.StatusUnsupportedData},
		"empty binary":           {frame(fin|opBinary, ""), websocket.StatusUnsupportedData},
		"compressed":             {frame(fin|rsv1|opText, padded(30)), websocket.StatusProtocolError},
		"unknown opcode":         {frame(fin|0x3, ""), websocket.StatusProtocolError},
		"continuation of none":   {frame(fin|opContinue, padded(30)), websocket.StatusProtocolError},
		"text within a text":     {append(frame(opText, "{"), frame(fin|opText, padded(30))...), websocket.StatusProtocolError},
		"ping over 125 bytes":    {frame(fin|opPing, strings.Repeat("p", 126)), websocket.StatusProtocolError},
		"ping in fragments":      {frame(opPing, "p"), websocket.StatusProtocolError},
		"not masked":             {unmasked, 0},
		"a length of 2^63 bytes": {[]byte{fin | opText, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := dialRaw(t, i.screen())
			r.write(test.frames)
			code, reason := r.closeFrame()
			if test.code != 0 && code != int(test.code) {
				t.Errorf("closed with %d %s, want %d", code, reason, test.code)
			}
		})
	}
	testkit.Connect(t, i.screen()).Ping(1)
}

// An 8 MB frame is cut off after its first kilobyte.
func TestHugeFramesCostNoMemory(t *testing.T) {
	i := newSite(t).instance()
	testkit.Connect(t, i.screen()) // what every connection needs is there
	before := heap()
	const clients = 6
	huge := frame(fin|opText, strings.Repeat("x", 8<<20))
	own := uint64(len(huge))
	var raws []*rawClient
	for range clients {
		r := dialRaw(t, i.screen())
		raws = append(raws, r)
		written := make(chan struct{})
		go func() { // the server stops reading somewhere
			defer close(written)
			_, _ = r.conn.Write(huge)
		}()
		if code, reason := r.closeFrame(); code != int(websocket.StatusMessageTooBig) {
			t.Errorf("closed with %d %s, want 1009", code, reason)
		}
		_ = r.conn.Close()
		<-written
	}
	if grown := int64(heap()) - int64(before+own); grown > 4<<20 { //nolint:gosec // sizes of a test
		t.Errorf("%d bytes more after %d frames of 8 MB", grown, clients)
	}
	runtime.KeepAlive(huge)
	runtime.KeepAlive(raws)
}

// heap is the memory in use after a collection, in bytes.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
