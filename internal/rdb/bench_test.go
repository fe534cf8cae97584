package rdb

import (
	"encoding/csv"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"redrain/internal/game"
	"redrain/internal/testkit"
)

// bigRound is a burst of a million packets, more than any run here can win.
func bigRound(b *testing.B, r *fixture) game.Round {
	b.Helper()
	round := newRound(b, func(s *game.Settings) {
		s.Total, s.Packets, s.Duration = game.MaxTotal, game.MaxPackets, game.MaxDuration
	})
	if _, err := r.Open(b.Context(), round, nil); err != nil {
		b.Fatal(err)
	}
	return round
}

// soldOut makes every tap on the round a losing one.
func (r *fixture) soldOut(b *testing.B, round game.Round) {
	b.Helper()
	if err := r.redis.HSet(b.Context(), stateKey(round.ID), "left", 0, "rest", 0).Err(); err != nil {
		b.Fatal(err)
	}
}

// load is what one run of redis-benchmark does: the script with so many taps a call, by so many connections.
type load struct {
	name        string
	batch       int
	connections int
	taps        int
	losing      bool
}

// loads are compared: group commit has two senders a round and instance, calls for single taps come over 50 connections.
var loads = []load{
	{name: "single wins", batch: 1, connections: 50, taps: 50_000},
	{name: "batched wins", batch: MaxBatch, connections: 2, taps: 256_000},
	{name: "single losses", batch: 1, connections: 50, taps: 50_000, losing: true},
	{name: "batched losses", batch: MaxBatch, connections: 2, taps: 1_024_000, losing: true},
}

const scriptRuns = 5 // of each load; the median counts

// BenchmarkScript (go test -run "^$" -bench Script -benchtime 1x ./internal/rdb) measures grab.lua by redis-benchmark, so that no client of ours is the limit, in one run for taps alone and
// in batches. Every run has a fresh round, and every tap another player.
func BenchmarkScript(b *testing.B) {
	if _, err := exec.LookPath("redis-benchmark"); err != nil {
		testkit.Missing(b, "redis-benchmark", "redis-tools")
	}
	server := testkit.Redis(b)
	r := newFixture(b, server.URL)
	for b.Loop() {
		rates := make(map[string][]float64)
		for range scriptRuns {
			for _, l := range loads {
				rates[l.name] = append(rates[l.name], l.run(b, r, server.Addr))
			}
		}
		medians := make(map[string]float64)
		for _, l := range loads {
			slices.Sort(rates[l.name])
			medians[l.name] = rates[l.name][scriptRuns/2]
			b.ReportMetric(medians[l.name], strings.ReplaceAll(l.name, " ", "-")+"/s")
		}
		b.ReportMetric(medians["batched wins"]/medians["single wins"], "times-as-many-wins")
		b.ReportMetric(medians["batched losses"]/medians["single losses"], "times-as-many-losses")
	}
}

// run returns taps a second.
func (l load) run(b *testing.B, r *fixture, address string) float64 {
	b.Helper()
	round := bigRound(b, r)
	if l.losing {
		r.soldOut(b, round)
	}
	calls := l.taps / l.batch
	host, port, _ := strings.Cut(address, ":")
	args := []string{
		"-h", host, "-p", port, "-c", strconv.Itoa(l.connections), "-n", strconv.Itoa(calls), "-r", "2000000000", "--csv",
		"EVALSHA", grabScript.run.Hash(),
	}
	batch := make([]game.Tap, l.batch)
	for i := range batch {
		batch[i] = game.Tap{Player: "365628617880410000-__rand_int__", Drop: 7}
	}
	keys, rest := grabArgs(round, batch)
	args = append(append(args, strconv.Itoa(len(keys))), keys...)
	for _, arg := range rest {
		args = append(args, fmt.Sprint(arg))
	}
	if err := grabScript.run.Load(b.Context(), r.redis).Err(); err != nil {
		b.Fatal(err)
	}
	rate := callsPerSecond(b, args) * float64(l.batch)
	l.check(b, r, round, calls)
	if err := r.redis.FlushDB(b.Context()).Err(); err != nil {
		b.Fatal(err)
	}
	return rate
}

func callsPerSecond(b *testing.B, args []string) float64 {
	b.Helper()
	out, err := exec.CommandContext(b.Context(), "redis-benchmark", args...).Output()
	if err != nil {
		b.Fatalf("redis-benchmark: %v", err)
	}
	rows, err := csv.NewReader(strings.NewReader(string(out))).ReadAll()
	if err != nil || len(rows) != 2 || len(rows[0]) < 2 || rows[0][1] != "rps" {
		b.Fatalf("redis-benchmark printed %.300q, %v", out, err)
	}
	rps, err := strconv.ParseFloat(rows[1][1], 64)
	if err != nil {
		b.Fatal(err)
	}
	return rps
}

// check makes sure that the run did what it was measured for.
func (l load) check(b *testing.B, r *fixture, round game.Round, calls int) {
	b.Helper()
	standing, err := r.Standing(b.Context(), round.ID)
	if err != nil {
		b.Fatal(err)
	}
	want := calls * l.batch
	if l.losing {
		want = game.MaxPackets
	}
	// redis-benchmark may send a call more for each connection, and draws the same player twice now and then.
	if won := game.MaxPackets - standing.Left.Packets; won < want*99/100 || won > want+l.connections*l.batch {
		b.Fatalf("%s won %d times, want %d", l.name, won, want)
	}
}

var players atomic.Int64

// BenchmarkGrab measures Client.Grab with this process as the client: batches by two senders, taps alone by 50.
func BenchmarkGrab(b *testing.B) {
	for _, l := range loads {
		b.Run(strings.ReplaceAll(l.name, " ", "-"), func(b *testing.B) {
			r := newFixture(b, testkit.Redis(b).URL)
			round := bigRound(b, r)
			if l.losing {
				r.soldOut(b, round)
			}
			b.SetParallelism(l.connections) // times GOMAXPROCS
			b.ReportAllocs()
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				batch := make([]game.Tap, l.batch)
				for pb.Next() {
					for i := range batch {
						batch[i] = game.Tap{Player: "365628617880410000-" + strconv.FormatInt(players.Add(1), 10), Drop: 7}
					}
					if _, err := r.Grab(b.Context(), round.Room, round.ID, r.NewBatch(), batch); err != nil {
						b.Error(err)
						return
					}
				}
			})
			b.ReportMetric(float64(b.N*l.batch)/b.Elapsed().Seconds(), "taps/s")
		})
	}
}
