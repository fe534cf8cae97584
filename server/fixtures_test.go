package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"redrain/internal/bots"
	"redrain/internal/testkit"
	"redrain/internal/wire"
)

const (
	password = "correct horse"
	soon     = 40 * time.Second // how long a test waits for what should come at once, on a busy machine too
	// asProgram makes this test binary be the program: instances of their own processes need no build of their own, and run
	// with the race detector if the tests do.
	asProgram = "REDRAIN_TEST_AS_PROGRAM"
)

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(runUntilSignal(os.Args[1:]))
	}
	if os.Getenv(asEcho) != "" {
		fmt.Println(serveEcho())
		os.Exit(exitFault)
	}
	goleak.VerifyTestMain(testkit.Main(m))
}

// startProgram starts the server's binary with these arguments and variables.
func startProgram(t testing.TB, env []string, args ...string) *testkit.Program {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return testkit.StartProgram(t, append([]string{asProgram + "=1"}, env...), self, args...)
}

// instance is one running server process.
type instance struct {
	*testkit.Program
	url string
}

// startInstance starts a server process on a free port of 127.0.0.1. env may override anything.
func startInstance(t testing.TB, env ...string) *instance {
	t.Helper()
	return startInstanceWithin(t, soon, env...)
}

func startInstanceWithin(t testing.TB, within time.Duration, env ...string) *instance {
	t.Helper()
	defaults := []string{"HOST=127.0.0.1", "PORT=0", "HOST_PASSWORD=" + password, "REDIS_URL=", "DATABASE_URL=sqlite:" + t.TempDir() + "/books.db"}
	p := startProgram(t, append(defaults, env...))
	return &instance{Program: p, url: p.Await(t, within, `players +(http://127\.0\.0\.1:\d+)/`)[1]}
}

// startTwo starts two instances over one Redis and one database.
func startTwo(t testing.TB, redisURL string, env ...string) (a, b *instance) {
	t.Helper()
	shared := append([]string{"REDIS_URL=" + redisURL, "DATABASE_URL=sqlite:" + t.TempDir() + "/books.db"}, env...)
	return startInstance(t, shared...), startInstance(t, shared...)
}

// loginHost logs in on an instance.
func loginHost(t testing.TB, in *instance) *bots.Host {
	t.Helper()
	return loginHostWithPassword(t, in.url, password)
}

func loginHostWithPassword(t testing.TB, url, password string) *bots.Host {
	t.Helper()
	host := bots.NewHost(url)
	if err := host.Login(t.Context(), password); err != nil {
		t.Fatal(err)
	}
	return host
}

// newRoom makes a room.
func newRoom(t testing.TB, host *bots.Host) string {
	t.Helper()
	room, err := host.MakeRoom(t.Context(), "年会")
	if err != nil {
		t.Fatal(err)
	}
	return room.Code
}

// newRound makes a round in a room.
func newRound(t testing.TB, host *bots.Host, room string, settings map[string]any) wire.Round {
	t.Helper()
	round, err := host.MakeRound(t.Context(), room, settings)
	if err != nil {
		t.Fatal(err)
	}
	return round
}

func startRound(t testing.TB, host *bots.Host, id string) wire.Round {
	t.Helper()
	round, err := host.Start(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return round
}

// joinPlayers joins and connects players, spread over the instances; they leave with the test.
func joinPlayers(t testing.TB, room string, count int, instances ...*instance) []*bots.Player {
	t.Helper()
	players := make([]*bots.Player, count)
	var joining sync.WaitGroup
	gate := make(chan struct{}, 16)
	for i := range players {
		joining.Go(func() {
			gate <- struct{}{}
			defer func() { <-gate }()
			in := instances[i%len(instances)]
			p, err := bots.Join(t.Context(), in.url, fmt.Sprintf("127.0.0.%d", 2+i%200), room, fmt.Sprintf("玩家%d", i))
			if err == nil {
				err = p.Connect(t.Context())
			}
			if err != nil {
				t.Error(err)
				return
			}
			players[i] = p
		})
	}
	joining.Wait()
	t.Cleanup(func() { disconnectPlayers(players) })
	if t.Failed() {
		t.FailNow()
	}
	return players
}

// disconnectPlayers disconnects players concurrently.
func disconnectPlayers(players []*bots.Player) {
	var leaving sync.WaitGroup
	for _, p := range players {
		if p != nil {
			leaving.Go(p.Disconnect)
		}
	}
	leaving.Wait()
}

// tapAll lets every player tap every drop that falls until the round is closed. They may not have heard of it yet.
func tapAll(ctx context.Context, t testing.TB, round string, players []*bots.Player) {
	t.Helper()
	var playing sync.WaitGroup
	for _, p := range players {
		playing.Go(func() {
			for ctx.Err() == nil && p.Err() == nil {
				if at := p.Round(); at.ID == round && at.Phase.Over() {
					return
				}
				if drop := p.NextDrop(); drop != 0 {
					_ = p.Tap(ctx, drop, time.Now()) // a lost connection shows in Err, where it matters
				} else {
					time.Sleep(10 * time.Millisecond) // as fast as a player looks, not a wait
				}
			}
		})
	}
	playing.Wait()
}

// awaitClosed waits until a round is closed.
func awaitClosed(t testing.TB, host *bots.Host, id string, within time.Duration) wire.Round {
	t.Helper()
	var round wire.Round
	testkit.Eventually(t, within, func() (err error) {
		if round, err = host.Round(t.Context(), id); err == nil && !round.Phase.Over() {
			err = fmt.Errorf("the round is %s", round.Phase)
		}
		return err
	})
	return round
}

// audit fails the test for every violation of the invariants.
func audit(t testing.TB, host *bots.Host, id string, players []*bots.Player) {
	t.Helper()
	violations, err := bots.Audit(t.Context(), host, id, players)
	if err != nil {
		t.Fatal(err)
	}
	if len(violations) > 10 {
		violations = append(violations[:10], fmt.Sprintf("and %d more", len(violations)-10))
	}
	if len(violations) > 0 {
		t.Errorf("the books do not hold:\n%s", strings.Join(violations, "\n"))
	}
}
