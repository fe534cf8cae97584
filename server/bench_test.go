package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"redrain/internal/bots"
	"redrain/internal/testkit"
)

// The benchmark of the whole path, from a tap on a WebSocket to its result, beside a bare coder/websocket echo: the limit
// of the socket on this machine. Client and servers share the machine; only ratios of one run mean something.

const (
	benchPlayers = 200
	benchTaps    = 100 // winning taps a player in one repeat: the largest cap
	benchRepeats = 5
)

// BenchmarkTapsAgainstEcho runs both closed loops in turns and reports the medians and their ratio.
func BenchmarkTapsAgainstEcho(b *testing.B) {
	redis := testkit.Redis(b)
	in := startInstance(b, "REDIS_URL="+redis.URL, "TAPS_PER_SECOND=100000", "LOG_LEVEL=error")
	echo := startEcho(b)
	for range b.N {
		var echoes, wins, losses, ratios, lossRatios []float64
		var used [3][]float64 // µs of CPU time for each echo, win and loss, everything together
		for range benchRepeats {
			pids := []int{os.Getpid(), in.Pid(), redis.Pid()}
			echoed, echoCost := echoRate(b, echo, pids)
			won, lost, winCost, lossCost := tapRates(b, in, pids)
			echoes, wins, losses = append(echoes, echoed), append(wins, won), append(losses, lost)
			ratios, lossRatios = append(ratios, won/echoed), append(lossRatios, lost/echoed)
			for i, cost := range []float64{echoCost, winCost, lossCost} {
				used[i] = append(used[i], cost)
			}
		}
		for i, name := range []string{"cpu-µs/echo", "cpu-µs/win", "cpu-µs/loss"} {
			b.ReportMetric(median(used[i]), name)
		}
		b.ReportMetric(median(echoes), "echoes/s")
		b.ReportMetric(median(wins), "wins/s")
		b.ReportMetric(median(losses), "losses/s")
		b.ReportMetric(median(ratios), "wins/echo")
		b.ReportMetric(median(lossRatios), "losses/echo")
		b.ReportMetric(0, "ns/op") // says nothing here
	}
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// startEcho starts a bare echo with a goroutine for each connection, as the library's documentation has it.
func startEcho(b *testing.B) string {
	listening, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{CompressionMode: websocket.CompressionDisabled})
		if err != nil {
			return
		}
		defer func() { _ = ws.CloseNow() }()
		for {
			kind, text, err := ws.Read(context.Background())
			if err != nil {
				return
			}
			if err := ws.Write(context.Background(), kind, text); err != nil {
				return
			}
		}
	}), ReadHeaderTimeout: time.Second}
	go func() { _ = server.Serve(listening) }()
	b.Cleanup(func() { _ = server.Close() })
	return "ws://" + listening.Addr().String()
}

// loop is one connection in a closed loop: the next frame goes out when the answer to the last one has come.
type loop struct {
	ws     *websocket.Conn
	answer []byte // what an answer begins with
}

func dialLoop(b *testing.B, url, answer string) *loop {
	ws, _, err := websocket.Dial(b.Context(), url, nil)
	if err != nil {
		b.Fatal(err)
	}
	ws.SetReadLimit(1 << 20)
	return &loop{ws: ws, answer: []byte(answer)}
}

func (l *loop) run(frames [][]byte) error {
	for _, frame := range frames {
		if err := l.ws.Write(context.Background(), websocket.MessageText, frame); err != nil {
			return err
		}
		for {
			_, text, err := l.ws.Read(context.Background())
			if err != nil {
				return err
			}
			if bytes.HasPrefix(text, l.answer) {
				break
			}
		}
	}
	return nil
}

// runLoops runs all loops at once and returns the frames a second, and the CPU time in µs that the processes used for each:
// it depends less than the rate on what else the machine does.
func runLoops(b *testing.B, loops []*loop, frames [][]byte, pids []int) (perSecond, cost float64) {
	var each []time.Duration
	for i := range pids {
		each = append(each, cpuTime(b, pids[i:i+1]))
	}
	began, before := time.Now(), cpuTime(b, pids)
	var running sync.WaitGroup
	for _, l := range loops {
		running.Go(func() {
			if err := l.run(frames); err != nil {
				b.Error(err)
			}
		})
	}
	running.Wait()
	count := float64(len(loops) * len(frames))
	for i, pid := range pids {
		b.Logf("pid %d: %.1f", i, float64((cpuTime(b, pids[i:i+1])-each[i]).Microseconds())/count)
		_ = pid
	}
	return count / time.Since(began).Seconds(), float64((cpuTime(b, pids)-before).Microseconds()) / count
}

// cpuTime is what processes have used so far, in user and system mode together.
func cpuTime(b *testing.B, pids []int) time.Duration {
	const tick = 10 * time.Millisecond // Linux counts in hundredths for every reader
	var ticks int
	for _, pid := range pids {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			b.Fatal(err)
		}
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		for _, field := range fields[11:13] {
			n, err := strconv.Atoi(field)
			if err != nil {
				b.Fatal(err)
			}
			ticks += n
		}
	}
	return time.Duration(ticks) * tick
}

func closeLoops(loops []*loop) {
	for _, l := range loops {
		_ = l.ws.CloseNow()
	}
}

func tapFrames(round string) [][]byte {
	frames := make([][]byte, benchTaps)
	for i := range frames {
		frames[i] = []byte(`{"type":"tap","round":"` + round + `","drop":` + strconv.Itoa(i+1) + `}`)
	}
	return frames
}

func echoRate(b *testing.B, url string, pids []int) (rate, cost float64) {
	frames := tapFrames(strings.Repeat("0", 36))
	loops := make([]*loop, benchPlayers)
	for i := range loops {
		loops[i] = dialLoop(b, url, `{"type":"tap"`)
	}
	defer closeLoops(loops)
	return runLoops(b, loops, frames, pids)
}

// tapRates plays a round in which every player wins with each of their first hundred drops, and then taps the same drops
// again: taps that cannot win any more, as most taps of a storm.
func tapRates(b *testing.B, in *instance, pids []int) (wins, losses, winCost, lossCost float64) {
	host := hostOfBench(b, in)
	room := newRoom(b, host)
	loops := make([]*loop, benchPlayers)
	for i := range loops {
		p, err := bots.Join(b.Context(), in.url, fmt.Sprintf("127.0.0.%d", 2+i), room, "bench")
		if err != nil {
			b.Fatal(err)
		}
		loops[i] = dialLoop(b, p.Address(), `{"type":"result"`)
	}
	defer closeLoops(loops)
	round := newRound(b, host, room, map[string]any{
		"total_cents": 100_000_000, "packets": 1_000_000, "cap": benchTaps, "pace": "burst", "countdown_ms": 0, "duration_ms": 600_000,
		"drops_per_second": 40, "bomb_percent": 0,
	})
	startRound(b, host, round.ID)
	time.Sleep(3 * time.Second) // 120 drops fall
	frames := tapFrames(round.ID)
	wins, winCost = runLoops(b, loops, frames, pids)
	losses, lossCost = runLoops(b, loops, frames, pids)
	claims, err := host.Claims(b.Context(), round.ID)
	if err != nil || len(claims) != benchPlayers*benchTaps {
		b.Fatalf("%d claims instead of %d: %v", len(claims), benchPlayers*benchTaps, err)
	}
	if _, err := host.Stop(b.Context(), round.ID); err != nil {
		b.Fatal(err)
	}
	return wins, losses, winCost, lossCost
}

var benchHost *bots.Host

// hostOfBench logs in once: the password's rate limit is there for others.
func hostOfBench(b *testing.B, in *instance) *bots.Host {
	if benchHost == nil || benchHost.Instance != in.url {
		benchHost = hostOf(b, in)
	}
	return benchHost
}
