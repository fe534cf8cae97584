package api

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"redrain/internal/backoff"
	"redrain/internal/game"
)

// SessionBooks holds what all instances have to know about hosts' sessions.
type SessionBooks interface {
	// Setting returns the value under a name: the proposed one if there was none.
	Setting(ctx context.Context, name, proposed string) (string, error)
	CurrentSetting(ctx context.Context, name string) (string, error)
	// ReplaceSetting replaces a value if it is still the old one.
	ReplaceSetting(ctx context.Context, name, old, replacement string) error
	// EndSession notes that a session has ended; that may be forgotten after a while.
	EndSession(ctx context.Context, id string, forgetAfter time.Time) error
	// EndedSessions returns the sessions that have ended, by id, and until when that must be known.
	EndedSessions(ctx context.Context) (map[string]time.Time, error)
}

// A session that ends on one instance ends on the others when they read it, which is within 4 s while the database answers.
const (
	readEndedEvery  = 2 * time.Second
	readEndedWithin = 2 * time.Second
)

// credentialSetting is the name under which all instances share the credential.
const credentialSetting = "host_credential"

// credential is what proves a host. The version is in every host's token, and a changed password has a new one, also if that password
// was used before.
type credential struct{ fingerprint, version string }

func (c credential) String() string { return c.fingerprint + " " + c.version }

func parseCredential(text string) credential {
	fingerprint, version, _ := strings.Cut(text, " ")
	return credential{fingerprint, version}
}

// fingerprint identifies a password. Without the secret nobody can test guesses with it.
func (s *Sessions) fingerprint(password string) string {
	mac := hmac.New(sha256.New, s.secret)
	mac.Write([]byte("host password\x00" + password))
	return hex.EncodeToString(mac.Sum(nil))
}

// IsPassword reports whether a guess is the hosts' password. It compares in constant time, whatever the length of the guess.
func (s *Sessions) IsPassword(guess string) bool {
	s.mu.Lock()
	current := s.credential.fingerprint
	s.mu.Unlock()
	return hmac.Equal([]byte(s.fingerprint(guess)), []byte(current))
}

// Share makes these sessions those of all instances on the same books. If the password is another than that of the instance that
// started last, all sessions of hosts end, on every instance, and only this password counts from then on.
func (s *Sessions) Share(ctx context.Context, books SessionBooks) error {
	mine := credential{s.credential.fingerprint, rand.Text()}
	kept, err := books.Setting(ctx, credentialSetting, mine.String())
	for err == nil && parseCredential(kept).fingerprint != mine.fingerprint {
		if err = books.ReplaceSetting(ctx, credentialSetting, kept, mine.String()); err == nil {
			kept, err = books.CurrentSetting(ctx, credentialSetting)
		}
	}
	if err != nil {
		return err
	}
	s.books = books
	return s.readEnded(ctx)
}

// readEnded reads which sessions have ended.
func (s *Sessions) readEnded(ctx context.Context) error {
	current, err := s.books.CurrentSetting(ctx, credentialSetting)
	if err != nil {
		return err
	}
	ended, err := s.books.EndedSessions(ctx)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.credential = parseCredential(current)
	// What this instance has ended since is not among those that were read, and stays.
	for id, until := range ended {
		s.ended[id] = until
	}
	for id, until := range s.ended {
		if s.now().After(until) {
			delete(s.ended, id)
		}
	}
	return nil
}

// Keep ends sessions here that have ended on another instance or have expired, until ctx ends.
func (s *Sessions) Keep(ctx context.Context, log *slog.Logger) {
	problems := rate.Sometimes{First: 1, Interval: time.Minute}
	for backoff.Sleep(ctx, readEndedEvery, nil) {
		before := s.currentCredential()
		if err := s.refresh(ctx); err != nil && ctx.Err() == nil {
			problems.Do(func() { log.Warn("cannot read which sessions have ended on other instances", "error", err) })
		}
		if s.currentCredential().fingerprint != before.fingerprint {
			log.Warn("an instance was started with another HOST_PASSWORD: that one counts here too, and all hosts have to log in again")
		}
		s.endWatched()
	}
}

func (s *Sessions) refresh(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readEndedWithin)
	defer cancel()
	return s.readEnded(ctx)
}

func (s *Sessions) currentCredential() credential {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.credential
}

// EndHost ends a host's session: here at once, on other instances when they read it.
func (s *Sessions) EndHost(ctx context.Context, session game.HostSession) error {
	until := session.ExpiresAt.Add(2 * clockLeeway) // an instance whose clock is behind still takes the token for a while
	if s.books != nil {
		if err := s.books.EndSession(ctx, session.ID, until); err != nil {
			return err
		}
	}
	s.mu.Lock()
	s.ended[session.ID] = until
	s.mu.Unlock()
	s.endWatched()
	return nil
}

// hostWatch is something that goes on for as long as a host's session.
type hostWatch struct {
	session game.HostSession
	end     func()
}

// WatchHost calls end once the session is over, which may be now, unless stop is called before. end must not block.
func (s *Sessions) WatchHost(session game.HostSession, end func()) (stop func()) {
	watch := &hostWatch{session, end}
	s.mu.Lock()
	s.watches[watch] = struct{}{}
	s.mu.Unlock()
	s.endWatched()
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watches, watch)
	}
}

// HostContext returns a context that is cancelled when the host's session is over. The caller must call cancel.
func (s *Sessions) HostContext(ctx context.Context, session game.HostSession) (_ context.Context, cancel func()) {
	ctx, end := context.WithCancelCause(ctx)
	stop := s.WatchHost(session, func() { end(ErrUnauthorized) })
	return ctx, func() {
		stop()
		end(nil)
	}
}

// endWatched ends what goes on in sessions that are over.
func (s *Sessions) endWatched() {
	var over []*hostWatch
	s.mu.Lock()
	for watch := range s.watches {
		if s.checkHost(watch.session) != nil {
			over = append(over, watch)
			delete(s.watches, watch)
		}
	}
	s.mu.Unlock()
	for _, watch := range over {
		watch.end()
	}
}

// checkHost returns why a session is over; s.mu is held.
func (s *Sessions) checkHost(session game.HostSession) error {
	_, ended := s.ended[session.ID]
	switch {
	case ended:
		return fmt.Errorf("%w: the host has logged out", ErrUnauthorized)
	case session.Credential != s.credential.version:
		return fmt.Errorf("%w: the password was changed", ErrUnauthorized)
	case !s.now().Before(session.ExpiresAt.Add(clockLeeway)):
		return fmt.Errorf("%w: expired", ErrUnauthorized)
	}
	return nil
}
