package gate

import (
	"encoding/binary"
	"slices"
	"testing"
)

func clientFrame(first byte, size int) []byte {
	frame := []byte{first, 0x80}
	switch {
	case size < 126:
		frame[1] |= byte(size)
	case size < 1<<16:
		frame[1] |= 126
		frame = binary.BigEndian.AppendUint16(frame, uint16(size))
	default:
		frame[1] |= 127
		frame = binary.BigEndian.AppendUint64(frame, uint64(size))
	}
	return append(frame, make([]byte, 4+size)...)
}

// However a network cuts the stream, the same frames are counted.
func TestFramesAreCountedHoweverTheyAreCut(t *testing.T) {
	sizes := []int{0, 1, 125, 126, 127, 1024, 0, 65_535, 65_536, 0}
	var stream []byte
	for _, size := range sizes {
		stream = append(stream, clientFrame(0x89, size)...)
	}
	for _, length := range []int{1, 2, 3, 7, 128, 4096, len(stream)} {
		var counter frameCounter
		frames := 0
		for part := range slices.Chunk(stream, length) {
			frames += counter.count(part)
		}
		if frames != len(sizes) || counter.pending != 0 || counter.got != 0 {
			t.Errorf("in parts of %d bytes: %d frames, want %d", length, frames, len(sizes))
		}
	}
}

// The budget is in frames as pages send them; a client that sends a frame's bytes one by one pays for that.
func TestABudgetHoldsTheFramesThatItNames(t *testing.T) {
	tap := clientFrame(0x81, 150)
	whole, drip := newBudget(50), newBudget(50)
	for n := range 100 {
		if !whole.allow(tap) {
			t.Fatalf("frame %d of a burst of 100 is refused", n+1)
		}
	}
	reads := 0
	for range 100 {
		for n := range tap {
			if drip.allow(tap[n : n+1]) {
				reads++
			}
		}
	}
	if most := 100 * len(tap) / 4; reads > most {
		t.Errorf("%d reads of one byte are taken, want at most %d", reads, most)
	}
}
