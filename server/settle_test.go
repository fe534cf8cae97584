package main

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"redrain/internal/bots"
	"redrain/internal/game"
	"redrain/internal/ledger"
	"redrain/internal/testkit"
	"redrain/internal/wire"
)

// newDatabases make a new, empty database each of every kind that the product supports.
var newDatabases = map[string]func(testing.TB) string{
	"sqlite":   func(t testing.TB) string { return "sqlite:" + t.TempDir() + "/books.db" },
	"postgres": testkit.SharedPostgres,
	"mariadb":  testkit.SharedMariaDB,
}

// awaitSettled waits until a round is settled and returns what its books say then, which must agree.
func awaitSettled(t testing.TB, host *bots.Host, round string) game.Reconciliation {
	t.Helper()
	testkit.Eventually(t, 2*soon, func() error {
		got, err := host.Round(t.Context(), round)
		if err == nil && got.Phase != game.Settled {
			err = fmt.Errorf("the round is %s, frozen %v", got.Phase, got.Frozen)
		}
		return err
	})
	books, err := host.Reconciliation(t.Context(), round)
	if err != nil || !books.Agrees || books.Ledger.EscrowCents != 0 {
		t.Errorf("the books are %+v, %v", books, err)
	}
	if books.Ledger.ClaimedCents+books.Ledger.RefundedCents != books.BudgetCents {
		t.Errorf("claims and refund are not the budget: %+v", books)
	}
	return books
}

// An instance is killed by the system in the middle of a round, over every kind of database. The other one goes on, the
// round ends on time, and the ledger is what players were told.
func TestAKilledInstanceLosesNoMoney(t *testing.T) {
	t.Parallel()
	for name, newDatabase := range newDatabases {
		t.Run(name, func(t *testing.T) {
			database := newDatabase(t)
			a, b := startTwo(t, testkit.Redis(t).URL, "DATABASE_URL="+database)
			host := loginHost(t, b)
			room := newRoom(t, host)
			lost, kept := joinPlayers(t, room, 10, a), joinPlayers(t, room, 10, b)
			round := newRound(t, host, room, map[string]any{
				"total_cents": 50_000, "packets": 300, "cap": 20, "countdown_ms": 0, "duration_ms": 5000, "close_when_sold_out": false,
			})
			startRound(t, host, round.ID)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			played := make(chan struct{})
			go func() {
				defer close(played)
				tapAll(ctx, t, round.ID, append(append([]*bots.Player{}, lost...), kept...))
			}()
			testkit.Eventually(t, soon, func() error {
				if tally := kept[0].Tally(); tally.ClaimedPackets < 30 {
					return fmt.Errorf("the tally says %+v", tally)
				}
				return nil
			})
			a.Kill(t)
			<-played
			books := awaitSettled(t, host, round.ID)
			if books.Ledger.Claims < 30 {
				t.Errorf("the ledger holds %d claims", books.Ledger.Claims)
			}
			awaitHeard(t, host, round.ID, kept)
			audit(t, host, round.ID, kept)
			wantBooked(t, host, round.ID, collectResults(lost))
			check := startProgram(t, []string{"DATABASE_URL=" + database, "REDIS_URL="}, "reconcile", round.ID)
			if code := check.Wait(t, soon); code != 0 || !strings.Contains(check.Output(), "settled   agrees") {
				t.Errorf("server reconcile ended with %d: %s", code, check.Output())
			}
		})
	}
}

// wantBooked checks that players were told nothing that is not in the books.
func wantBooked(t *testing.T, host *bots.Host, round string, told map[game.Tap]game.Cents) {
	t.Helper()
	claims, err := host.Claims(t.Context(), round)
	if err != nil {
		t.Fatal(err)
	}
	booked := make(map[game.Tap]game.Cents, len(claims))
	for _, claim := range claims {
		booked[game.Tap{Player: claim.Player, Drop: claim.Drop}] = claim.Cents
	}
	for tap, cents := range told {
		if booked[tap] != cents {
			t.Errorf("a player was told of %d cents for %+v, the books say %d", cents, tap, booked[tap])
		}
	}
}

// playEmbedded starts an instance over its own Redis, with players in the middle of a round, and returns what they were told
// so far, at least.
func playEmbedded(t *testing.T, database string) (in *instance, round wire.Round, players []*bots.Player) {
	t.Helper()
	in = startInstance(t, "DATABASE_URL="+database)
	host := loginHost(t, in)
	room := newRoom(t, host)
	players = joinPlayers(t, room, 8, in)
	round = newRound(t, host, room, map[string]any{
		"total_cents": 10_000, "packets": 500, "cap": 50, "countdown_ms": 0, "duration_ms": 60_000, "pace": "burst", "drops_per_second": 20,
	})
	startRound(t, host, round.ID)
	ctx, cancel := context.WithCancel(t.Context())
	playing := make(chan struct{})
	go func() { defer close(playing); tapAll(ctx, t, round.ID, players) }()
	testkit.Eventually(t, soon, func() error {
		if told := collectResults(players); len(told) < 30 {
			return fmt.Errorf("players were told of %d claims", len(told))
		}
		return nil
	})
	cancel()
	<-playing
	return in, round, players
}

// collectResults are the claims that players were told of, by player and drop.
func collectResults(players []*bots.Player) map[game.Tap]game.Cents {
	told := make(map[game.Tap]game.Cents)
	for _, p := range players {
		for drop, cents := range p.Won() {
			told[game.Tap{Player: p.ID, Drop: drop}] = cents
		}
	}
	return told
}

// A newcomer's Ctrl-C loses nothing: the round is closed and settled before the embedded Redis ends.
func TestCtrlCOfTheEmbeddedServerSettlesFirst(t *testing.T) {
	t.Parallel()
	database := "sqlite:" + t.TempDir() + "/books.db"
	in, round, players := playEmbedded(t, database)
	if code := in.Interrupt(t, soon); code != 0 {
		t.Errorf("it ended with %d: %s", code, in.Output())
	}
	told := collectResults(players)
	books, err := ledger.Open(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer books.Close()
	settled, err := books.Round(t.Context(), round.ID)
	if err != nil || settled.Phase != game.Settled || settled.Reason != game.Interrupted {
		t.Errorf("the round is %+v, %v", settled, err)
	}
	claims, err := books.Claims(t.Context(), round.ID, 0, 1000)
	if err != nil || len(claims) < len(told) {
		t.Errorf("the ledger holds %d claims, players were told of %d (%v)", len(claims), len(told), err)
	}
	for _, claim := range claims {
		if cents, known := told[game.Tap{Player: claim.Player, Drop: claim.Drop}]; known && cents != claim.Cents {
			t.Errorf("a player was told of %d cents, the ledger has %+v", cents, claim)
		}
		delete(told, game.Tap{Player: claim.Player, Drop: claim.Drop})
	}
	if len(told) > 0 {
		t.Errorf("the ledger has not got %v", told)
	}
	again := startInstance(t, "DATABASE_URL="+database)
	if reconciled := awaitSettled(t, loginHost(t, again), round.ID); reconciled.Redis != nil || reconciled.Ledger.Claims != len(claims) {
		t.Errorf("the books are %+v", reconciled)
	}
}

// Killed instead, the embedded Redis is gone with its keys: what was settled stays, the rest goes back to the host.
func TestAKilledEmbeddedServerInterruptsItsRound(t *testing.T) {
	t.Parallel()
	database := "sqlite:" + t.TempDir() + "/books.db"
	in, round, players := playEmbedded(t, database)
	in.Kill(t)
	told := collectResults(players)
	again := startInstance(t, "DATABASE_URL="+database)
	host := loginHost(t, again)
	books := awaitSettled(t, host, round.ID)
	if got, err := host.Round(t.Context(), round.ID); err != nil || got.Reason != game.Interrupted || got.Secret == "" {
		t.Errorf("the round is %+v, %v", got, err)
	}
	claims, err := host.Claims(t.Context(), round.ID)
	if err != nil || len(claims) != books.Ledger.Claims {
		t.Errorf("the ledger holds %d claims, shown are %d (%v)", books.Ledger.Claims, len(claims), err)
	}
	for _, claim := range claims {
		if cents, known := told[game.Tap{Player: claim.Player, Drop: claim.Drop}]; known && cents != claim.Cents {
			t.Errorf("a player was told of %d cents, the ledger has %+v", cents, claim)
		}
	}
}

// Instances that do not settle leave it to server settle, which also ends rounds on time when nobody else is left.
func TestServerSettleAlone(t *testing.T) {
	t.Parallel()
	shared := []string{"REDIS_URL=" + testkit.Redis(t).URL, "DATABASE_URL=sqlite:" + t.TempDir() + "/books.db"}
	in := startInstance(t, append(shared, "NO_SETTLE=true")...)
	host := loginHost(t, in)
	round := newRound(t, host, newRoom(t, host), map[string]any{"total_cents": 1000, "packets": 10, "countdown_ms": 0, "duration_ms": 3000})
	startRound(t, host, round.ID)
	closed := awaitClosed(t, host, round.ID, soon)
	if closed.Phase != game.Closed || closed.Secret != "" {
		t.Errorf("the round is %+v", closed)
	}
	settler := startProgram(t, shared, "settle")
	awaitSettled(t, host, round.ID)

	other := newRound(t, host, round.Room, map[string]any{"total_cents": 1000, "packets": 10, "countdown_ms": 0, "duration_ms": 3000})
	startRound(t, host, other.ID)
	in.Kill(t)
	settler.Await(t, soon, "round is settled.*"+other.ID)
	if code := settler.Interrupt(t, soon); code != 0 {
		t.Errorf("it ended with %d: %s", code, settler.Output())
	}
}

func TestReconcileCommandPrintsMismatches(t *testing.T) {
	t.Parallel()
	redisURL := testkit.Redis(t).URL
	shared := []string{"REDIS_URL=" + redisURL, "DATABASE_URL=sqlite:" + t.TempDir() + "/books.db"}
	in := startInstance(t, shared...)
	host := loginHost(t, in)
	room := newRoom(t, host)
	draft := newRound(t, host, room, map[string]any{"total_cents": 1000, "packets": 10})
	round := newRound(t, host, room, map[string]any{"total_cents": 1000, "packets": 10, "countdown_ms": 0, "duration_ms": 600_000})
	startRound(t, host, round.ID)
	reconcile := func(want int, output string, args ...string) {
		t.Helper()
		p := startProgram(t, shared, append([]string{"reconcile"}, args...)...)
		if code := p.Wait(t, soon); code != want || !strings.Contains(p.Output(), output) {
			t.Errorf("reconcile %v ended with %d: %s", args, code, p.Output())
		}
	}
	reconcile(0, round.ID+" raining   agrees: 0 claims of 0.00, escrow 10.00")
	reconcile(0, `"agrees":true`, "--json", round.ID)
	reconcile(2, "was never begun", draft.ID)
	reconcile(2, "was never begun", "nonsense")

	options, err := redis.ParseURL(redisURL)
	if err != nil {
		t.Fatal(err)
	}
	raw := redis.NewClient(options)
	defer raw.Close()
	if err := raw.HIncrBy(t.Context(), "redrain:{"+round.ID+"}:state", "rest", -7).Err(); err != nil {
		t.Fatal(err)
	}
	reconcile(1, "claimed_cents: 7 expected, 0 found", round.ID)
	reconcile(1, `"what":"claimed_cents","expected":7,"found":0`, "--json")
	testkit.Eventually(t, soon, func() error {
		if got, err := host.Round(t.Context(), round.ID); err != nil || !got.Frozen {
			return fmt.Errorf("the round is not frozen: %w", err)
		}
		return nil
	})
	if got, err := host.Release(t.Context(), round.ID); err != nil || got.Frozen {
		t.Errorf("released it is %+v, %v", got, err)
	}
	if _, err := host.Stop(t.Context(), round.ID); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, soon, func() error {
		if got, err := host.Round(t.Context(), round.ID); err != nil || got.Phase != game.Settled {
			return fmt.Errorf("the round is not settled: %w", err)
		}
		return nil
	})
	reconcile(0, "every account is the sum of its entries")
}

func TestSettlerDoesNotStartWithoutServers(t *testing.T) {
	for want, start := range map[string]struct {
		env  []string
		args []string
	}{
		"REDIS_URL is needed":    {nil, []string{"settle"}},
		"NO_SETTLE needs":        {[]string{"NO_SETTLE=1"}, []string{"serve"}},
		"KEYS_RETENTION must be": {[]string{"KEYS_RETENTION=5s"}, []string{"serve"}},
		"REDIS_URL":              {[]string{"REDIS_URL=redis://127.0.0.1:1"}, []string{"settle"}},
		"is not like mysql://":   {[]string{"DATABASE_URL=mysql://"}, []string{"migrate"}},
		"postgres at 127.0.0.1":  {[]string{"DATABASE_URL=postgres://x:hunter2@127.0.0.1:1/db"}, []string{"reconcile"}},
	} {
		env := append([]string{"REDIS_URL=", "DATABASE_URL=sqlite:" + t.TempDir() + "/books.db", "PORT=0", "HOST=127.0.0.1"}, start.env...)
		p := startProgram(t, env, start.args...)
		code := p.Wait(t, soon)
		lines := strings.Split(strings.TrimSpace(p.Output()), "\n")
		if code != 2 || len(lines) != 1 || !strings.Contains(lines[0], want) || strings.Contains(lines[0], "hunter2") {
			t.Errorf("%v ended with %d: %s", start.args, code, p.Output())
		}
	}
}

// A settler that was started before its database once ended at once, and nobody settled. One that is refused ends.
func TestSettlerWaitsForTheDatabase(t *testing.T) {
	t.Parallel()
	redis, postgres := testkit.Redis(t), testkit.Postgres(t)
	postgres.Kill(t)
	settler := startProgram(t, []string{"REDIS_URL=" + redis.URL, "DATABASE_URL=" + postgres.URL}, "settle")
	settler.Await(t, soon, `waiting for the database.*does not answer`)
	postgres.Restart(t)
	settler.Await(t, soon, `msg=settling`)
	if code := settler.Interrupt(t, soon); code != 0 {
		t.Errorf("it ended with %d", code)
	}
	refused := startProgram(t, []string{"REDIS_URL=" + redis.URL, "DATABASE_URL=" + strings.Replace(postgres.URL, "/redrain", "/nothing", 1)}, "settle")
	if code := refused.Wait(t, soon); code != exitUsage || !strings.Contains(refused.Output(), "refuses the connection") {
		t.Errorf("a settler of a database that is not there ended with %d:\n%s", code, refused.Output())
	}
}
