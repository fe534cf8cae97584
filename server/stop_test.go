package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"redrain/internal/bots"
	"redrain/internal/game"
	"redrain/internal/ledger"
	"redrain/internal/testkit"
)

// Supervisors kill what has not ended 30 s after SIGTERM: all bounds of a stop together are less.
func TestStopTimeoutsAreWithinSupervisorLimits(t *testing.T) {
	for name, stages := range map[string][]stage{"serve": new(app).stages(), "settle": settleStages(nil, nil, nil, nil, nil, nil)} {
		sum := time.Duration(0)
		for _, stage := range stages {
			for _, p := range stage {
				if p.within <= 0 {
					t.Errorf("%s: %s has no bound", name, p.doing)
				}
			}
			sum += stage.bound()
		}
		if sum >= stopWithin {
			t.Errorf("a stop of server %s may take %v, more than %v", name, sum, stopWithin)
		}
	}
}

// A part that hangs, whatever its context says, is left behind at its bound, and named. The next stage begins then. Only a
// needed part makes the stop fail.
func TestStopContinuesPastAHangingPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		hang := make(chan struct{})
		began, last := time.Now(), time.Duration(0)
		hangs := func(context.Context) error { <-hang; return nil }
		err := stopIn(t.Context(), slog.New(slog.NewTextHandler(&log, nil)),
			stage{{doing: "wait for ever", within: time.Second, do: hangs}, {doing: "fail at once", within: time.Second, do: func(context.Context) error { return errors.New("no") }}},
			stage{{doing: "be needed", within: 2 * time.Second, do: hangs, needed: true}},
			stage{{doing: "come last", within: time.Second, do: func(context.Context) error { last = time.Since(began); return nil }}})
		if err == nil || !strings.Contains(err.Error(), "be needed") || strings.Contains(err.Error(), "for ever") {
			t.Errorf("it ended with %v", err)
		}
		if last != 3*time.Second+2*stopGrace {
			t.Errorf("the last stage began after %v", last)
		}
		if text := log.String(); !strings.Contains(text, "wait for ever") || !strings.Contains(text, "fail at once") {
			t.Errorf("the log says:\n%s", text)
		}
		close(hang)
	})
}

// proxiedPostgres is a new database behind a proxy that can misbehave.
func proxiedPostgres(t *testing.T) (proxy *testkit.SwallowProxy, direct, proxied string) {
	t.Helper()
	direct = testkit.SharedPostgres(t)
	address, err := url.Parse(direct)
	if err != nil {
		t.Fatal(err)
	}
	proxy = testkit.NewSwallowProxy(t, address.Host)
	address.Host = proxy.Addr
	return proxy, direct, address.String()
}

// tapStorm is an instance with an embedded Redis in the middle of a round. Everybody taps until they are cut off.
type tapStorm struct {
	*instance
	round   string
	players []*bots.Player
	playing sync.WaitGroup
}

func startTapStorm(t *testing.T, database string) *tapStorm {
	t.Helper()
	s := &tapStorm{instance: startInstance(t, "DATABASE_URL="+database)}
	host := loginHost(t, s.instance)
	room := newRoom(t, host)
	s.players = joinPlayers(t, room, 20, s.instance)
	s.round = newRound(t, host, room, map[string]any{
		"total_cents": 1_000_000, "packets": 5000, "cap": 100, "countdown_ms": 0, "duration_ms": 120_000, "pace": "burst",
		"bomb_percent": 0, "drops_per_second": 10,
	}).ID
	startRound(t, host, s.round)
	s.playing.Go(func() { tapAll(t.Context(), t, s.round, s.players) })
	s.awaitWins(t, 50)
	s.stallUpload(t, room)
	return s
}

// awaitWins waits for so many more wins than were told by now.
func (s *tapStorm) awaitWins(t *testing.T, more int) {
	t.Helper()
	before := len(collectResults(s.players))
	testkit.Eventually(t, soon, func() error {
		if told := len(collectResults(s.players)); told < before+more {
			return fmt.Errorf("%d wins were told, want %d more than %d", told, more, before)
		}
		return nil
	})
}

// stallUpload sends a request whose body never comes. It returns once the server waits for that.
func (s *tapStorm) stallUpload(t *testing.T, room string) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_, err = fmt.Fprintf(conn, "POST /api/rooms/%s/players HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n", room)
	if err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") {
		t.Fatalf("the server says %q, %v", line, err)
	}
}

// stop ends the instance as Ctrl-C does, in the middle of the taps, and returns the exit code and what was told until then.
func (s *tapStorm) stop(t *testing.T, meanwhile func()) (code int, told map[game.Tap]game.Cents) {
	t.Helper()
	began := time.Now()
	ended := make(chan int, 1)
	go func() { ended <- s.Interrupt(t, stopWithin) }()
	s.Await(t, soon, "msg=stopping")
	meanwhile()
	code = <-ended
	t.Logf("stopped within %v", time.Since(began))
	s.playing.Wait()
	disconnectPlayers(s.players)
	return code, collectResults(s.players)
}

// missing takes out of told what the books hold, and returns how many are left.
func (s *tapStorm) missing(t *testing.T, database string, told map[game.Tap]game.Cents) int {
	t.Helper()
	books, err := ledger.Open(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer books.Close()
	claims, err := books.Claims(t.Context(), s.round, 0, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	for _, claim := range claims {
		tap := game.Tap{Player: claim.Player, Drop: claim.Drop}
		if cents, known := told[tap]; known && cents != claim.Cents {
			t.Errorf("a player was told of %d cents, the ledger has %+v", cents, claim)
		}
		delete(told, tap)
	}
	return len(told)
}

// Once, a stop had ten seconds in all, and one request whose body never came used them up before the embedded Redis was
// settled: wins that were told ended with the process. Now that comes first, and has its own time.
func TestStopUnderLoadLosesNoWin(t *testing.T) {
	t.Parallel()
	proxy, direct, database := proxiedPostgres(t)
	s := startTapStorm(t, database)
	proxy.Delay(50 * time.Millisecond)
	s.awaitWins(t, 50)
	code, told := s.stop(t, func() {})
	if code != exitOK {
		t.Errorf("the exit code is %d", code)
	}
	if len(told) < 100 {
		t.Errorf("%d wins were told", len(told))
	}
	if missing := s.missing(t, direct, told); missing > 0 {
		t.Errorf("%d wins that were told are not in the books", missing)
	}
	if !strings.Contains(s.Output(), "1 requests under way are cut") {
		t.Error("the log does not say that a request was cut")
	}
	wantSettled(t, direct, s.round)
}

// wantSettled checks that a round was settled as interrupted.
func wantSettled(t *testing.T, database, round string) {
	t.Helper()
	books, err := ledger.Open(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer books.Close()
	if got, err := books.Round(t.Context(), round); err != nil || got.Phase != game.Settled || got.Reason != game.Interrupted {
		t.Errorf("the round is %+v, %v", got, err)
	}
}

// The database is away when the stop begins, and comes back: what time there is gets used.
func TestAStopWaitsForADatabaseThatComesBack(t *testing.T) {
	t.Parallel()
	proxy, direct, database := proxiedPostgres(t)
	s := startTapStorm(t, database)
	proxy.Refuse()
	proxy.Cut()
	s.awaitWins(t, 50)
	code, told := s.stop(t, func() {
		s.Await(t, soon, "cannot close all rounds before the embedded Redis ends")
		proxy.Heal()
	})
	if missing := s.missing(t, direct, told); code != exitOK || missing > 0 {
		t.Errorf("the exit code is %d, and %d wins that were told are not in the books", code, missing)
	}
	wantSettled(t, direct, s.round)
}

// Neither a request whose body never comes nor a database that never answers keeps an instance beyond the bounds. It says
// what is not in the books, and the next start settles the round with what is.
func TestAStopEndsThoughTheDatabaseHangs(t *testing.T) {
	t.Parallel()
	proxy, direct, database := proxiedPostgres(t)
	s := startTapStorm(t, database)
	proxy.SwallowReplies(-1, "")
	s.awaitWins(t, 50)
	code, told := s.stop(t, func() {})
	if code != exitFault {
		t.Errorf("the exit code is %d though claims were lost", code)
	}
	said := regexp.MustCompile(`not in the books, and end with the embedded Redis" round=` + s.round + ` room=\w+ claims=(\d+) cents=[1-9]`).FindStringSubmatch(s.Output())
	if said == nil {
		t.Fatal("the log does not say what is not in the books")
	}
	lost, _ := strconv.Atoi(said[1])
	if missing := s.missing(t, direct, told); missing == 0 || missing > lost {
		t.Errorf("%d wins that were told are not in the books, the log says %d", missing, lost)
	}
	proxy.Heal()
	again := startInstance(t, "DATABASE_URL="+direct)
	awaitSettled(t, loginHost(t, again), s.round)
}

// A Redis of its own that hangs, with a database that does too, keeps neither an instance nor a settler beyond the bounds.
// Nothing is lost with the process, so that is no failure.
func TestAStopEndsThoughRedisHangs(t *testing.T) {
	t.Parallel()
	redis := testkit.Redis(t)
	proxy, _, database := proxiedPostgres(t)
	env := []string{"REDIS_URL=" + redis.URL, "DATABASE_URL=" + database}
	in := startInstance(t, env...)
	host := loginHost(t, in)
	room := newRoom(t, host)
	player := joinPlayers(t, room, 1, in)[0]
	startRound(t, host, newRound(t, host, room, map[string]any{"total_cents": 100, "packets": 10, "countdown_ms": 0}).ID)
	settler := startProgram(t, env, "settle")
	settler.Await(t, soon, "msg=settling")
	testkit.Eventually(t, soon, func() error {
		drop := player.NextDrop()
		if drop == 0 {
			return errors.New("no drop falls yet")
		}
		redis.Freeze()
		return player.Tap(t.Context(), drop, time.Now())
	})
	defer redis.Thaw()
	proxy.SwallowReplies(-1, "")
	var stopping sync.WaitGroup
	for name, p := range map[string]*testkit.Program{"serve": in.Program, "settle": settler} {
		stopping.Go(func() {
			began := time.Now()
			if code := p.Interrupt(t, stopWithin); code != exitOK {
				t.Errorf("server %s ended with %d", name, code)
			}
			t.Logf("server %s stopped within %v", name, time.Since(began))
		})
	}
	stopping.Wait()
}
