package rdb

import (
	"errors"
	"fmt"
	"regexp"
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
)

// Embedded is a Redis inside of this process: good for trying out and for small rounds of one instance. What it holds goes with
// the process.
type Embedded struct {
	server *miniredis.Miniredis
	stop   chan struct{}
	done   sync.WaitGroup
}

// tick is how often the embedded server's keys age; by itself its clock stands still.
const tick = time.Second

// StartEmbedded starts one on a free port of the loopback interface.
func StartEmbedded() (*Embedded, error) {
	server, err := miniredis.Run()
	if err != nil {
		return nil, fmt.Errorf("start the embedded redis: %w", err)
	}
	e := &Embedded{server: server, stop: make(chan struct{})}
	e.done.Go(e.age)
	return e, nil
}

// URL is its address for Dial.
func (e *Embedded) URL() string { return "redis://" + e.server.Addr() }

func (e *Embedded) age() {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			e.server.FastForward(tick)
		case <-e.stop:
			return
		}
	}
}

// Close stops the server; its keys are gone.
func (e *Embedded) Close() {
	close(e.stop)
	e.done.Wait()
	e.server.Close()
}

// embeddedFault is how the embedded server reports that a command inside a script failed: it takes every such failure for one
// of compiling, and adds a trace of the stack.
var embeddedFault = regexp.MustCompile(`(?s)^ERR Error compiling script[^:]*: [^:]*:\d+: (.*?)\s*(?:stack traceback:.*)?$`)

// refusal is an error of Redis in Redis' words.
type refusal string

func (e refusal) Error() string { return string(e) }

// RedisError marks it as one, for errors.As.
func (e refusal) RedisError() {}

// unwrapEmbedded takes the embedded server's wrapping off an error, so that it reads as Redis' own.
func unwrapEmbedded(err error) error {
	var answer redis.Error
	if !errors.As(err, &answer) {
		return err
	}
	if parts := embeddedFault.FindStringSubmatch(answer.Error()); parts != nil {
		return refusal(parts[1])
	}
	return err
}
