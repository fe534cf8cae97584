package rdb

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"redrain/internal/probe"
)

// probeKeyLifetime is the time to live of the key that a probe writes.
const probeKeyLifetime = time.Minute

// probed is one server that a probe proves.
type probed struct {
	server redis.Scripter
	addr   string   // empty without a cluster
	keys   []string // one key in its slots, or none if there are so few that none was found
}

// Probe proves that Redis lets this instance do what rounds need: run a script that writes, reads the time and publishes, and that
// what is published arrives at this subscription; in a cluster, that every master does. A Redis that only answers a PING may still
// refuse every grab, for it may be full, unable to save, or a replica; and one may grant all of them and let nobody hear of it.
// A failure is a probe.Failure. A probe also keeps the clock accurate while nothing is played.
func (s *Subscription) Probe(ctx context.Context) error {
	servers, err := s.probedServers(ctx)
	if err != nil {
		return &probe.Failure{Reason: ReasonOf(err), Err: fmt.Errorf("cluster: %w", err)}
	}
	problems := make([]error, len(servers))
	var probes sync.WaitGroup
	for i, server := range servers {
		probes.Go(func() { problems[i] = s.probeServer(ctx, server) })
	}
	probes.Wait()
	return joinErrors(problems)
}

// joinErrors joins errors in one line.
func joinErrors(problems []error) (joined error) {
	for _, problem := range problems {
		switch {
		case problem == nil:
		case joined == nil:
			joined = problem
		default:
			joined = fmt.Errorf("%w; %w", joined, problem)
		}
	}
	return joined
}

func (s *Subscription) probedServers(ctx context.Context) ([]probed, error) {
	c := s.client
	if c.topology == nil {
		return []probed{{server: c.redis, keys: []string{readyKey(c.instance)}}}, nil
	}
	masters, err := c.topology.masters(ctx)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	known := s.probeKeys
	s.mu.Unlock()
	keys := c.topology.assignKeys(ctx, masters, known, func(n int) string { return readyKey(c.instance + ":" + strconv.Itoa(n)) })
	s.mu.Lock()
	s.probeKeys = keys
	s.mu.Unlock()
	servers := make([]probed, len(masters))
	for i, master := range masters {
		servers[i] = probed{server: master, addr: master.Options().Addr}
		if key, found := keys[servers[i].addr]; found {
			servers[i].keys = []string{key}
		}
	}
	return servers, nil
}

func (s *Subscription) probeServer(ctx context.Context, p probed) error {
	reason, err := s.publishAndHear(ctx, p)
	if err == nil {
		return nil
	}
	if p.addr != "" {
		s.client.topology.noteError(err)
		err = fmt.Errorf("%s: %w", p.addr, err)
	}
	return &probe.Failure{Reason: reason, Err: err}
}

// publishAndHear publishes a message until it arrives, once for each time that the subscription has been made meanwhile: a message
// that was published before that is lost.
func (s *Subscription) publishAndHear(ctx context.Context, p probed) (probe.Reason, error) {
	message := "probe " + strconv.FormatInt(s.probes.Add(1), 10)
	arrived, forget := s.await(message)
	defer forget()
	for {
		channel, subscribed := s.echoTarget()
		if err := s.client.provePublishing(ctx, p, channel, message); err != nil {
			return ReasonOf(err), err
		}
		select {
		case <-arrived:
			return "", nil
		case <-subscribed:
		case <-ctx.Done():
			return s.unheard()
		}
	}
}

// await returns a channel that is closed when a message arrives on the subscription's own channel.
func (s *Subscription) await(message string) (arrived <-chan struct{}, forget func()) {
	waiting := make(chan struct{})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.awaited[message] = waiting
	return waiting, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.awaited, message)
	}
}

// echoTarget returns the subscription's own channel as it is now, and what is closed when it has been subscribed to the next time.
func (s *Subscription) echoTarget() (channel string, subscribed <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current.channel, s.subscribed
}

// unheard returns why nothing is heard: the user may not subscribe, or else something between here and there.
func (s *Subscription) unheard() (probe.Reason, error) {
	problem := s.lastProblem()
	switch {
	case problem == nil:
		return probe.Unheard, errors.New("does not hear what it publishes")
	case ReasonOf(problem) == probe.NoRights:
		return probe.NoRights, fmt.Errorf("does not hear what it publishes: %w", problem)
	}
	return probe.Unheard, fmt.Errorf("does not hear what it publishes: %w", problem)
}

// provePublishing runs ready.lua on one server.
func (c *Client) provePublishing(ctx context.Context, p probed, channel, message string) error {
	asked := time.Now()
	r, err := readyScript.callOn(ctx, p.server, p.keys, channel, message, probeKeyLifetime.Milliseconds())
	if err != nil {
		return err
	}
	c.updateClock(asked, r.integer())
	if r.err != nil || r.more() {
		return fmt.Errorf("ready.lua: %w", errBadReply)
	}
	return nil
}
