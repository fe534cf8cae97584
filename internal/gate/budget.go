package gate

import (
	"encoding/binary"
	"errors"
	"time"

	"golang.org/x/time/rate"
)

// errOverBudget is what reading fails with when a client has sent more than it may.
var errOverBudget = errors.New("the client sends too much")

// What a client's frames cost of its budget. Every frame counts, also those that the library takes without a word: pings,
// pongs and continuations. Reads count too, since a client can send each byte on its own, which costs as much as a frame.
const (
	frameCost = 1024
	readCost  = 64
	byteCost  = 1
	// usualFrame is the cost of a frame as pages send them, with room to spare: a budget of 50 frames is one of 50 such frames.
	usualFrame = frameCost + readCost + 192*byteCost
)

// budget bounds what one connection may send. It is for one goroutine.
type budget struct {
	limiter *rate.Limiter
	frames  frameCounter
	spent   bool
}

// newBudget returns a budget of so many usual frames a second, and twice that in a burst.
func newBudget(framesPerSecond rate.Limit) *budget {
	perSecond := framesPerSecond * usualFrame
	return &budget{limiter: rate.NewLimiter(perSecond, max(usualFrame, int(2*perSecond)))}
}

// allow takes what was just read off the budget. Once it is false it stays false.
func (b *budget) allow(read []byte) bool {
	if b.spent || len(read) == 0 {
		return !b.spent
	}
	cost := readCost + byteCost*len(read) + frameCost*b.frames.count(read)
	b.spent = !b.limiter.AllowN(time.Now(), cost)
	return !b.spent
}

// frameCounter counts the frames in a stream of bytes: RFC 6455, section 5.2.
type frameCounter struct {
	header  [10]byte // of the frame that begins, up to its length
	got     int      // bytes of header that have come
	pending uint64   // bytes of the current frame, after its length, that have not come
}

// count returns how many frames begin in the next bytes of the stream.
func (f *frameCounter) count(read []byte) int {
	frames := 0
	for len(read) > 0 {
		if f.pending > 0 {
			n := min(f.pending, uint64(len(read)))
			f.pending -= n
			read = read[n:]
			continue
		}
		f.header[f.got] = read[0]
		f.got++
		read = read[1:]
		if f.headerIsWhole() {
			frames++
			f.pending, f.got = f.remaining(), 0
		}
	}
	return frames
}

func (f *frameCounter) headerIsWhole() bool {
	if f.got < 2 {
		return false
	}
	switch f.header[1] & 0x7f {
	case 126:
		return f.got == 4
	case 127:
		return f.got == 10
	}
	return true
}

// remaining is how many bytes follow the header: the mask and the payload.
func (f *frameCounter) remaining() uint64 {
	const masked, maskSize = 0x80, 4
	length := uint64(f.header[1] & 0x7f)
	switch length {
	case 126:
		length = uint64(binary.BigEndian.Uint16(f.header[2:]))
	case 127:
		length = binary.BigEndian.Uint64(f.header[2:])
	}
	if f.header[1]&masked != 0 {
		length += maskSize
	}
	return length
}
