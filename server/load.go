package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"runtime/debug"
	"time"

	"redrain/internal/bots"
)

// loadCommand plays a round with bots and reports latencies.
type loadCommand struct {
	Players      int               `default:"200" help:"Players, each with a WebSocket of its own."`
	Rate         float64           `default:"1" help:"Taps a second of each player, answers or not (open loop)."`
	Closed       bool              `help:"Closed loop instead: the next tap follows the answer."`
	Ramp         time.Duration     `default:"5s" help:"Time over which the players come in."`
	Duration     time.Duration     `default:"20s" help:"Length of the round, 3s to 10m."`
	Instances    []string          `placeholder:"URL,…" help:"Servers to play on; players are spread over them. It should be your own: every player is one."`
	Spawn        bool              `help:"Start a server for this run, with redis-server from PATH if it is there, else embedded."`
	HostPassword string            `env:"HOST_PASSWORD" placeholder:"TEXT" help:"Password of the control page."`
	Round        map[string]string `placeholder:"NAME=VALUE" help:"Settings of the round, as in the HTTP API: packets=5000."`
	JSON         bool              `name:"json" help:"Print JSON instead of a table."`
}

// errNotConserved makes the command fail if the books violate an invariant.
var errNotConserved = errors.New("the books do not hold")

// Run plays one round.
func (c *loadCommand) Run(ctx context.Context, to *console) error {
	options, err := c.options(to)
	if err != nil {
		return &startError{err}
	}
	options.Idle = func(context.Context) { delayGarbageCollection() }
	var spawned *spawned
	var idle, played *bots.Memory
	if c.Spawn {
		if spawned, err = spawn(ctx, c.tapsPerSecond()); err != nil {
			return &startError{err}
		}
		defer spawned.end()
		options.Instances, options.Password = []string{spawned.url}, spawned.password
		before := spawned.memory(ctx)
		options.Idle = func(ctx context.Context) {
			delayGarbageCollection()
			idle = spawned.memory(ctx).since(before, c.Players)
		}
		options.Played = func(ctx context.Context) { played = spawned.memory(ctx).since(before, c.Players) }
	}
	report, err := bots.Play(ctx, options)
	if err != nil {
		return fmt.Errorf("play: %w", err)
	}
	report.Memory, report.MemoryPlayed = idle, played
	if c.JSON {
		encoder := json.NewEncoder(to.out)
		encoder.SetIndent("", "  ")
		err = encoder.Encode(report)
	} else {
		report.Write(to.out)
	}
	if err == nil && !report.Conserved {
		err = errNotConserved
	}
	return err
}

// delayGarbageCollection turns garbage collection of this process off up to a memory limit, while a round is played: the pauses of
// the bots would be measured as latency of the server.
func delayGarbageCollection() {
	const limit = 2 << 30 // bytes
	runtime.GC()
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(limit)
}

func (c *loadCommand) options(to *console) (bots.Options, error) {
	switch {
	case c.Spawn == (len(c.Instances) > 0):
		return bots.Options{}, errors.New("say either --instances or --spawn")
	case c.Players < 1 || c.Players > 100_000:
		return bots.Options{}, errors.New("--players must be between 1 and 100000")
	case !c.Closed && (c.Rate <= 0 || c.Rate > 1000):
		return bots.Options{}, errors.New("--rate must be above 0 and at most 1000")
	case c.Duration < 3*time.Second || c.Duration > 10*time.Minute:
		return bots.Options{}, errors.New("--duration must be between 3s and 10m")
	case c.Ramp < 0 || c.Ramp > 10*time.Minute:
		return bots.Options{}, errors.New("--ramp must be between 0s and 10m")
	}
	settings, err := c.settings()
	if err != nil {
		return bots.Options{}, err
	}
	options := bots.Options{
		Instances: c.Instances, Password: c.HostPassword, Players: c.Players, Rate: c.Rate, Ramp: c.Ramp, Duration: c.Duration,
		Settings: settings,
		Progress: func(format string, args ...any) { _, _ = fmt.Fprintf(to.err, format+"\n", args...) },
	}
	if c.Closed {
		options.Rate = 0
	}
	return options, nil
}

// settings parses the values of --round as JSON numbers, or else as text: packets=500 and pace=burst.
func (c *loadCommand) settings() (map[string]any, error) {
	settings := make(map[string]any)
	for name, text := range maps.All(c.Round) {
		var value any
		if json.Unmarshal([]byte(text), &value) != nil {
			value = text
		}
		switch value.(type) {
		case float64:
			settings[name] = json.RawMessage(text)
		default:
			settings[name] = value
		}
	}
	if _, ok := settings["duration_ms"]; ok {
		return nil, errors.New("say the length of the round with --duration")
	}
	return settings, nil
}

// tapsPerSecond is the TAPS_PER_SECOND that a spawned server needs so that it does not throttle the bots.
func (c *loadCommand) tapsPerSecond() int {
	if c.Closed {
		return 100_000
	}
	return max(10, int(2*c.Rate))
}
