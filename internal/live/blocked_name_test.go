package live

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"redrain/internal/game"
	"redrain/internal/testkit"
	"redrain/internal/wire"
)

// blockedName is a story of a player with a name that must leave every page: two instances, a board that shows the name as rank, winner
// and arrival, and pages at both.
type blockedName struct {
	t      *testing.T
	redis  *fakeRedis
	books  *testkit.Books
	first  *instance
	second *instance
	rude   game.Player
	round  game.Round
	pages  []*recordingClient
}

const rudeName = "rude name"

func newBlockedName(t *testing.T) *blockedName {
	t.Helper()
	s := &blockedName{t: t, redis: newFakeRedis(), books: testkit.NewBooks(code)}
	blocked := func(o *Options) { o.Blocked = s.books.Blocked }
	s.first = newInstance(t, s.redis, s.books, "one", blocked)
	s.second = newInstance(t, s.redis, s.books, "two", blocked)
	s.rude = s.books.Join(code, rudeName)
	fixture := &fixture{instance: s.first, redis: s.redis, room: s.first.acquireRoom()}
	for _, i := range []*instance{s.first, s.second} {
		room, screen := i.acquireRoom(), &recordingClient{}
		room.Subscribe(wire.RoleScreen, screen)
		_, phone := i.join(room, i.books.Join(code, "ann"))
		s.pages = append(s.pages, screen, phone)
	}
	fixture.join(fixture.room, s.rude)
	s.round = fixture.startRound(newRound())
	sleepUntil(s.round.StartsAt + 1000)
	s.redis.claim(s.round.ID, 1, s.rude.ID)
	return s
}

// shows reports whether a frame that a page was sent since a moment has the name.
func shows(page *recordingClient, since time.Time) bool {
	for _, f := range page.all() {
		if !f.at.Before(since) && strings.Contains(string(f.text), rudeName) {
			return true
		}
	}
	return false
}

// wantShown checks what the pages are sent from now on, and what a page that opens now has.
func (s *blockedName) wantShown(when string, want bool) {
	s.t.Helper()
	from := time.Now()
	for _, i := range []*instance{s.first, s.second} {
		late := &recordingClient{}
		i.acquireRoom().Subscribe(wire.RoleScreen, late)
		s.pages = append(s.pages, late)
		tally, err := i.rooms.Tally(s.t.Context(), s.round)
		if err != nil || len(tally.Top) != 1 || tally.Top[0].Cents != 100 || (tally.Top[0].Nickname == rudeName) != want {
			s.t.Errorf("%s: the board over HTTP is %+v, %v", when, tally, err)
		}
	}
	time.Sleep(3 * time.Second)
	for n, page := range s.pages {
		if shows(page, from) != want {
			s.t.Errorf("%s: page %d is sent the name: %t", when, n, !want)
		}
	}
}

// The name of a player who is blocked leaves the boards of both instances: at once where the event arrives, and within two seconds where
// it is lost. What they won stays on the boards. Being let in again brings the name back.
func TestABlockedPlayersNameLeavesEveryPage(t *testing.T) {
	for name, eventArrives := range map[string]bool{"event arrives": true, "event is lost": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newBlockedName(t)
				time.Sleep(2 * time.Second)
				s.wantShown("before", true)
				change := func(blocked bool) {
					s.books.Block(s.rude.ID, blocked)
					wait := 2 * time.Second
					if eventArrives {
						wait = 2 * minPause
						s.first.rooms.HandleEvent(game.Event{Room: code, AccessChanged: true})
						s.second.rooms.HandleEvent(game.Event{Room: code, AccessChanged: true})
					}
					time.Sleep(wait)
				}
				change(true)
				s.wantShown("blocked", false)
				change(false)
				time.Sleep(time.Second) // the next tally has it
				s.wantShown("let in again", true)
			})
		})
	}
}

// A page on the wall that nobody reloads loses the name by the first frame after the event, also behind an instance that hears a tally
// of one that has not heard of it.
func TestATallyOfAnInstanceThatHasNotHeardOfTheBlockHidesTheName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBlockedName(t)
		time.Sleep(2 * time.Second)
		s.books.Block(s.rude.ID, true)
		s.second.rooms.HandleEvent(game.Event{Room: code, AccessChanged: true})
		time.Sleep(2 * minPause)
		from := time.Now()
		tally := wire.Tally{
			Round: s.round.ID, Epoch: 1 << 60, Serial: 1, Top: []wire.Rank{{Rank: 1, Player: s.rude.ID, Nickname: rudeName, Cents: 88}},
			Winners:  []wire.Claim{{Number: 1, Player: s.rude.ID, Nickname: rudeName, Cents: 88}},
			Arrivals: []wire.Arrival{{Player: s.rude.ID, Nickname: rudeName}},
		}
		s.second.rooms.HandleEvent(game.Event{Room: code, Tally: wire.Encode(tally)})
		time.Sleep(1100 * time.Millisecond)
		for _, page := range s.pages[2:] {
			sent := tallies(t, page)
			last := sent[len(sent)-1]
			if shows(page, from) || last.Epoch != 1<<60 || len(last.Top) != 1 || len(last.Winners) != 1 || len(last.Arrivals) != 0 {
				t.Errorf("the page was sent %+v", last)
			}
		}
	})
}

// An instance that begins to serve a room knows who is blocked before its first page, whatever tally it hears first.
func TestARoomIsLoadedWithItsBlockedPlayers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBlockedName(t)
		s.books.Block(s.rude.ID, true)
		third := newInstance(t, s.redis, s.books, "three", func(o *Options) { o.Blocked = s.books.Blocked })
		room, page := third.acquireRoom(), &recordingClient{}
		room.Subscribe(wire.RoleScreen, page)
		from := time.Now()
		third.rooms.HandleEvent(game.Event{Room: code, Tally: wire.Encode(wire.Tally{
			Round: s.round.ID, Epoch: 1 << 60, Serial: 1, Arrivals: []wire.Arrival{{Player: s.rude.ID, Nickname: rudeName}},
		})})
		time.Sleep(minPause / 2)
		if shows(page, from) || len(tallies(t, page)) == 0 {
			t.Error("the first tally shows a blocked player")
		}
	})
}
