package gate_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"redrain/internal/testkit"
)

// rawClient is a client that frames by hand, so that it can break every rule, and reads only when it is told to.
type rawClient struct {
	t      *testing.T
	conn   *net.TCPConn
	reader *bufio.Reader
}

// The first byte of a frame.
const (
	fin        = 0x80
	rsv1       = 0x40
	opContinue = 0x0
	opText     = 0x1
	opBinary   = 0x2
	opClose    = 0x8
	opPing     = 0x9
	opPong     = 0xA
)

const rawWithin = 10 * time.Second

// dialRaw comes in with a small receive buffer and reads nothing after the upgrade. What is early goes out together with the
// request.
func dialRaw(t *testing.T, visit testkit.Visit, early ...byte) *rawClient {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(visit.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	r := &rawClient{t: t, conn: conn.(*net.TCPConn)}
	if err := r.conn.SetReadBuffer(64 << 10); err != nil {
		t.Fatal(err)
	}
	r.reader = bufio.NewReaderSize(conn, 1<<10)
	query := url.Values{"room": {visit.Room}, "role": {string(visit.Role)}, "token": {visit.Token}}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, visit.URL+"/ws?"+query.Encode(), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header = header("Connection", "Upgrade", "Upgrade", "websocket", "Sec-WebSocket-Version", "13",
		"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==")
	var text bytes.Buffer
	if err := request.Write(&text); err != nil {
		t.Fatal(err)
	}
	r.write(append(text.Bytes(), early...))
	response, err := http.ReadResponse(r.reader, request)
	if err != nil || response.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("upgrade: %v, %v", response, err)
	}
	return r
}

func (r *rawClient) patience() {
	r.t.Helper()
	if err := r.conn.SetDeadline(time.Now().Add(rawWithin)); err != nil {
		r.t.Fatal(err)
	}
}

// frame is a masked frame; the mask is all zeros, which leaves the payload as it is.
func frame(first byte, payload string) []byte {
	text := []byte{first, 0x80}
	switch n := len(payload); {
	case n < 126:
		text[1] |= byte(n)
	case n <= 0xffff:
		text[1] |= 126
		text = binary.BigEndian.AppendUint16(text, uint16(n))
	default:
		text[1] |= 127
		text = binary.BigEndian.AppendUint64(text, uint64(n)) //nolint:gosec // a length
	}
	text = append(text, 0, 0, 0, 0)
	return append(text, payload...)
}

func (r *rawClient) send(first byte, payload string) {
	r.t.Helper()
	r.write(frame(first, payload))
}

func (r *rawClient) write(text []byte) {
	r.t.Helper()
	r.patience()
	if _, err := r.conn.Write(text); err != nil {
		r.t.Fatalf("write: %v", err)
	}
}

// next reads one frame of the server's.
func (r *rawClient) next() (first byte, payload []byte, err error) {
	r.patience()
	var head [2]byte
	if _, err := io.ReadFull(r.reader, head[:]); err != nil {
		return 0, nil, err
	}
	n := uint64(head[1] & 0x7f)
	switch n {
	case 126:
		var long [2]byte
		if _, err := io.ReadFull(r.reader, long[:]); err != nil {
			return 0, nil, err
		}
		n = uint64(binary.BigEndian.Uint16(long[:]))
	case 127:
		var long [8]byte
		if _, err := io.ReadFull(r.reader, long[:]); err != nil {
			return 0, nil, err
		}
		n = binary.BigEndian.Uint64(long[:])
	}
	payload = make([]byte, n)
	_, err = io.ReadFull(r.reader, payload)
	return head[0], payload, err
}

// message reads on until a message of this type comes.
func (r *rawClient) message(kind string) string {
	r.t.Helper()
	for {
		_, payload, err := r.next()
		if err != nil {
			r.t.Fatalf("await a %s: %v", kind, err)
		}
		if strings.HasPrefix(string(payload), fmt.Sprintf(`{"type":%q`, kind)) {
			return string(payload)
		}
	}
}

// closeFrame reads on until the server closes, and says with what; code 0: without a close frame.
func (r *rawClient) closeFrame() (code int, reason string) {
	r.t.Helper()
	for {
		first, payload, err := r.next()
		if errors.Is(err, io.EOF) || (err != nil && !isTimeout(err)) {
			return 0, err.Error()
		}
		if err != nil {
			r.t.Fatalf("await the close: %v", err)
		}
		if first == fin|opClose && len(payload) >= 2 {
			return int(binary.BigEndian.Uint16(payload)), string(payload[2:])
		}
	}
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}
