// Package example is a receiver of payouts: what a host's own balance system does when redrain posts to it. It uses nothing
// but the standard library; copy it and put your database where the maps are.
package example

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Receiver credits players by payouts. It is safe for concurrent use.
type Receiver struct {
	key []byte

	mu       sync.Mutex
	known    map[string]bool  // ids of payouts that were credited
	balances map[string]int64 // cents by player
}

// NewReceiver returns one that believes what is signed with PAYOUT_SECRET.
func NewReceiver(secret string) (*Receiver, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return nil, fmt.Errorf("secret: %w", err)
	}
	return &Receiver{key: key, known: make(map[string]bool), balances: make(map[string]int64)}, nil
}

// payout is the body of a POST, as far as it is needed here.
type payout struct {
	Type string `json:"type"`
	Data struct {
		Round  string `json:"round"`
		Claims []struct {
			Number  int    `json:"number"`
			Player  string `json:"player"`
			Subject string `json:"subject"` // the sub of your own token, if the player came in with one
			Cents   int64  `json:"cents"`
		} `json:"claims"`
	} `json:"data"`
}

// ServeHTTP answers 204 once the payout is credited, also if it was before. Any other answer makes redrain send it again.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, q.Body, 1<<20))
	if err != nil {
		http.Error(w, "too large", http.StatusRequestEntityTooLarge)
		return
	}
	if err := r.verify(q.Header, body, time.Now()); err != nil {
		http.Error(w, err.Error(), http.StatusUnauthorized)
		return
	}
	var p payout
	if err := json.Unmarshal(body, &p); err != nil || p.Type != "payout" {
		http.Error(w, "not a payout", http.StatusBadRequest)
		return
	}
	r.credit(q.Header.Get("webhook-id"), p)
	w.WriteHeader(http.StatusNoContent)
}

// tolerance is how far the sender's clock may be off; older messages may be somebody's copies.
const tolerance = 5 * time.Minute

// verify checks that the body was signed with the secret, and lately.
func (r *Receiver) verify(header http.Header, body []byte, now time.Time) error {
	id, timestamp := header.Get("webhook-id"), header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || now.Sub(time.Unix(seconds, 0)).Abs() > tolerance {
		return errors.New("the timestamp is missing, or too far off")
	}
	mac := hmac.New(sha256.New, r.key)
	mac.Write([]byte(id + "." + timestamp + "."))
	mac.Write(body)
	want := mac.Sum(nil)
	for signature := range strings.FieldsSeq(header.Get("webhook-signature")) {
		encoded, isV1 := strings.CutPrefix(signature, "v1,")
		got, err := base64.StdEncoding.DecodeString(encoded)
		if isV1 && err == nil && hmac.Equal(got, want) {
			return nil
		}
	}
	return errors.New("the signature is missing, or wrong")
}

// credit changes balances once for each id. In a database: insert the id into a table where it is unique and change the
// balances, in one transaction.
func (r *Receiver) credit(id string, p payout) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known[id] {
		return
	}
	r.known[id] = true
	for _, claim := range p.Data.Claims {
		r.balances[claim.Player] += claim.Cents
	}
}

// Balance is what a player was credited with, in cents.
func (r *Receiver) Balance(player string) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.balances[player]
}

// Payouts is how many were credited.
func (r *Receiver) Payouts() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.known)
}
