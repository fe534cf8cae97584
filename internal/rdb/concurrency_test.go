package rdb

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"redrain/internal/game"
	"redrain/internal/testkit"
)

// roundModel is a round as one thing that answers one batch at a time.
func roundModel(round game.Round) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return newModel(round, 0, 1) },
		Step: func(state, input, output any) (bool, any) {
			after := *state.(*model)
			after.claims = slices.Clone(after.claims)
			want := after.grab(input.([]game.Tap), 0)
			got := output.(game.Grabbed)
			return slices.Equal(got.Answers, want) && got.Left == after.left, &after
		},
		// Claims alone tell states of one round apart: what is left follows from them.
		Equal:             func(a, b any) bool { return slices.Equal(a.(*model).claims, b.(*model).claims) },
		DescribeOperation: func(input, output any) string { return fmt.Sprintf("%v → %v", input, output) },
	}
}

// history has instances grab concurrently, and records when each call began and ended.
func history(t *testing.T, url string, round game.Round, workers, calls int) []porcupine.Operation {
	var mu sync.Mutex
	var operations []porcupine.Operation
	var running sync.WaitGroup
	began := time.Now()
	for worker := range workers {
		r := newFixture(t, url)
		random := rand.New(rand.NewPCG(uint64(worker), 7)) //nolint:gosec // the same in every run
		running.Go(func() {
			for range calls {
				batch := make([]game.Tap, 1+random.IntN(4))
				for i := range batch {
					batch[i] = game.Tap{Player: fmt.Sprint("p", random.IntN(12)), Drop: game.DropID(1 + random.IntN(4))}
				}
				asked := time.Since(began)
				grabbed, err := r.Grab(t.Context(), round.Room, round.ID, r.NewBatch(), batch)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				operations = append(operations, porcupine.Operation{
					ClientId: worker, Input: batch, Call: int64(asked), Output: grabbed, Return: int64(time.Since(began)),
				})
				mu.Unlock()
			}
		})
	}
	running.Wait()
	return operations
}

func TestConcurrentGrabsAreLinearizable(t *testing.T) {
	t.Parallel()
	server := testkit.Redis(t)
	for name, edit := range map[string]func(*game.Settings){
		"live, cap 1":  func(s *game.Settings) { s.Packets = 10 },
		"live, cap 3":  func(s *game.Settings) { s.Packets, s.Cap = 25, 3 },
		"dealt, cap 2": func(s *game.Settings) { dealtEqual(s); s.Packets, s.Cap, s.Total = 18, 2, 1000 },
		"never sold":   func(s *game.Settings) { s.Packets, s.Cap = 200, 2 },
	} {
		t.Run(name, func(t *testing.T) {
			round := newRound(t, func(s *game.Settings) { edit(s); s.Duration = game.MaxDuration })
			newFixture(t, server.URL).open(round)
			operations := history(t, server.URL, round, 8, 20)
			if len(operations) != 160 {
				t.Fatalf("%d operations", len(operations))
			}
			if result := porcupine.CheckOperationsTimeout(roundModel(round), operations, time.Minute); result != porcupine.Ok {
				t.Errorf("the history is %s", result)
			}
		})
	}
}

// The checker itself must reject a wrong history.
func TestCheckerRefusesAHistoryWithAPacketGivenTwice(t *testing.T) {
	t.Parallel()
	server := testkit.Redis(t)
	round := newRound(t, func(s *game.Settings) { s.Duration = game.MaxDuration })
	newFixture(t, server.URL).open(round)
	operations := history(t, server.URL, round, 4, 5)
	for i, operation := range operations {
		grabbed := operation.Output.(game.Grabbed)
		if at := slices.IndexFunc(grabbed.Answers, func(a game.Answer) bool { return a.Number == 2 }); at >= 0 {
			grabbed.Answers = slices.Clone(grabbed.Answers)
			grabbed.Answers[at].Number = 1
			operations[i].Output = grabbed
			break
		}
	}
	if porcupine.CheckOperations(roundModel(round), operations) {
		t.Error("taken for linearizable")
	}
}

// Two taps of one player at once, from two tabs, on two instances: one claim, and both see it.
func TestOnePlayerOnManyInstancesHasOneClaim(t *testing.T) {
	t.Parallel()
	testkit.EachRedis(t, func(t *testing.T, url string) {
		round := newRound(t, nil)
		newFixture(t, url).open(round)
		answers := make([]game.Answer, 16)
		var tabs sync.WaitGroup
		for i := range answers {
			r := newFixture(t, url)
			tabs.Go(func() {
				grabbed, err := r.Grab(context.WithoutCancel(t.Context()), round.Room, round.ID, r.NewBatch(), taps("ann1"))
				if err != nil {
					t.Error(err)
					return
				}
				answers[i] = grabbed.Answers[0]
			})
		}
		tabs.Wait()
		won := 0
		for _, answer := range answers {
			if answer.Outcome == game.Won {
				won++
			}
			if answer.Cents != answers[0].Cents || answer.Number != 1 {
				t.Errorf("tabs see %v and %v", answer, answers[0])
			}
		}
		if won != 1 {
			t.Errorf("the drop won %d times", won)
		}
	})
}
