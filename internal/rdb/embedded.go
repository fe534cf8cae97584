package rdb

import (
	"fmt"
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"
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
