package rdb

import (
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"redrain/internal/game"
	"redrain/internal/testkit"
)

// listener is a subscription and the events that it receives, in order.
type listener struct {
	*Subscription
	t     *testing.T
	heard chan game.Event
}

func (r *fixture) listen(t *testing.T) *listener {
	t.Helper()
	l := &listener{t: t, heard: make(chan game.Event, 1000)}
	l.Subscription = r.Subscribe(t.Context(), slog.New(slog.NewTextHandler(io.Discard, nil)), func(h game.Event) { l.heard <- h })
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func (l *listener) add(room string) {
	l.t.Helper()
	if err := l.SubscribeRoom(l.t.Context(), room); err != nil {
		l.t.Fatal(err)
	}
	l.next(game.Event{Room: room, Missed: true})
}

// next compares the next event.
func (l *listener) next(want game.Event) {
	l.t.Helper()
	select {
	case got := <-l.heard:
		if text(got) != text(want) {
			l.t.Fatalf("heard %s, want %s", text(got), text(want))
		}
	case <-time.After(soon):
		l.t.Fatalf("heard nothing, want %s", text(want))
	}
}

func text(h game.Event) string {
	return fmt.Sprintf("%s %v %q tally %q notice %q lost %t", h.Room, h.Claims, h.Round, h.Tally, h.Notice, h.Missed)
}

func claimed(round game.Round, batch []game.Tap, grabbed game.Grabbed) game.Event {
	return game.Event{Room: round.Room, Claims: &game.Claimed{
		Round: round.ID, Left: grabbed.Left, Claims: claimsOf(batch, grabbed),
	}}
}

func TestSubscriptionReceivesARoundInOrder(t *testing.T) {
	t.Parallel()
	eachSplit(t, func(r *fixture, split func(*game.Settings)) {
		t := r.t.(*testing.T)
		l, round := r.listen(t), newRound(t, split)
		l.add(round.Room)
		r.open(round)
		l.next(game.Event{Room: round.Room, Round: round.ID})
		for n := range 4 {
			batch := append(crowd(fmt.Sprintf("p%d-", n), 1+2*n, 1), taps("zoe1")...)
			l.next(claimed(round, batch, r.grab(round, batch)))
			r.grab(round, taps("zoe1")) // loses: nothing to hear
		}
		tally := `{"claimed":3,"text":"a b 多"}`
		if err := r.PublishTally(t.Context(), round.Room, []byte(tally)); err != nil {
			t.Fatal(err)
		}
		l.next(game.Event{Room: round.Room, Tally: []byte(tally)})
		r.close(round, game.Stopped)
		l.next(game.Event{Room: round.Room, Round: round.ID})
	})
}

func TestSubscriptionReceivesItsRoomsOnly(t *testing.T) {
	t.Parallel()
	testkit.EachRedis(t, func(t *testing.T, url string) {
		r := newFixture(t, url)
		l := r.listen(t)
		l.add("ONE")
		l.add("TWO")
		publish := func(room, message string) {
			if err := r.redis.Publish(t.Context(), roomChannel(room), message).Err(); err != nil {
				t.Fatal(err)
			}
		}
		publish("THREE", "round c")
		publish("TWO", "round b")
		l.next(game.Event{Room: "TWO", Round: "b"})
		if err := l.UnsubscribeRoom(t.Context(), "TWO"); err != nil {
			t.Fatal(err)
		}
		testkit.Eventually(t, soon, func() error {
			subscribers, err := r.redis.PubSubNumSub(t.Context(), roomChannel("TWO")).Result()
			if err == nil && subscribers[roomChannel("TWO")] > 0 {
				err = fmt.Errorf("still subscribed: %v", subscribers)
			}
			return err
		})
		publish("TWO", "round b")
		publish("ONE", "notice {}")
		l.next(game.Event{Room: "ONE", Notice: []byte("{}")})
	})
}

// An unreadable message may have been anything, so it counts as missed.
func TestUnreadableMessagesCountAsMissed(t *testing.T) {
	t.Parallel()
	testkit.EachRedis(t, func(t *testing.T, url string) {
		r := newFixture(t, url)
		l := r.listen(t)
		l.add("ROOM")
		for _, message := range []string{
			"", "nonsense", "claims", "claims r 1 2", "claims r x 2 ann 1 5 1", "claims r 1 x ann 1 5 1", "claims r 1 2 ",
			"claims r 1 2 ann 1 5", "claims r 1 2 ann 1 5 1 9", "claims r 1 2 ann x 5 1", "claims r 1 2 ann 1 5.0 1",
		} {
			if err := r.redis.Publish(t.Context(), roomChannel("ROOM"), message).Err(); err != nil {
				t.Fatal(err)
			}
			l.next(game.Event{Room: "ROOM", Missed: true})
		}
	})
}

func TestMissedFollowsEveryReconnection(t *testing.T) {
	t.Parallel()
	server := testkit.Redis(t)
	r := newFixture(t, server.URL)
	l := r.listen(t)
	rooms := []string{"ONE", "TWO"}
	for _, room := range rooms {
		l.add(room)
	}
	for range 2 {
		server.Restart()
		var lost []string
		for range rooms {
			select {
			case h := <-l.heard:
				if !h.Missed {
					t.Errorf("heard %s", text(h))
				}
				lost = append(lost, h.Room)
			case <-time.After(soon):
				t.Fatalf("after the restart only %v were lost", lost)
			}
		}
		if slices.Sort(lost); !slices.Equal(lost, rooms) {
			t.Errorf("lost were %v", lost)
		}
		testkit.Eventually(t, soon, func() error { return r.PublishTally(t.Context(), "TWO", []byte("{}")) })
		l.next(game.Event{Room: "TWO", Tally: []byte("{}")})
	}
}

func TestNothingIsReceivedAfterClose(t *testing.T) {
	t.Parallel()
	testkit.EachRedis(t, func(t *testing.T, url string) {
		r := newFixture(t, url)
		l := r.listen(t)
		l.add("ROOM")
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if err := r.PublishTally(t.Context(), "ROOM", []byte("{}")); err != nil {
			t.Fatal(err)
		}
		if len(l.heard) > 0 {
			t.Errorf("heard %s", text(<-l.heard))
		}
		if err := l.SubscribeRoom(t.Context(), "ROOM"); err == nil {
			t.Error("a closed subscription takes another room")
		}
	})
}

func TestUnreadableTextsAreRefused(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", "1", "1 5", "1 5 7", "1 5 7:5", "1 5 7:5:1:1", "1 5 x:5:1", "1 5 7:5.5:1", "1 5 7:5:"} {
		if claims, err := parseHeldClaims("ann", bad); err == nil {
			t.Errorf("claims %q are read as %v", bad, claims)
		}
	}
	for _, bad := range [][2]string{{"-5", "ann"}, {"-5", "x:ann"}, {"-5.5", "1:ann"}, {"-1e+17", "1:ann"}, {"-inf", "1:ann"}, {"nan", "1:ann"}, {"", "1:ann"}} {
		if rank, err := parseRank(bad[0], bad[1]); err == nil {
			t.Errorf("%q is read as %v", bad, rank)
		}
	}
}

func TestRepliesOfTheWrongFormatAreRefused(t *testing.T) {
	t.Parallel()
	full := []any{int64(1000), int64(5), int64(50), "wd", int64(7), int64(1), int64(7), int64(1)}
	if _, err := readGrabbed(&reply{items: full}, 2); err != nil {
		t.Fatal(err)
	}
	for n := range full {
		if _, err := readGrabbed(&reply{items: full[:n]}, 2); err == nil {
			t.Errorf("a reply cut after %d elements is taken", n)
		}
		other := slices.Clone(full)
		other[n] = nil
		if _, err := readGrabbed(&reply{items: other}, 2); err == nil {
			t.Errorf("a reply with a nil at %d is taken", n)
		}
	}
	for letters, taps := range map[string]int{"wd": 3, "w": 1, "wx": 2, "wdd": 3} {
		other := slices.Clone(full)
		other[3] = letters
		if _, err := readGrabbed(&reply{items: other}, taps); err == nil {
			t.Errorf("letters %q are taken for %d taps", letters, taps)
		}
	}
	if !strings.Contains(errBadReply.Error(), "shape") {
		t.Error(errBadReply)
	}
}
