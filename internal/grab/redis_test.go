package grab

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"redrain/internal/game"
	"redrain/internal/rdb"
	"redrain/internal/testkit"
)

// openRound opens a burst of 100 packets in a real Redis and returns a client that reaches it through address, and one that
// reaches it directly.
func openRound(t *testing.T, redis *testkit.RedisServer, address string) (through, direct *rdb.Client, round game.Round) {
	t.Helper()
	dial := func(address string) *rdb.Client {
		client, err := rdb.Dial(t.Context(), "redis://"+address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = client.Disconnect() })
		return client
	}
	through, direct = dial(address), dial(redis.Addr)
	settings := game.DefaultSettings()
	settings.Total, settings.Packets, settings.Pace, settings.Cap, settings.Countdown = 10_000, 100, game.PaceBurst, 2, 0
	round = game.Round{ID: uuid.NewString(), Room: room, Settings: settings, Secret: game.NewSecret()}
	if _, err := direct.Open(t.Context(), round, nil); err != nil {
		t.Fatal(err)
	}
	return through, direct, round
}

// submitFor sends one tap on a drop for each of n players.
func submitFor(t *testing.T, c *Committer, round game.Round, n, drop int) []*answerRecorder {
	t.Helper()
	ears := make([]*answerRecorder, n)
	for i := range ears {
		ears[i] = &answerRecorder{tap: tapOf(i, drop)}
		if !c.Submit(room, round.ID, ears[i].tap, ears[i]) {
			t.Errorf("%v was refused", ears[i].tap)
		}
	}
	return ears
}

// countOutcomes holds what players heard against the books: every claim was told to its player once, or that player heard busy.
func countOutcomes(t *testing.T, client *rdb.Client, round game.Round, heard []*answerRecorder) map[game.Outcome]int {
	t.Helper()
	claims, err := client.Claims(t.Context(), round.ID, 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	standing, err := client.Standing(t.Context(), round.ID)
	if err != nil {
		t.Fatal(err)
	}
	p := &fakeScript{packets: round.Settings.Packets, claims: make(map[game.Tap]game.Answer)}
	var sum game.Cents
	for i, claim := range claims {
		tap := game.Tap{Player: claim.Player, Drop: claim.Drop}
		if _, twice := p.claims[tap]; twice || claim.Number != i+1 {
			t.Errorf("claim %d is %v, which is out of order or there before", i+1, claim)
		}
		p.claims[tap] = game.Answer{Cents: claim.Cents, Number: claim.Number}
		sum += claim.Cents
	}
	if sum+standing.Left.Cents != round.Settings.Total || len(claims)+standing.Left.Packets != round.Settings.Packets {
		t.Errorf("%d claims of %v and %v left of %v", len(claims), sum, standing.Left, round.Settings.Total)
	}
	if err := p.check(heard); err != nil {
		t.Error(err)
	}
	outcomes := make(map[game.Outcome]int)
	for _, e := range heard {
		answer, _ := e.once()
		outcomes[answer.Outcome]++
	}
	return outcomes
}

// A client library that repeats a script by itself after a lost reply counts taps twice, or tells winners that they had won
// before. Here the replies to the first calls vanish, the work stays done.
func TestRetryCountsEachTapOnce(t *testing.T) {
	redis := testkit.Redis(t)
	proxy := testkit.NewSwallowProxy(t, redis.Addr)
	through, direct, round := openRound(t, redis, proxy.Addr)
	if _, err := through.Grab(t.Context(), room, round.ID, through.NewBatch(), []game.Tap{tapOf(0, 99)}); err != nil { // loads the script
		t.Fatal(err)
	}
	c := New(through, Options{})
	proxy.SwallowReplies(2, "evalsha")
	ears := submitFor(t, c, round, 150, 1)
	closeCommitter(t, c)
	if proxy.Swallowed() != 2 {
		t.Fatalf("%d replies were swallowed", proxy.Swallowed())
	}
	first := &answerRecorder{tap: tapOf(0, 99)}
	first.HandleAnswer(first.tap, mustRepeat(t, direct, round, first.tap))
	outcomes := countOutcomes(t, direct, round, append(ears, first))
	if outcomes[game.Won] != 99 || outcomes[game.Duplicate] != 1 || outcomes[game.SoldOut] != 51 {
		t.Errorf("outcomes %v, want 99 won after the one before, and 51 sold out", outcomes)
	}
}

func mustRepeat(t *testing.T, client *rdb.Client, round game.Round, tap game.Tap) game.Answer {
	t.Helper()
	grabbed, err := client.Grab(t.Context(), room, round.ID, client.NewBatch(), []game.Tap{tap})
	if err != nil {
		t.Fatal(err)
	}
	return grabbed.Answers[0]
}

// flaky counts the tries that failed.
type flaky struct {
	Script
	failed chan struct{}
	once   sync.Once
}

func (f *flaky) Grab(ctx context.Context, room, round, batch string, taps []game.Tap) (game.Grabbed, error) {
	grabbed, err := f.Script.Grab(ctx, room, round, batch, taps)
	if err != nil {
		f.once.Do(func() { close(f.failed) })
	}
	return grabbed, err //nolint:wrapcheck // as it came
}

// Redis stands still until the first try has timed out, and the taps still get their results.
func TestTapsSurviveARedisThatStandsStillForASecond(t *testing.T) {
	redis := testkit.Redis(t)
	through, direct, round := openRound(t, redis, redis.Addr)
	script := &flaky{Script: through, failed: make(chan struct{})}
	c := New(script, Options{})
	redis.Freeze()
	ears := submitFor(t, c, round, 60, 1)
	<-script.failed
	redis.Thaw()
	closeCommitter(t, c)
	if outcomes := countOutcomes(t, direct, round, ears); outcomes[game.Won] != 60 {
		t.Errorf("outcomes %v, want 60 won", outcomes)
	}
}

// Redis stands still for longer than taps wait. They hear busy, which says nothing: what Redis had got by then counts, once,
// and the same tap again is told its result.
func TestTapsHearBusyWhenRedisStandsStillForLong(t *testing.T) {
	redis := testkit.Redis(t)
	through, direct, round := openRound(t, redis, redis.Addr)
	c := New(through, Options{})
	redis.Freeze()
	ears := submitFor(t, c, round, 60, 1)
	testkit.Eventually(t, 10*time.Second, func() error {
		_, err := ears[59].once()
		return err
	})
	for _, e := range ears {
		e.want(t, game.Busy)
	}
	redis.Thaw()
	again := submitFor(t, c, round, 60, 1)
	closeCommitter(t, c)
	outcomes := countOutcomes(t, direct, round, again)
	if outcomes[game.Won]+outcomes[game.Duplicate] != 60 {
		t.Errorf("outcomes %v of the second try, want all won or told again", outcomes)
	}
	standing, err := direct.Standing(t.Context(), round.ID)
	if err != nil || standing.Left.Packets != 40 {
		t.Errorf("%v left, %v: each tap counts once", standing.Left, err)
	}
}

// Two instances tap for the same players at once: each drop is won once, and both hear the same.
func TestTwoInstancesTapTheSameDrops(t *testing.T) {
	testkit.EachRedis(t, func(t *testing.T, url string) {
		settings := game.DefaultSettings()
		settings.Total, settings.Packets, settings.Pace, settings.Cap, settings.Countdown = 10_000, 100, game.PaceBurst, 4, 0
		round := game.Round{ID: uuid.NewString(), Room: room, Settings: settings, Secret: game.NewSecret()}
		var instances sync.WaitGroup
		heard := make([][]*answerRecorder, 2)
		clients := make([]*rdb.Client, 2)
		for i := range clients {
			client, err := rdb.Dial(t.Context(), url)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = client.Disconnect() })
			clients[i] = client
		}
		if _, err := clients[0].Open(t.Context(), round, nil); err != nil {
			t.Fatal(err)
		}
		for i, client := range clients {
			instances.Go(func() {
				c := New(client, Options{})
				for drop := range 4 {
					heard[i] = append(heard[i], submitFor(t, c, round, 20, drop+1)...)
				}
				closeCommitter(t, c)
			})
		}
		instances.Wait()
		outcomes := countOutcomes(t, clients[0], round, append(heard[0], heard[1]...))
		if outcomes[game.Won] != 80 || outcomes[game.Duplicate] != 80 {
			t.Errorf("outcomes %v, want 80 won and 80 told again", outcomes)
		}
		for i := range heard[0] {
			one, _ := heard[0][i].once()
			other, _ := heard[1][i].once()
			if one.Cents != other.Cents || one.Number != other.Number {
				t.Errorf("%v: %v on one instance, %v on the other", heard[0][i].tap, one, other)
			}
		}
	})
}

func TestTapsOnRoundsThatRedisDoesNotKnowAreFrozen(t *testing.T) {
	redis := testkit.Redis(t)
	client, _, _ := openRound(t, redis, redis.Addr)
	c := New(client, Options{})
	var ears []*answerRecorder
	for i := range 20 { // none of them has keys: gone, which is frozen at once
		e := &answerRecorder{tap: tapOf(i, 1)}
		if !c.Submit(room, "no-such-round-"+strconv.Itoa(i), e.tap, e) {
			t.Fatal("refused")
		}
		ears = append(ears, e)
	}
	closeCommitter(t, c)
	for _, e := range ears {
		e.want(t, game.Frozen)
	}
}

// Two tabs of every player tap the same drops over two instances, and the first replies of both are lost: each drop is told as won
// once, and as a duplicate once.
func TestOfTwoTabsOverTwoInstancesOneHasWon(t *testing.T) {
	redis := testkit.Redis(t)
	proxies := []*testkit.SwallowProxy{testkit.NewSwallowProxy(t, redis.Addr), testkit.NewSwallowProxy(t, redis.Addr)}
	first, direct, round := openRound(t, redis, proxies[0].Addr)
	second, err := rdb.Dial(t.Context(), "redis://"+proxies[1].Addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = second.Disconnect() })
	tabs := make([][]*answerRecorder, 2)
	committers := []*Committer{New(first, Options{}), New(second, Options{})}
	for i, c := range committers {
		proxies[i].SwallowReplies(2, "evalsha")
		tabs[i] = submitFor(t, c, round, 60, 1)
	}
	for _, c := range committers {
		closeCommitter(t, c)
	}
	for player := range 60 {
		heard := make(map[game.Outcome]int)
		for _, tab := range tabs {
			answer, err := tab[player].once()
			if err != nil {
				t.Fatal(err)
			}
			heard[answer.Outcome]++
		}
		if heard[game.Won] != 1 || heard[game.Duplicate] != 1 {
			t.Errorf("the tabs of player %d heard %v, want won once and duplicate once", player, heard)
		}
	}
	if lost := proxies[0].Swallowed() + proxies[1].Swallowed(); lost < 2 {
		t.Errorf("only %d replies were lost", lost)
	}
	if standing, err := direct.Standing(t.Context(), round.ID); err != nil || standing.Left.Packets != 40 {
		t.Errorf("%v left, %v", standing.Left, err)
	}
}
