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
	leastTaps    = 10_000 // that win in one round
	leastEach    = 20     // of them a player's: the cap; so many that the first and the last ones do not count for much
	benchLosses  = 2      // taps that cannot win, for each that wins
	benchRounds  = 4      // in one repeat
	benchRepeats = 5
)

// measured is taps or echoes a second, by what was measured, and the CPU time in µs that everything together used for one: it
// depends less than the rate on what else the machine does.
type measured struct {
	count   int
	elapsed time.Duration
	used    time.Duration
}

func (m *measured) add(other measured) {
	m.count, m.elapsed, m.used = m.count+other.count, m.elapsed+other.elapsed, m.used+other.used
}

func (m *measured) rate() float64 { return float64(m.count) / m.elapsed.Seconds() }
func (m *measured) cost() float64 { return float64(m.used.Microseconds()) / float64(m.count) }

// BenchmarkTaps runs closed loops of 200 connections in turns and reports the medians, and their ratios to the echo: taps
// on a live pool, of which a third win, and those parts of it; taps that are answered with an earlier result; and taps that
// only the script can refuse. The same in the same server with one EVALSHA a tap over a pool of connections, as is usual.
func BenchmarkTaps(b *testing.B) {
	bench := startBench(b)
	single := bench.start(b, "GRAB_BATCH=1", "GRAB_SENDERS=50")
	host := loginHost(b, single)
	for range b.N {
		var all series
		for range benchRepeats {
			turn := bench.turn(b, 200)
			for kind, m := range bench.tapRates(b, single, host, 200) {
				turn["one-a-call-"+kind] = m
			}
			all.add(turn)
		}
		all.report(b, "echo", "pool", "won", "capped", "known", "refused", "one-a-call-pool", "one-a-call-won", "one-a-call-refused")
		for _, kind := range []string{"pool", "won", "refused"} {
			b.ReportMetric(all.ratio(kind, "one-a-call-"+kind), kind+"/one-a-call")
		}
		b.ReportMetric(0, "ns/op") // says nothing here
	}
}

// BenchmarkCrowdTaps does so with 2,000 connections.
func BenchmarkCrowdTaps(b *testing.B) {
	bench := startBench(b)
	for range b.N {
		var all series
		for range benchRepeats {
			all.add(bench.turn(b, 2000))
		}
		all.report(b, "echo", "pool", "won", "capped", "known", "refused")
		b.ReportMetric(0, "ns/op") // says nothing here
	}
}

// bench is the servers that are measured, each a process of its own.
type bench struct {
	redis *testkit.RedisServer
	echo  string
	in    *instance
	host  *bots.Host
	pids  []int
}

func startBench(b *testing.B, redisOptions ...string) *bench {
	of := &bench{redis: testkit.Redis(b, redisOptions...)}
	echo, pid := startEcho(b)
	of.echo, of.pids = echo, []int{os.Getpid(), pid, of.redis.Pid()}
	of.in = of.start(b)
	of.host = loginHost(b, of.in)
	return of
}

func (of *bench) start(b *testing.B, env ...string) *instance {
	in := startInstance(b, append(env, "REDIS_URL="+of.redis.URL, "TAPS_PER_SECOND=100000", "LOG_LEVEL=error", "NO_SETTLE=true")...)
	of.pids = append(of.pids, in.Pid())
	return in
}

// turn measures everything once.
func (of *bench) turn(b *testing.B, players int) map[string]*measured {
	echo := of.echoRate(b, players)
	turn := of.tapRates(b, of.in, of.host, players)
	turn["echo"] = echo
	return turn
}

// series is what was measured in turns, by kind.
type series map[string][]*measured

func (s *series) add(turn map[string]*measured) {
	if *s == nil {
		*s = make(series)
	}
	for kind, m := range turn {
		(*s)[kind] = append((*s)[kind], m)
	}
}

func (s series) report(b *testing.B, kinds ...string) {
	for _, kind := range kinds {
		b.ReportMetric(s.median(kind, (*measured).rate), kind+"/s")
		b.ReportMetric(s.median(kind, (*measured).cost), kind+"-cpu-µs")
		if kind != "echo" {
			b.ReportMetric(s.ratio(kind, "echo"), kind+"/echo")
		}
	}
}

func (s series) median(kind string, of func(*measured) float64) float64 {
	var values []float64
	for _, m := range s[kind] {
		values = append(values, of(m))
	}
	return median(values)
}

// ratio is the median over the turns, each of which ran both.
func (s series) ratio(kind, to string) float64 {
	var values []float64
	for i, m := range s[kind] {
		values = append(values, m.rate()/s[to][i].rate())
	}
	return median(values)
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// asEcho makes this test binary be a bare echo, so that it is a process of its own as the server is.
const asEcho = "REDRAIN_TEST_AS_ECHO"

// serveEcho answers every frame with itself, with a goroutine for each connection, as the library's documentation has it.
func serveEcho() error {
	listening, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("echo ws://%s\n", listening.Addr())
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
	return server.Serve(listening)
}

func startEcho(b *testing.B) (url string, pid int) {
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	echo := testkit.StartProgram(b, []string{asEcho + "=1"}, self)
	return echo.Await(b, soon, `echo (ws://\S+)`)[1], echo.Pid()
}

// closedLoopClient is one connection in a closed closedLoopClient: the next frame goes out when the answer to the last one has come.
type closedLoopClient struct {
	ws     *websocket.Conn
	answer []byte // what an answer begins with
	last   []byte // answer
}

func dialLoop(b *testing.B, url, answer string) *closedLoopClient {
	ws, _, err := websocket.Dial(b.Context(), url, nil)
	if err != nil {
		b.Fatal(err)
	}
	ws.SetReadLimit(1 << 20)
	return &closedLoopClient{ws: ws, answer: []byte(answer)}
}

func (l *closedLoopClient) run(frames [][]byte) error {
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
				l.last = text
				break
			}
		}
	}
	return nil
}

// await sends a frame again and again until the answer says what is awaited.
func (l *closedLoopClient) await(b *testing.B, frame []byte, said string) {
	for began := time.Now(); time.Since(began) < soon; time.Sleep(10 * time.Millisecond) {
		if err := l.run([][]byte{frame}); err != nil {
			b.Fatal(err)
		}
		if bytes.Contains(l.last, []byte(said)) {
			return
		}
	}
	b.Fatalf("%s instead of %s", l.last, said)
}

// runLoops runs all loops at once.
func runLoops(b *testing.B, loops []*closedLoopClient, frames [][]byte, pids []int) *measured {
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
	return &measured{len(loops) * len(frames), time.Since(began), cpuTime(b, pids) - before}
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

func closeLoops(loops []*closedLoopClient) {
	for _, l := range loops {
		_ = l.ws.CloseNow()
	}
}

func tapFrame(round string, drop int) []byte {
	return []byte(`{"type":"tap","round":"` + round + `","drop":` + strconv.Itoa(drop) + `}`)
}

func tapFrames(round string, count int) [][]byte {
	frames := make([][]byte, count)
	for i := range frames {
		frames[i] = tapFrame(round, i+1)
	}
	return frames
}

func (of *bench) echoRate(b *testing.B, players int) *measured {
	loops := make([]*closedLoopClient, players)
	for i := range loops {
		loops[i] = dialLoop(b, of.echo, `{"type":"tap"`)
	}
	defer closeLoops(loops)
	each := benchRounds * benchLosses * winsEach(players)
	return runLoops(b, loops, slices.Repeat([][]byte{tapFrame(strings.Repeat("0", 36), 1)}, each), of.pids)
}

// tapRates plays rounds in which every player wins with the first drops up to the cap, taps another drop in vain, then one
// that was won, and in the end, with the round frozen, another one: whether a frozen round is one still, only the script knows.
func (of *bench) tapRates(b *testing.B, in *instance, host *bots.Host, players int) map[string]*measured {
	room := newRoom(b, host)
	loops := joinLoops(b, in, room, players)
	defer closeLoops(loops)
	results := map[string]*measured{"won": {}, "capped": {}, "known": {}, "refused": {}, "pool": {}}
	wins := winsEach(players)
	for range benchRounds {
		round := newRound(b, host, room, map[string]any{
			"total_cents": 100_000_000, "packets": 1_000_000, "cap": wins, "pace": "burst", "countdown_ms": 0,
			"duration_ms": 600_000, "drops_per_second": 40, "bomb_percent": 0,
		})
		startRound(b, host, round.ID)
		time.Sleep(1500 * time.Millisecond) // until enough drops fall
		again := func(drop int) [][]byte {
			return slices.Repeat([][]byte{tapFrame(round.ID, drop)}, benchLosses*wins)
		}
		won := runLoops(b, loops, tapFrames(round.ID, wins), of.pids)
		capped := runLoops(b, loops, again(wins+1), of.pids)
		results["won"].add(*won)
		results["capped"].add(*capped)
		results["pool"].add(*won)
		results["pool"].add(*capped)
		results["known"].add(*runLoops(b, loops, again(1), of.pids))
		claims, err := host.Claims(b.Context(), round.ID)
		if err != nil || len(claims) != wins*players {
			b.Fatalf("%d claims instead of %d: %v", len(claims), wins*players, err)
		}
		if _, err := host.Freeze(b.Context(), round.ID); err != nil {
			b.Fatal(err)
		}
		loops[0].await(b, tapFrame(round.ID, wins+1), `"outcome":"frozen"`)
		results["refused"].add(*runLoops(b, loops, again(wins+1), of.pids))
		if _, err := host.Stop(b.Context(), round.ID); err != nil {
			b.Fatal(err)
		}
	}
	return results
}

// winsEach is how many taps of each player win in one round.
func winsEach(players int) int { return max(leastTaps/players, leastEach) }

func joinLoops(b *testing.B, in *instance, room string, players int) []*closedLoopClient {
	loops := make([]*closedLoopClient, players)
	for i := range loops {
		p, err := bots.Join(b.Context(), in.url, fmt.Sprintf("127.0.%d.%d", i/250, 2+i%250), room, "bench")
		if err != nil {
			b.Fatal(err)
		}
		loops[i] = dialLoop(b, p.Address(), `{"type":"result"`)
	}
	return loops
}
