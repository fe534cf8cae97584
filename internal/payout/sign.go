package payout

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strconv"
	"strings"
)

// Secret is what payouts are signed with. It prints as nothing.
type Secret struct{ key []byte }

// String keeps the secret out of logs.
func (Secret) String() string { return "secret" }

// GoString keeps the secret out of logs.
func (Secret) GoString() string { return "secret" }

// ParseSecret reads whsec_ and the base64 of 24 to 64 random bytes.
func ParseSecret(text string) (Secret, error) {
	encoded, prefixed := strings.CutPrefix(text, "whsec_")
	key, err := base64.StdEncoding.DecodeString(encoded)
	if !prefixed || err != nil || len(key) < 24 || len(key) > 64 {
		return Secret{}, errors.New("it must be whsec_ and the base64 of 24 to 64 random bytes, as from: echo whsec_$(openssl rand -base64 32)")
	}
	return Secret{key}, nil
}

// sign is the header webhook-signature of a body that is sent at a time, in seconds since 1970.
func (s Secret) sign(id string, at int64, body []byte) string {
	mac := hmac.New(sha256.New, s.key)
	mac.Write([]byte(id + "." + strconv.FormatInt(at, 10) + "."))
	mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
