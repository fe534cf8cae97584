package live

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"reflect"
	"testing"
	"time"

	"redrain/internal/game"
	"redrain/internal/grab"
	"redrain/internal/rdb"
	"redrain/internal/testkit"
	"redrain/internal/wire"
)

// redisInstance is an instance over a real Redis, or the embedded one.
type redisInstance struct {
	t            *testing.T
	redis        *rdb.Client
	committer    *grab.Committer
	rooms        *Rooms
	subscription *rdb.Subscription
	room         *Room
}

func newRedisInstance(t *testing.T, address string, books *testkit.Books) *redisInstance {
	t.Helper()
	redis, err := rdb.Dial(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	p := &redisInstance{t: t, redis: redis}
	p.committer = grab.New(redis, grab.Options{Grabbed: func(room, round string, g game.Grabbed) { p.rooms.RecordBatch(room, round, g) }})
	p.subscription = redis.Subscribe(context.Background(), slog.New(slog.DiscardHandler), func(event game.Event) { p.rooms.HandleEvent(event) })
	p.rooms = New(Options{
		Books: books, Pool: redis, Subscription: p.subscription, Clock: redis.Clock(), Committer: p.committer, TapsPerSecond: 1000, TapBurst: 1000,
	})
	t.Cleanup(func() {
		_ = p.committer.Close(context.Background()) // bounded by the taps' own deadline
		p.rooms.Close()
		_ = p.subscription.Close()
		_ = redis.Disconnect()
	})
	if p.room, err = p.rooms.Acquire(t.Context(), code); err != nil {
		t.Fatal(err)
	}
	return p
}

// startRound starts a round without a countdown.
func (p *redisInstance) startRound(books *testkit.Books, change ...func(*game.Settings)) game.Round {
	p.t.Helper()
	round := newRound(append(change, func(s *game.Settings) { s.Countdown = 0 })...)
	books.Keep(round)
	var amounts []game.Cents
	if round.Settings.Split == game.SplitDealt {
		amounts = game.DealtAmounts(round.Settings, round.Secret)
	}
	standing, err := p.redis.Open(p.t.Context(), round, amounts)
	if err != nil {
		p.t.Fatal(err)
	}
	round.StartsAt, round.EndsAt = standing.StartsAt, standing.EndsAt
	return round
}

func (p *redisInstance) addScreen() *recordingClient {
	m := &recordingClient{}
	p.room.Subscribe(wire.RoleScreen, m)
	return m
}

// grab has each player win a packet, each in a call of its own.
func (p *redisInstance) grab(round game.Round, drop game.DropID, players ...game.Player) {
	p.t.Helper()
	for _, player := range players {
		grabbed, err := p.redis.Grab(p.t.Context(), code, round.ID, p.redis.NewBatch(), []game.Tap{{Player: player.ID, Drop: drop}})
		if err != nil || grabbed.Answers[0].Outcome != game.Won {
			p.t.Fatalf("%v, %v", grabbed.Answers, err)
		}
	}
}

// Players with the same total were ordered differently on two screens. Now the one who reached it first comes first, on both.
func TestTiesAreTheSameOnTwoInstances(t *testing.T) {
	testkit.EachRedis(t, func(t *testing.T, address string) {
		books := testkit.NewBooks(code)
		one, two := newRedisInstance(t, address, books), newRedisInstance(t, address, books)
		screens := []*recordingClient{one.addScreen(), two.addScreen()}
		round := one.startRound(books, func(s *game.Settings) { s.Split, s.Deal, s.Cap = game.SplitDealt, game.DealEqual, 2 })
		var players []game.Player
		for n := range 4 {
			players = append(players, books.Join(code, fmt.Sprint("player ", n)))
		}
		one.grab(round, 1, players[2], players[0])
		two.grab(round, 1, players[3], players[1])
		two.grab(round, 2, players[0], players[3]) // these two have twice as much now
		want := []string{"player 0", "player 3", "player 2", "player 1"}
		for n, screen := range screens {
			testkit.Eventually(t, 10*time.Second, func() error {
				received := tallies(t, screen)
				var names []string
				if len(received) > 0 {
					for _, rank := range received[len(received)-1].Top {
						names = append(names, rank.Nickname)
					}
				}
				if !reflect.DeepEqual(names, want) {
					return fmt.Errorf("screen %d shows %v, want %v", n, names, want)
				}
				return nil
			})
		}
		same := make(map[[2]int64]wire.Tally)
		for _, tally := range tallies(t, screens[0]) {
			same[[2]int64{tally.Epoch, tally.Serial}] = tally
		}
		for _, tally := range tallies(t, screens[1]) {
			if other, ok := same[[2]int64{tally.Epoch, tally.Serial}]; ok && !reflect.DeepEqual(tally, other) {
				t.Errorf("one screen shows %+v, the other %+v", tally, other)
			}
		}
	})
}

// The holder of the lease is cut off from Redis. Another instance publishes the tally within two seconds.
func TestALeaseIsTakenOverOnRedis(t *testing.T) {
	testkit.EachRedis(t, func(t *testing.T, address string) {
		books := testkit.NewBooks(code)
		proxy := testkit.NewSwallowProxy(t, hostOf(t, address))
		holder := newRedisInstance(t, "redis://"+proxy.Addr, books)
		testkit.Eventually(t, 10*time.Second, func() error {
			if len(tallies(t, holder.addScreen())) == 0 && holder.epoch() == 0 {
				return fmt.Errorf("no tally yet")
			}
			return nil
		})
		heir := newRedisInstance(t, address, books)
		heir.startRound(books)
		screen := heir.addScreen()
		before := heir.epoch()
		testkit.Eventually(t, 10*time.Second, func() error {
			if before = heir.epoch(); before == 0 {
				return fmt.Errorf("no tally yet")
			}
			return nil
		})
		proxy.Refuse()
		proxy.Cut()
		died := time.Now()
		testkit.Eventually(t, 10*time.Second, func() error {
			if heir.epoch() <= before {
				return fmt.Errorf("no new epoch after %d", before)
			}
			return nil
		})
		for _, f := range screen.all() {
			tally := tallies(t, &recordingClient{frames: []frame{f}})
			if len(tally) == 0 || tally[0].Epoch <= before {
				continue
			}
			if took := f.at.Sub(died); took > 2*time.Second {
				t.Errorf("the first tally of the heir comes after %v", took)
			}
			break
		}
		proxy.Heal()
	})
}

// epoch is the epoch of the latest tally, 0 before the first.
func (p *redisInstance) epoch() int64 {
	p.room.mu.Lock()
	defer p.room.mu.Unlock()
	return p.room.tally.Epoch
}

func hostOf(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u.Host
}

// Invariant 8 with a real subscription: its connection is cut, claims are made, and after the reconnection their players are sent them.
func TestClaimsMadeWhileTheSubscriptionWasDownAreSent(t *testing.T) {
	testkit.EachRedis(t, func(t *testing.T, address string) {
		books := testkit.NewBooks(code)
		proxy := testkit.NewSwallowProxy(t, hostOf(t, address))
		cut, other := newRedisInstance(t, "redis://"+proxy.Addr, books), newRedisInstance(t, address, books)
		ann, bob := books.Join(code, "ann"), books.Join(code, "bob")
		tab := &recordingClient{}
		if _, err := cut.room.Join(t.Context(), ann.ID, ann.Nickname, tab); err != nil {
			t.Fatal(err)
		}
		round := other.startRound(books)
		testkit.Eventually(t, 10*time.Second, func() error {
			if len(roundChanges(t, tab)) == 0 {
				return fmt.Errorf("the round is not known yet")
			}
			return nil
		})
		proxy.Refuse()
		proxy.Cut()
		other.grab(round, 1, ann, bob)
		proxy.Heal()
		testkit.Eventually(t, 10*time.Second, func() error {
			if sent := claimMessages(t, tab); len(sent) != 1 || sent[0].Claim.Drop != 1 {
				return fmt.Errorf("was sent %v", sent)
			}
			return nil
		})
		other.grab(round, 2, ann) // and later events arrive
		testkit.Eventually(t, 10*time.Second, func() error {
			if sent := claimMessages(t, tab); len(sent) != 2 {
				return fmt.Errorf("was sent %v", sent)
			}
			return nil
		})
	})
}

// tab is one tab of a player, which taps.
type tab struct {
	*recordingClient
	session *PlayerSession
	answers *answerRecorder
}

// wantClaimTotal waits until the claims that the tab was sent, as results or as claims, have this total.
func (m tab) wantClaimTotal(t *testing.T, name string, want game.Cents) {
	t.Helper()
	testkit.Eventually(t, 10*time.Second, func() error {
		known := make(map[int]game.Cents)
		for _, message := range claimMessages(t, m.recordingClient) {
			known[message.Claim.Number] = message.Claim.Cents
		}
		for _, answer := range m.answers.all {
			if answer.Number > 0 {
				known[answer.Number] = answer.Cents
			}
		}
		var sum game.Cents
		for _, cents := range known {
			sum += cents
		}
		if sum != want {
			return fmt.Errorf("%s knows of %v, Redis of %v", name, sum, want)
		}
		return nil
	})
}

// Players with tabs on two instances tap as fast as they can. Each tab is sent exactly the claims that Redis has of its player.
func TestTabsOnTwoInstancesAreSentAllClaimsInRedis(t *testing.T) {
	testkit.EachRedis(t, func(t *testing.T, address string) {
		books := testkit.NewBooks(code)
		processes := []*redisInstance{newRedisInstance(t, address, books), newRedisInstance(t, address, books)}
		round := processes[0].startRound(books, func(s *game.Settings) { s.Packets, s.Cap, s.CloseWhenSoldOut = 60, 3, false })
		tabs := make(map[string][]tab)
		for n := range 20 {
			player := books.Join(code, fmt.Sprint("player ", n))
			for _, p := range processes { // the same player on both
				m := &recordingClient{}
				session, err := p.room.Join(t.Context(), player.ID, player.Nickname, m)
				if err != nil {
					t.Fatal(err)
				}
				tabs[player.ID] = append(tabs[player.ID], tab{m, session, &answerRecorder{}})
			}
		}
		testkit.Eventually(t, 10*time.Second, func() error {
			for _, p := range processes {
				if p.currentRound() != round.ID || p.redis.Now() < round.StartsAt+edgeMS+100 {
					return fmt.Errorf("not in the middle of the round yet")
				}
			}
			return nil
		})
		taps := 0
		for drop := game.DropID(1); drop <= 4; drop++ {
			for _, both := range tabs {
				for _, tab := range both {
					answer, status := tab.session.Tap(round.ID, drop, tab.recordingClient, tab.answers)
					if status == Answered {
						tab.answers.HandleAnswer(game.Tap{Drop: drop}, answer)
					}
					taps++
				}
			}
		}
		for _, p := range processes {
			if err := p.committer.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		claims, err := processes[0].redis.Claims(t.Context(), round.ID, 0, 1000)
		if err != nil {
			t.Fatal(err)
		}
		held := make(map[string]game.Cents)
		for _, claim := range claims {
			held[claim.Player] += claim.Cents
		}
		answered := 0
		for player, both := range tabs {
			for n, tab := range both {
				answered += len(tab.answers.all)
				tab.wantClaimTotal(t, fmt.Sprintf("tab %d of %s", n, player), held[player])
			}
		}
		if answered != taps || len(claims) == 0 {
			t.Errorf("%d answers to %d taps, %d claims", answered, taps, len(claims))
		}
	})
}

// currentRound is the id of the room's current round.
func (p *redisInstance) currentRound() string {
	p.room.mu.Lock()
	defer p.room.mu.Unlock()
	if p.room.state == nil {
		return ""
	}
	return p.room.state.round.ID
}

// The connection of an instance's subscription stayed open, but nothing arrived any more. Its screens never changed again. Now the connection
// is replaced.
func TestAScreenGoesOnAfterItsSubscriptionStalled(t *testing.T) {
	address := testkit.Redis(t).URL
	books := testkit.NewBooks(code)
	proxy := testkit.NewSwallowProxy(t, hostOf(t, address))
	stalled, other := newRedisInstance(t, "redis://"+proxy.Addr, books), newRedisInstance(t, address, books)
	screen := stalled.addScreen()
	round := other.startRound(books)
	shows := func(within time.Duration, want int) {
		t.Helper()
		testkit.Eventually(t, within, func() error {
			received := tallies(t, screen)
			if len(received) == 0 || received[len(received)-1].ClaimedPackets != want {
				return fmt.Errorf("the screen does not show %d claims", want)
			}
			return nil
		})
	}
	other.grab(round, 1, books.Join(code, "ann"))
	shows(10*time.Second, 1)
	proxy.Stall()
	other.grab(round, 1, books.Join(code, "bob"), books.Join(code, "cyd"))
	shows(7*time.Second, 3) // five until it is noticed, and two as ever
}
