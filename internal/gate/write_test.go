package gate_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"redrain/internal/game"
	"redrain/internal/gate"
	"redrain/internal/testkit"
	"redrain/internal/wire"
)

// notices sends n notices of about a kilobyte to everybody in the room, no faster than these clients read.
func (i *instance) notices(n int, reading ...*testkit.Client) {
	const burst = 16
	for k := range n {
		code := fmt.Sprint(k)
		i.rooms.HandleEvent(game.Event{Room: room, Notice: wire.Encode(wire.Notice{Code: code, Text: strings.Repeat("雨", 333)})})
		for _, c := range reading {
			if k%burst == burst-1 || k == n-1 {
				testkit.Expect(c, func(said wire.Notice) bool { return said.Code == code })
			}
		}
	}
}

// Who stops reading is cut, with a code that says so when they read on. Nobody else waits, memory does not grow with
// what they did not read, and no goroutine stays.
func TestWhoDoesNotReadIsCut(t *testing.T) {
	i := newSite(t).instance(func(o *gate.Options) { o.Queue = 64 })
	reading := testkit.Connect(t, i.screen())
	player := testkit.Connect(t, i.as("ann"))
	reading.Ping(1)
	goroutines := runtime.NumGoroutine()
	var silent []*rawClient
	for range 10 {
		silent = append(silent, dialRaw(t, i.screen()))
	}
	testkit.Eventually(t, 10*time.Second, func() error {
		if n := i.gate.Connections(); n != 12 {
			return fmt.Errorf("%d connections", n)
		}
		return nil
	})
	before := heap()
	i.notices(2000, reading, player)                            // 2 MB for each of them, if somebody kept it; others are served as always
	if grown := int64(heap()) - int64(before); grown > 10<<20 { //nolint:gosec // sizes of a test
		t.Errorf("memory grew by %d bytes", grown) // what the two readers keep is 4 MB
	}
	for _, r := range silent {
		if code, reason := r.closeFrame(); code != int(wire.CloseSlowConsumer) || reason != "slow_consumer" {
			t.Errorf("closed with %d %s, want 4001", code, reason)
		}
		_ = r.conn.Close()
	}
	testkit.Eventually(t, 10*time.Second, func() error {
		if n, now := i.gate.Connections(), runtime.NumGoroutine(); n != 2 || now > goroutines+2 {
			return fmt.Errorf("%d connections and %d goroutines, %d before", n, now, goroutines)
		}
		return nil
	})
	reading.Ping(2)
}

// Who never reads again is dropped without a word, after the time that one write may take.
func TestWhoNeverReadsIsDropped(t *testing.T) {
	i := newSite(t).instance(func(o *gate.Options) { o.Queue, o.WriteFor = 64, 100*time.Millisecond })
	dialRaw(t, i.screen())
	reading := testkit.Connect(t, i.screen())
	i.notices(600, reading)
	testkit.Eventually(t, 10*time.Second, func() error {
		if n := i.gate.Connections(); n != 1 {
			return fmt.Errorf("%d connections", n)
		}
		return nil
	})
}

// A player who reads nothing while tapping waits for nobody but themself. They tap until they are cut: how many answers the kernel keeps
// for them first is not the test's matter.
func TestATapperWhoDoesNotReadIsCut(t *testing.T) {
	s := newSite(t)
	i := s.instance(manyFrames, func(o *gate.Options) { o.Queue, o.WriteFor = 64, 100*time.Millisecond })
	round := s.rain()
	other := testkit.Connect(t, i.as("bob"))
	silent := dialRaw(t, i.as("ann"))
	tap := frame(fin|opText, fmt.Sprintf(`{"type":"tap","round":%q,"drop":%d}`, round.ID, 999_999))
	if err := silent.conn.SetWriteDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	var cut error
	for taps := bytes.Repeat(tap, 100); cut == nil; {
		_, cut = silent.conn.Write(taps)
	}
	if isTimeout(cut) {
		t.Fatal("nobody cuts a player who taps and does not read")
	}
	testkit.Eventually(t, 10*time.Second, func() error {
		if n := i.gate.Connections(); n != 1 {
			return fmt.Errorf("%d connections", n)
		}
		return nil
	})
	other.Ping(1)
}

// TCP can die silently. Who does not answer a ping is gone, and no longer online.
func TestADeadConnectionIsGoneAndPresenceClears(t *testing.T) {
	s := newSite(t)
	i := s.instance(func(o *gate.Options) { o.PingEvery, o.PongWithin = 50*time.Millisecond, 200*time.Millisecond })
	s.rain()
	host := testkit.Connect(t, i.host()) // answers its pings
	dead := dialRaw(t, i.as("ann"))      // never reads, so never answers
	testkit.Expect(host, func(tally wire.Tally) bool { return tally.Online == 1 })
	testkit.Expect(host, func(tally wire.Tally) bool { return tally.Online == 0 })
	if code, reason := dead.closeFrame(); code != int(wire.ClosePingTimeout) || reason != "ping_timeout" {
		t.Errorf("closed with %d %s", code, reason)
	}
	testkit.Eventually(t, 10*time.Second, func() error {
		if n := i.gate.Connections(); n != 1 {
			return fmt.Errorf("%d connections", n)
		}
		return nil
	})
	host.Ping(1) // many pings old
}

// A proxy cuts sockets that are idle for 60 s.
func TestPingsComeWithin25Seconds(t *testing.T) {
	i := newSite(t).instance(func(o *gate.Options) { o.PingEvery = 30 * time.Millisecond })
	r := dialRaw(t, i.screen())
	for range 3 {
		for {
			first, payload, err := r.next()
			if err != nil {
				t.Fatal(err)
			}
			if first == fin|opPing {
				r.send(fin|0xA, string(payload))
				break
			}
		}
	}
	defaults := gate.DefaultPings()
	if defaults[0] > 25*time.Second || defaults[0]+defaults[1] > 30*time.Second {
		t.Errorf("a ping every %v, answered within %v", defaults[0], defaults[1])
	}
}

// When an instance stops, results that are due are written before the goodbye.
func TestCloseDeliversWhatIsDueAndSaysComeBack(t *testing.T) {
	s := newSite(t)
	i := s.instance()
	round := s.rain()
	c, screen := testkit.Connect(t, i.as("ann")), testkit.Connect(t, i.screen())
	falling := drops(t, c, round, 10)
	for _, drop := range falling {
		c.Tap(round.ID, drop.Drop)
	}
	c.Ping(1) // all taps are with the committer now
	if err := i.committer.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := i.gate.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.WantClose(wire.CloseGoingAway)
	screen.WantClose(wire.CloseGoingAway)
	heard := make(map[game.DropID]bool)
	for _, result := range testkit.All[wire.Result](c) {
		heard[result.Drop] = true
	}
	if len(heard) != len(falling) {
		t.Errorf("%d results of %d taps before the end", len(heard), len(falling))
	}
	if n := i.gate.Connections(); n != 0 {
		t.Errorf("%d connections after Close", n)
	}
}

// Close does not wait longer than its context for those who do not answer.
func TestCloseDropsWhoDoesNotAnswer(t *testing.T) {
	i := newSite(t).instance()
	silent, clogged := dialRaw(t, i.screen()), dialRaw(t, i.screen())
	reading := testkit.Connect(t, i.screen())
	i.notices(450, reading) // one that reads a little, one that does not, and one that leaves
	silent.message("notice")
	reading.Leave()
	testkit.Eventually(t, 10*time.Second, func() error {
		if i.gate.Connections() != 2 {
			return errNotYet
		}
		return nil
	})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	if err := i.gate.Close(ctx); err == nil {
		t.Error("Close says that all was in order")
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("Close took %v", took)
	}
	if n := i.gate.Connections(); n != 0 {
		t.Errorf("%d connections after Close", n)
	}
	for _, r := range []*rawClient{silent, clogged} {
		r.closeFrame() // it ends, with or without a word
	}
}

// A client that closes gets its close answered, and is gone.
func TestAClientsCloseIsAnswered(t *testing.T) {
	i := newSite(t).instance()
	r := dialRaw(t, i.screen())
	r.message("welcome")
	r.send(fin|opClose, "\x03\xe8bye")
	if code, _ := r.closeFrame(); code != 1000 {
		t.Errorf("answered with %d", code)
	}
	if _, _, err := r.next(); err != io.EOF { //nolint:errorlint // nothing wraps it here
		t.Errorf("then %v, want the end", err)
	}
	testkit.Eventually(t, 10*time.Second, func() error {
		if i.gate.Connections() != 0 {
			return errNotYet
		}
		return nil
	})
}

// A busy client's answer to a ping may be late: while its frames come it is alive.
func TestWhoSendsFramesIsAlive(t *testing.T) {
	i := newSite(t).instance(manyFrames, func(o *gate.Options) { o.PingEvery, o.PongWithin = 20*time.Millisecond, 300*time.Millisecond })
	r := dialRaw(t, i.screen())
	r.message("welcome")
	for start := time.Now(); time.Since(start) < time.Second; { // it reads, but answers no ping
		r.send(fin|opText, padded(30))
		r.message("pong")
	}
	if code, reason := r.closeFrame(); code != int(wire.ClosePingTimeout) {
		t.Errorf("then silent: closed with %d %s", code, reason)
	}
}
