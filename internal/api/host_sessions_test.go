package api

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"redrain/internal/game"
)

// sharedBooks are the books of several instances, in memory.
type sharedBooks struct {
	mu       sync.Mutex
	settings map[string]string
	ended    map[string]time.Time
	away     bool
}

func newSharedBooks() *sharedBooks {
	return &sharedBooks{settings: make(map[string]string), ended: make(map[string]time.Time)}
}

func (b *sharedBooks) setAway(away bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.away = away
}

// locked runs work with the lock held, unless the books are away.
func (b *sharedBooks) locked(work func()) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.away {
		return errDatabaseAway
	}
	work()
	return nil
}

func (b *sharedBooks) Setting(ctx context.Context, name, proposed string) (string, error) {
	err := b.locked(func() {
		if _, kept := b.settings[name]; !kept {
			b.settings[name] = proposed
		}
	})
	if err != nil {
		return "", err
	}
	return b.CurrentSetting(ctx, name)
}

func (b *sharedBooks) CurrentSetting(_ context.Context, name string) (kept string, err error) {
	err = b.locked(func() { kept = b.settings[name] })
	return kept, err
}

func (b *sharedBooks) ReplaceSetting(_ context.Context, name, old, replacement string) error {
	return b.locked(func() {
		if b.settings[name] == old {
			b.settings[name] = replacement
		}
	})
}

func (b *sharedBooks) EndSession(_ context.Context, id string, forgetAfter time.Time) error {
	return b.locked(func() { b.ended[id] = forgetAfter })
}

func (b *sharedBooks) EndedSessions(context.Context) (ended map[string]time.Time, err error) {
	err = b.locked(func() { ended = maps.Clone(b.ended) })
	return ended, err
}

// instanceOn returns the sessions of one more instance on the same books, which reads them until the test ends.
func instanceOn(t *testing.T, books *sharedBooks, password string) *Sessions {
	t.Helper()
	s, err := NewSessions(secret, password, time.Now)
	if err == nil {
		err = s.Share(t.Context(), books)
	}
	if err != nil {
		t.Fatal(err)
	}
	go s.Keep(t.Context(), slog.New(slog.DiscardHandler))
	return s
}

// logInOn returns a token, and says when what goes on in its session on the instances is over.
func logInOn(t *testing.T, on *Sessions, watching ...*Sessions) (token string, session game.HostSession, over []context.Context) {
	t.Helper()
	token, err := on.NewHostToken()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range append(watching, on) {
		if session, err = s.Host(token); err != nil {
			t.Fatalf("a new session is not known: %v", err)
		}
		ctx, cancel := s.HostContext(t.Context(), session)
		t.Cleanup(cancel)
		over = append(over, ctx)
	}
	return token, session, over
}

func wantOver(t *testing.T, token string, over []context.Context, instances ...*Sessions) {
	t.Helper()
	for i, s := range instances {
		if _, err := s.Host(token); !errors.Is(err, ErrUnauthorized) {
			t.Errorf("instance %d takes the token: %v", i, err)
		}
	}
	for i, ctx := range over {
		if context.Cause(ctx) == nil {
			t.Errorf("what was open goes on, %d", i)
		}
	}
}

// mostWait is how long an end may take to arrive everywhere.
const mostWait = 5 * time.Second

func TestLogOutEndsThatSessionOnEveryInstance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		books := newSharedBooks()
		a, b := instanceOn(t, books, password), instanceOn(t, books, password)
		token, session, over := logInOn(t, a, b)
		other, _, going := logInOn(t, b, a)
		if err := a.EndHost(t.Context(), session); err != nil {
			t.Fatal(err)
		}
		wantOver(t, token, nil, a) // at once
		time.Sleep(mostWait)
		wantOver(t, token, over, a, b, instanceOn(t, books, password))
		for _, s := range []*Sessions{a, b} {
			if _, err := s.Host(other); err != nil || going[0].Err() != nil {
				t.Errorf("another session of the host's ended too: %v", err)
			}
		}
	})
}

func TestAChangedPasswordEndsAllSessionsOnEveryInstance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		books := newSharedBooks()
		old := instanceOn(t, books, password)
		token, _, over := logInOn(t, old)
		restarted := instanceOn(t, books, password)
		if _, err := restarted.Host(token); err != nil {
			t.Errorf("a restart with the same password ended the session: %v", err)
		}
		changed := instanceOn(t, books, "another horse")
		wantOver(t, token, nil, changed)
		time.Sleep(mostWait)
		wantOver(t, token, over, old, restarted, changed)
		for _, s := range []*Sessions{old, restarted, changed} {
			if s.IsPassword(password) || !s.IsPassword("another horse") {
				t.Error("an instance that started earlier does not take the new password, or takes the old one")
			}
		}
		// The first password again is a new credential: nobody who was logged in with it then is so now.
		again := instanceOn(t, books, password)
		time.Sleep(mostWait)
		wantOver(t, token, nil, old, changed, again)
		logInOn(t, old, changed, again)
	})
}

// A connection that was opened in time does not outlive the session.
func TestWhatIsOpenEndsWhenTheSessionExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := instanceOn(t, newSharedBooks(), password)
		token, session, over := logInOn(t, a)
		time.Sleep(hostSessionLifetime - time.Minute)
		if over[0].Err() != nil {
			t.Fatal("it ended too early")
		}
		time.Sleep(time.Minute + clockLeeway + mostWait)
		wantOver(t, token, over, a)
		ended := false
		a.WatchHost(session, func() { ended = true })
		if !ended {
			t.Error("a watch that comes too late never hears of the end")
		}
	})
}

// While the books are away sessions go on, and what has ended stays so.
func TestSessionsOutliveAnAbsenceOfTheBooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		books := newSharedBooks()
		a := instanceOn(t, books, password)
		token, session, over := logInOn(t, a)
		books.setAway(true)
		if err := a.EndHost(t.Context(), session); !errors.Is(err, errDatabaseAway) {
			t.Errorf("other instances cannot hear of it, and it says %v", err)
		}
		time.Sleep(time.Minute)
		if _, err := a.Host(token); err != nil || over[0].Err() != nil {
			t.Errorf("it ended although nobody could note that: %v", err)
		}
		books.setAway(false)
		if err := a.EndHost(t.Context(), session); err != nil {
			t.Fatal(err)
		}
		books.setAway(true)
		time.Sleep(time.Minute)
		wantOver(t, token, over, a)
	})
}

// A token without an id or of no credential cannot be ended, so it is none.
func TestHostTokensOfOldAreRefused(t *testing.T) {
	sessions, _ := testSessions(t)
	for _, claims := range []sessionClaims{hostClaims("", sessions.credential.version), hostClaims("1", ""), hostClaims("1", "2")} {
		token, err := sessions.sign(claims, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := sessions.Host(token); !errors.Is(err, ErrUnauthorized) {
			t.Errorf("%+v is taken: %v", claims, err)
		}
	}
}

func TestATokenDoesNotOutliveLogOut(t *testing.T) {
	r := newTestServer(t)
	cookies := withCookies(r.logIn())
	if got := r.call("DELETE", "/api/host/session", "", cookies, withHeader("Origin", ownOrigin)).Code; got != http.StatusNoContent {
		t.Fatalf("log out: %d", got)
	}
	wantRefused(t, r.call("GET", "/api/rooms", "", cookies), 401, "unauthorized")
}

// endless is a statement that has no end.
type endless struct{ Exports }

func (endless) Statement(ctx context.Context, _ string, yield func([]game.StatementLine) error) error {
	for ctx.Err() == nil {
		if err := yield(make([]game.StatementLine, 1000)); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

// A file that is being written to a client who does not read ends with the session.
func TestFilesEndWithTheSession(t *testing.T) {
	r := newTestServer(t, func(o *Options) { o.Exports = endless{} })
	web := httptest.NewServer(r.server)
	defer web.Close()
	request := httptest.NewRequestWithContext(t.Context(), "GET", web.URL+"/api/rooms/RAXN88/statement.csv", http.NoBody)
	asHost(r, request)
	request.RequestURI = ""
	response, err := web.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	session, err := r.server.Sessions.Host(strings.TrimPrefix(request.Header.Get("Authorization"), "Bearer "))
	if err == nil {
		err = r.server.Sessions.EndHost(t.Context(), session)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, response.Body); err == nil {
		t.Error("a file that was cut short looks complete")
	}
}
