package game

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// Algorithm is the number of the way in which amounts are drawn from a secret; it changes with every change of split.go.
const Algorithm = 1

// Commitment is the lower-case hex SHA-256 of the secret and the settings that decide amounts, which everybody sees when
// the countdown starts. The text under the hash is
//
//	redrain:ALGORITHM:SECRET:BUDGET:PACKETS:MIN:MAX:SPLIT:PACE:CAP
//
// with numbers in decimal, MAX 0 for none, and SPLIT one of "live", "dealt/double_mean", "dealt/equal" and
// "dealt/tiers/PACKETSxCENTS,PACKETSxCENTS…".
func Commitment(s Settings, secret Secret) string {
	text := fmt.Sprintf("redrain:%d:%s:%d:%d:%d:%d:%s:%s:%d",
		Algorithm, string(secret), s.Total, s.Packets, s.Min, s.Max, s.splitText(), s.Pace, s.Cap)
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func (s Settings) splitText() string {
	if s.Split == SplitLive {
		return string(s.Split)
	}
	text := string(s.Split) + "/" + string(s.Deal)
	if s.Deal != DealTiers {
		return text
	}
	tiers := make([]string, len(s.Tiers))
	for i, tier := range s.Tiers {
		tiers[i] = fmt.Sprintf("%dx%d", tier.Packets, tier.Cents)
	}
	return text + "/" + strings.Join(tiers, ",")
}
