package live

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"redrain/internal/game"
	"redrain/internal/wire"
)

// blockableClient is a client that can be disconnected.
type blockableClient struct {
	recordingClient
	once         sync.Once
	disconnected chan struct{}
}

func newBlockableClient() *blockableClient {
	return &blockableClient{disconnected: make(chan struct{})}
}

func (g *blockableClient) DisconnectBlocked() { g.once.Do(func() { close(g.disconnected) }) }

func (g *blockableClient) isDisconnected() bool {
	select {
	case <-g.disconnected:
		return true
	default:
		return false
	}
}

// blocklist is the list of blocked players in SQL.
type blocklist struct {
	mu  sync.Mutex
	ids []string
	err error
}

func (b *blocklist) set(err error, ids ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ids, b.err = ids, err
}

func (b *blocklist) read(context.Context, string) ([]string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ids, b.err
}

// A blocked player's tabs are disconnected and their taps are refused: at once if the event arrives, and within two seconds if it is
// lost. Other players play on, and so does the player after being unblocked.
func TestABlockedPlayerIsDisconnected(t *testing.T) {
	for name, eventArrives := range map[string]bool{"event arrives": true, "event is lost": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				list := &blocklist{}
				r := newFixture(t, func(o *Options) { o.Blocked = list.read })
				round := r.startRound(newRound())
				ann, bob := r.books.Join(code, "ann"), r.books.Join(code, "bob")
				tabs := []*blockableClient{newBlockableClient(), newBlockableClient()}
				var session *PlayerSession
				for _, tab := range tabs {
					var err error
					if session, err = r.room.Join(t.Context(), ann.ID, "ann", tab); err != nil {
						t.Fatal(err)
					}
				}
				other := newBlockableClient()
				bobs, err := r.room.Join(t.Context(), bob.ID, "bob", other)
				if err != nil {
					t.Fatal(err)
				}
				sleepUntil(round.StartsAt + 5000)
				list.set(nil, ann.ID)
				wait := 2 * time.Second
				if eventArrives {
					r.rooms.HandleEvent(game.Event{Room: code})
					wait = 2 * minPause
				}
				time.Sleep(wait)
				if !tabs[0].isDisconnected() || !tabs[1].isDisconnected() || other.isDisconnected() {
					t.Errorf("disconnected: %v and %v, and another player %v", tabs[0].isDisconnected(), tabs[1].isDisconnected(), other.isDisconnected())
				}
				for _, id := range []string{round.ID, "another-round"} {
					if answer, status := session.Tap(id, 1, tabs[0], &answerRecorder{}); status != Answered || answer.Outcome != game.Throttled {
						t.Errorf("a blocked player's tap: %v, status %d", answer, status)
					}
				}
				if _, status := bobs.Tap(round.ID, 1, other, &answerRecorder{}); status != Submitted {
					t.Errorf("another player's tap: status %d", status)
				}
				list.set(game.ErrBusy) // nobody is let in because the database is down
				time.Sleep(3 * time.Second)
				if _, status := session.Tap(round.ID, 1, tabs[0], &answerRecorder{}); status != Answered {
					t.Errorf("while the list cannot be read: status %d", status)
				}
				list.set(nil)
				time.Sleep(2 * time.Second)
				if _, status := session.Tap(round.ID, 1, tabs[0], &answerRecorder{}); status != Submitted {
					t.Errorf("after they were let in again: status %d", status)
				}
			})
		})
	}
}

// If five hundred players join at once, hosts are sent one notice, and nobody else is.
func TestHostNoticesAreSentTenTimesASecondAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newFixture(t)
		_, player := r.join(r.room, r.books.Join(code, "ann"))
		host, screen := &recordingClient{}, &recordingClient{}
		r.room.Subscribe(wire.RoleHost, host)
		r.room.Subscribe(wire.RoleScreen, screen)
		for range 500 {
			r.rooms.HandleEvent(game.Event{Room: code, ForHosts: "players"})
		}
		time.Sleep(hostNoticeTicks * tickInterval)
		synctest.Wait()
		if sent := noticeMessages(t, host); len(sent) != 1 || sent[0].Code != "players" {
			t.Errorf("the host got %v", sent)
		}
		for range 20 {
			r.rooms.HandleEvent(game.Event{Room: code, ForHosts: "players"})
			time.Sleep(hostNoticeTicks * tickInterval / 4)
		}
		time.Sleep(hostNoticeTicks * tickInterval)
		if n := len(noticeMessages(t, host)); n < 6 || n > 8 {
			t.Errorf("the host got %d notices in five intervals", n)
		}
		if n := len(noticeMessages(t, player)) + len(noticeMessages(t, screen)); n != 0 {
			t.Errorf("others got %d", n)
		}
	})
}
