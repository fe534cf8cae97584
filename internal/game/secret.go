package game

import (
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // a keyed draw that outsiders recompute, its format is fixed
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"strconv"
)

// Secret is a round's source of every draw: 64 lower-case hex digits, used as that text. It must not leave the server
// before the round is settled: who has it can predict every amount and drop.
type Secret string

// NewSecret makes a secret of 32 random bytes.
func NewSecret() Secret {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails, says crypto/rand
	return Secret(hex.EncodeToString(b[:]))
}

// redacted is what is printed for a secret.
const redacted = "secret"

// Format keeps secrets out of everything that package fmt prints, whatever the verb; string(s) is the only way to the text.
func (s Secret) Format(state fmt.State, _ rune) { _, _ = io.WriteString(state, redacted) }

// LogValue keeps secrets out of logs.
func (s Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText keeps secrets out of JSON and every other text that is made of values.
func (s Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

const (
	drawDigits   = 13 // hex digits of one draw: 52 bits, exact in Lua's doubles
	drawsPerHash = 3  // a SHA-1 has 40 hex digits
)

// Draws is one endless sequence of 52-bit draws under a label. Draw n is the 13 hex digits at 13·(n mod 3) of
// sha1(secret:label:⌊n/3⌋). It remembers its last hash, so reading in order costs a third of a hash each; it is not safe
// for concurrent use.
type Draws struct {
	prefix string
	block  int
	digest [2 * sha1.Size]byte
}

// Format keeps the secret in it out of what package fmt prints.
func (d *Draws) Format(state fmt.State, _ rune) { _, _ = io.WriteString(state, redacted) }

// Draws starts the sequence under a label: "live", "dealt", "shuffle" or "drop".
func (s Secret) Draws(label string) *Draws {
	return &Draws{prefix: string(s) + ":" + label + ":", block: -1}
}

// At returns draw n, n ≥ 0, in [0, 2^52).
func (d *Draws) At(n int) uint64 {
	if block := n / drawsPerHash; block != d.block {
		sum := sha1.Sum([]byte(d.prefix + strconv.Itoa(block))) //nolint:gosec // see above
		hex.Encode(d.digest[:], sum[:])
		d.block = block
	}
	from := drawDigits * (n % drawsPerHash)
	u, err := strconv.ParseUint(string(d.digest[from:from+drawDigits]), 16, 64)
	if err != nil {
		panic(fmt.Sprintf("hex digits of a hash do not parse: %v", err)) // cannot happen
	}
	return u
}
