package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"redrain/internal/bots"
	"redrain/internal/game"
	"redrain/internal/ledger"
	"redrain/internal/rdb"
	"redrain/internal/testkit"
)

// How much the storm does.
const (
	stormRooms  = 25
	stormRounds = 200
	stormHosts  = 4
	killEvery   = 3 * time.Second
	// stormFor bounds it: rounds last 3 s each, and a room plays one after the other.
	stormFor = 25 * time.Second
	// startWithin is how long an instance may wait for the database, which still counts the connections of the killed ones.
	startWithin = 2 * time.Minute
)

// Three instances, and hosts who do everything to every round at once: edit, plan, start, stop, cancel, freeze, release and delete,
// while one instance after the other is killed and others tap. In the end every cent of every round is where the books say it is.
func TestManyHostsOnThreeInstancesThatCrash(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"postgres", "mariadb"} {
		t.Run(name, func(t *testing.T) {
			s := newHostStorm(t, testkit.Redis(t, "--appendonly", "yes", "--appendfsync", "always").URL, newDatabases[name](t))
			ctx, cancel := context.WithTimeout(t.Context(), stormFor)
			defer cancel()
			var working sync.WaitGroup
			host := loginHost(t, s.instances[0])
			for range stormHosts {
				working.Go(func() { s.host(ctx, host) })
			}
			working.Go(func() { s.tap(ctx) })
			s.killOneAfterTheOther(ctx)
			working.Wait()
			s.settle()
			s.wantEveryCent()
		})
	}
}

// hostStorm is the fleet, its rounds, and what players were told.
type hostStorm struct {
	*testing.T
	env       []string
	books     *ledger.Ledger
	pool      *rdb.Client
	rooms     []string
	drafts    []string // ids of all rounds
	mu        sync.Mutex
	instances []*instance
	told      map[string][]game.Claim // by round
}

func newHostStorm(t *testing.T, redisURL, database string) *hostStorm {
	t.Helper()
	s := &hostStorm{
		T: t, told: make(map[string][]game.Claim),
		env: []string{"REDIS_URL=" + redisURL, "DATABASE_URL=" + database, "SESSION_SECRET=" + strings.Repeat("s", 32), "LOG_LEVEL=error"},
	}
	for range 3 {
		s.instances = append(s.instances, startInstance(t, s.env...))
	}
	var err error
	if s.books, err = ledger.Open(t.Context(), database); err != nil {
		t.Fatal(err)
	}
	if s.pool, err = rdb.Dial(t.Context(), redisURL); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(s.pool.Disconnect(), s.books.Close()); err != nil {
			t.Error(err)
		}
	})
	host := loginHost(t, s.instances[0])
	for range stormRooms {
		s.rooms = append(s.rooms, newRoom(t, host))
	}
	for i := range stormRounds {
		s.drafts = append(s.drafts, newRound(t, host, s.rooms[i%stormRooms], stormSettings()).ID)
	}
	return s
}

func stormSettings() map[string]any {
	packets := 1 + rand.IntN(20)
	return map[string]any{
		"total_cents": packets * (1 + rand.IntN(100)), "packets": packets, "cap": 1 + rand.IntN(5), "countdown_ms": rand.IntN(300),
		"duration_ms": 3000, "pace": []string{"even", "burst"}[rand.IntN(2)], "split": []string{"live", "dealt"}[rand.IntN(2)],
		"close_when_sold_out": rand.IntN(2) == 0, "bomb_percent": rand.IntN(50),
	}
}

// any is a host's session on one of the instances that live.
func (s *hostStorm) any(host *bots.Host) *bots.Host {
	s.mu.Lock()
	defer s.mu.Unlock()
	return host.At(s.instances[rand.IntN(len(s.instances))].url)
}

// killOneAfterTheOther kills an instance every few seconds, and starts another in its place.
func (s *hostStorm) killOneAfterTheOther(ctx context.Context) {
	ticker := time.NewTicker(killEvery)
	defer ticker.Stop()
	for at := 0; ; at = (at + 1) % 3 {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if s.done(ctx) {
			return
		}
		s.mu.Lock()
		dying := s.instances[at]
		s.mu.Unlock()
		dying.Kill(s)
		fresh := startInstanceWithin(s, startWithin, s.env...)
		s.mu.Lock()
		s.instances[at] = fresh
		s.mu.Unlock()
	}
}

// done reports whether every round is over, deleted, or frozen.
func (s *hostStorm) done(ctx context.Context) bool {
	for _, id := range s.drafts {
		round, err := s.books.Round(ctx, id)
		if errors.Is(err, game.ErrNotFound) {
			continue
		}
		if err != nil || !round.Phase.Over() {
			return false
		}
	}
	return true
}

// host does one thing after the other to rounds by chance. Whatever a server answers is fine but a fault of its own.
func (s *hostStorm) host(ctx context.Context, session *bots.Host) {
	for ctx.Err() == nil && !s.done(ctx) {
		for range 20 {
			id, host := s.drafts[rand.IntN(len(s.drafts))], s.any(session)
			err := s.act(ctx, host, id)
			if err != nil && ctx.Err() == nil && strings.Contains(err.Error(), ": 500 ") {
				s.Errorf("a host hears of a fault: %v", err)
			}
		}
	}
}

func (s *hostStorm) act(ctx context.Context, host *bots.Host, id string) error {
	post := func(path string, body any) error {
		return host.Call(ctx, http.MethodPost, "/api/rounds/"+id+path, body, new(json.RawMessage))
	}
	switch rand.IntN(20) {
	case 0, 1, 2, 3:
		return post("/settings", stormSettings())
	case 4:
		return post("/plan", map[string]any{"starts_on": time.Now().Add(time.Second).UnixMilli()})
	case 5, 6, 7, 8, 9, 10:
		return post("/start", nil)
	case 11:
		return post("/stop", nil)
	case 12:
		return post("/cancel", nil)
	case 13, 14:
		return post("/freeze", nil)
	case 15, 16, 17, 18:
		return post("/release", nil)
	default:
		if rand.IntN(4) > 0 {
			return nil // most drafts are to be played
		}
		return host.Call(ctx, http.MethodDelete, "/api/rounds/"+id, nil, new(json.RawMessage))
	}
}

// tap lets players win in every round that is open, as an instance of its own does, and notes what they are told.
func (s *hostStorm) tap(ctx context.Context) {
	for drop := game.DropID(1); ctx.Err() == nil && !s.done(ctx); drop++ {
		open, err := s.books.OpenRounds(ctx)
		if err != nil && ctx.Err() == nil {
			s.Error(err)
		}
		for _, round := range open {
			taps := []game.Tap{{Player: "ann", Drop: drop}, {Player: "bob", Drop: drop}, {Player: "cat", Drop: drop}}
			grabbed, err := s.pool.Grab(ctx, round.Room, round.ID, s.pool.NewBatch(), taps)
			if err != nil {
				continue // not open yet, or not any more
			}
			for i, answer := range grabbed.Answers {
				if answer.Outcome == game.Won {
					s.told[round.ID] = append(s.told[round.ID], game.Claim{Player: taps[i].Player, Drop: drop, Cents: answer.Cents, Number: answer.Number})
				}
			}
		}
	}
}

// settle waits until every round that was begun is settled, or frozen with a reason.
func (s *hostStorm) settle() {
	s.Helper()
	testkit.Eventually(s, 3*soon, func() error {
		for _, id := range s.drafts {
			round, err := s.books.Round(s.Context(), id)
			switch {
			case errors.Is(err, game.ErrNotFound):
			case err != nil:
				return err
			case round.Frozen && round.FreezeReason == "":
				return fmt.Errorf("round %s is frozen without a reason", id)
			case !round.Frozen && round.Phase != game.Draft && round.Phase != game.Settled:
				return fmt.Errorf("round %s is %s", id, round.Phase)
			}
		}
		return nil
	})
}

func (s *hostStorm) wantEveryCent() {
	s.Helper()
	var frozen []string
	phases := make(map[game.Phase]int)
	for _, id := range s.drafts {
		round, err := s.books.Round(s.Context(), id)
		if errors.Is(err, game.ErrNotFound) {
			phases["deleted"]++
			continue
		}
		if err != nil {
			s.Fatal(err)
		}
		phases[round.Phase]++
		if round.Phase == game.Draft {
			continue
		}
		if round.Commitment != game.Commitment(round.Algorithm, round, round.Secret) {
			s.Errorf("the commitment of round %s is not that of its settings", id)
		}
		if round.Frozen {
			frozen = append(frozen, id)
		}
		s.wantBudget(round)
	}
	s.Logf("rounds by phase: %v, %d frozen, %d were won in", phases, len(frozen), len(s.told))
	if phases[game.Settled] < stormRounds/8 {
		s.Errorf("only %d rounds were played to their end", phases[game.Settled])
	}
	if found, err := s.books.UnbalancedAccounts(s.Context()); err != nil || len(found) > 0 {
		s.Errorf("accounts are not the sums of their entries: %v, %v", found, err)
	}
	if sum, err := s.books.SumBalances(s.Context()); err != nil || sum != 0 {
		s.Errorf("the accounts sum to %d, %v", sum, err)
	}
	s.wantReconciled(frozen)
}

// wantBudget checks one round: what was told is booked, and claims, refund and what is held are its budget.
func (s *hostStorm) wantBudget(round game.Round) {
	s.Helper()
	account, err := s.books.Account(s.Context(), round.ID)
	if err != nil {
		s.Fatal(err)
	}
	held, err := s.books.Escrow(s.Context(), round)
	if err != nil {
		s.Fatal(err)
	}
	want := round.Settings.Total - account.Booked.Cents
	if account.Refunded {
		want = 0
	}
	settled := round.Phase == game.Settled
	// A freeze may come between the refund and the settling, which then waits for the release.
	if held != want || (settled && !account.Refunded) || (account.Refunded && !settled && !round.Frozen) {
		s.Errorf("round %s is %s and holds %d cents, want %d; refunded: %t", round.ID, round.Phase, held, want, account.Refunded)
	}
	booked, err := s.books.Claims(s.Context(), round.ID, 0, 1000)
	if err != nil {
		s.Fatal(err)
	}
	known := make(map[game.Claim]bool, len(booked))
	for _, claim := range booked {
		known[claim] = true
	}
	for _, claim := range s.told[round.ID] {
		if !known[claim] {
			s.Errorf("a player was told of %+v in round %s, which is not in the books", claim, round.ID)
		}
	}
}

// wantReconciled runs the command over all rounds: it agrees, or names frozen ones.
func (s *hostStorm) wantReconciled(frozen []string) {
	s.Helper()
	check := startProgram(s, s.env[:2], "reconcile", "--json")
	code := check.Wait(s, 2*time.Minute)
	for line := range strings.Lines(check.Output()) {
		var r game.Reconciliation
		if err := json.Unmarshal([]byte(line), &r); err == nil && r.Round != "" && !r.Agrees && !r.Frozen {
			s.Errorf("round %s differs: %s", r.Round, line)
		}
	}
	if code != 0 && len(frozen) == 0 {
		s.Errorf("reconcile ended with %d:\n%s", code, check.Output())
	}
}
