package gate

import (
	"encoding/binary"
	"io"
	"net"
	"sync"
	"time"
)

// socket is the connection under a WebSocket. The library reads from it and writes its control frames to it, each in one
// call; text frames are written here, as many as wait in one call, which the library cannot do. The lock keeps frames whole.
// Safe for concurrent use.
type socket struct {
	net.Conn

	in     io.Reader     // what the client sent early, and then the connection
	budget *budget       // of what is read
	within time.Duration // that one write may take, and half of that at the least

	mu       sync.Mutex
	deadline time.Time // of writes, as it was set last
}

// Read is the library's way of reading. It fails with errOverBudget once the client has sent too much.
func (s *socket) Read(into []byte) (int, error) {
	n, err := s.in.Read(into)
	if !s.budget.allow(into[:n]) {
		return 0, errOverBudget
	}
	return n, err //nolint:wrapcheck // for the library
}

// extendWriteDeadline sets the deadline of the next write. Setting one costs about as much as a small write's bookkeeping, so it is moved
// only when half of it has passed.
func (s *socket) extendWriteDeadline() {
	if now := time.Now(); s.deadline.Sub(now) < s.within/2 {
		s.deadline = now.Add(s.within)
		_ = s.SetWriteDeadline(s.deadline) // fails on a closed connection, as the write will
	}
}

// Write is the library's way of writing.
func (s *socket) Write(frame []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.extendWriteDeadline()
	return s.Conn.Write(frame) //nolint:wrapcheck // for the library
}

// mostAtOnce is how many bytes are gathered before they are written.
const mostAtOnce = 64 << 10

var gathering = sync.Pool{New: func() any { b := make([]byte, 0, 4<<10); return &b }}

// writeTexts writes text frames, in order, in as few calls as their size allows. Copying them together costs far less
// than a call each.
func (s *socket) writeTexts(texts [][]byte) error {
	gathered, _ := gathering.Get().(*[]byte)
	defer gathering.Put(gathered)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.extendWriteDeadline()
	out := (*gathered)[:0]
	for i, text := range texts {
		out = appendText(out, text)
		if len(out) < mostAtOnce && i < len(texts)-1 {
			continue
		}
		if _, err := s.Conn.Write(out); err != nil {
			return err //nolint:wrapcheck // whoever writes only wants to know whether it failed
		}
		out = out[:0]
	}
	*gathered = out
	return nil
}

// appendText appends one unfragmented, unmasked text frame: RFC 6455, section 5.2.
func appendText(dst, text []byte) []byte {
	const finalText = 0x81
	switch n := len(text); {
	case n < 126:
		dst = append(dst, finalText, byte(n))
	case n < 1<<16:
		dst = binary.BigEndian.AppendUint16(append(dst, finalText, 126), uint16(n))
	default:
		dst = binary.BigEndian.AppendUint64(append(dst, finalText, 127), uint64(n))
	}
	return append(dst, text...)
}
