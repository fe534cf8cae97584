package game

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// Versions of the algorithm by which a round's amounts and drops are drawn and its commitment is made. A change to what secret.go,
// split.go or schedule.go compute, or to the text under the commitment, needs a new version; the old ones must keep their results,
// since rounds were begun with them.
const (
	// AmountsAlgorithm commits to what decides the amounts, not to what decides the drops.
	AmountsAlgorithm = 1
	// Algorithm is the version that rounds are begun with now. It draws as AmountsAlgorithm does, and commits to every setting except
	// the title, to whether the round is a rehearsal, and to the round's id.
	Algorithm = 2
)

// Commitment is a lower-case hex SHA-256 that is published with the countdown. It proves later that the secret and the settings of a
// round were not changed after that. The text under the hash is, for Algorithm,
//
//	redrain:2:SECRET:BUDGET:PACKETS:MIN:MAX:SPLIT:PACE:CAP:COUNTDOWN:DURATION:DROPS:BOMBS:CLOSE:REHEARSAL:ROUND
//
// with BUDGET, MIN and MAX in cents, MAX 0 for none; COUNTDOWN and DURATION in whole milliseconds; DROPS in a second, BOMBS in
// percent; CLOSE (as soon as it is sold out) and REHEARSAL "true" or "false"; ROUND the round's id; SPLIT one of "live",
// "dealt/double_mean", "dealt/equal" and "dealt/tiers/PACKETSxCENTS,PACKETSxCENTS…". Numbers are in decimal. No part can hold a
// colon, so each text has one meaning. For AmountsAlgorithm the text begins with redrain:1 and ends with CAP.
//
// The secret is the argument, not the round's, which has none before it is begun. An unknown algorithm has the commitment "".
func Commitment(algorithm int, r Round, secret Secret) string {
	if algorithm != AmountsAlgorithm && algorithm != Algorithm {
		return ""
	}
	s := r.Settings
	text := fmt.Sprintf("redrain:%d:%s:%d:%d:%d:%d:%s:%s:%d",
		algorithm, string(secret), s.Total, s.Packets, s.Min, s.Max, s.splitText(), s.Pace, s.Cap)
	if algorithm == Algorithm {
		text += fmt.Sprintf(":%d:%d:%d:%d:%t:%t:%s", int64(s.Countdown), int64(s.Duration),
			s.DropsPerSecond, s.BombPercent, s.CloseWhenSoldOut, r.Rehearsal, r.ID)
	}
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
