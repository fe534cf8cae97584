package rdb

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"redrain/internal/game"
)

// Subscription is this instance's one subscription, for the rooms that it serves. What it hears goes to one function, which
// must not block. Pub/sub is a hint: after every (re)subscription the function hears Lost for the room.
//
// A connection can stall: it stays open, and nothing comes. go-redis only checks that it can write a PING, never that the PONG
// comes, so the instance publishes to a channel of its own once a second and replaces a connection that does not hear it. In
// a cluster, where a connection leads to one node, the next one may lead to another. Safe for concurrent use.
type Subscription struct {
	client *Client
	hear   func(game.Event)
	log    *slog.Logger
	end    context.CancelFunc
	done   sync.WaitGroup
	echo   chan struct{} // nudges the loop that publishes
	tried  chan struct{} // closed once it is known whether anything is heard
	trying sync.Once

	mu      sync.Mutex // guards what follows; nothing under it does I/O or waits
	current *connection
	rooms   map[string]bool
}

// connection is one connection of a subscription. Subscription.mu guards what changes.
type connection struct {
	pubsub  *redis.PubSub
	channel string // its own, by which it is seen to hear
	end     context.CancelFunc

	heardAt time.Time     // when its own channel was heard last, at first when it was made
	heard   bool          // its own channel was heard
	unheard int           // times that were published to it since
	sentAt  time.Time     // when it was published to last
	took    time.Duration // from there until it was heard
	refused bool          // and Redis refused that, which says nothing about the connection
	problem error         // what went wrong since
}

const (
	echoEvery = time.Second
	// deafAfter is how often a connection may not hear its own channel: what stalls is noticed and replaced within 5 s. Times
	// are counted, not seconds, so that a process which was suspended or starved does not suspect its connection.
	deafAfter = 3
	// hearAgain is the pause after a connection failed, before go-redis makes it anew.
	hearAgain = 100 * time.Millisecond
)

// Subscribe starts the subscription without any room. ctx bounds nothing but its start; Close ends it.
func (c *Client) Subscribe(ctx context.Context, log *slog.Logger, hear func(game.Event)) *Subscription {
	s := &Subscription{
		client: c, hear: hear, log: log, echo: make(chan struct{}, 1), tried: make(chan struct{}), rooms: make(map[string]bool),
	}
	ctx, s.end = context.WithCancel(context.WithoutCancel(ctx))
	s.connect(ctx, c.newEchoChannel(ctx, ""))
	s.done.Go(func() { s.keepHearing(ctx) })
	return s
}

// Add begins to listen to a room; Lost is heard once Redis has confirmed it, and after every reconnection.
func (s *Subscription) Add(ctx context.Context, room string) error {
	s.change(room, true)
	err := s.onCurrent(func(pubsub *redis.PubSub) error { return pubsub.Subscribe(ctx, roomChannel(room)) })
	if err != nil {
		s.change(room, false)
		return fmt.Errorf("subscribe: %w", err)
	}
	return nil
}

// Remove stops listening to a room.
func (s *Subscription) Remove(ctx context.Context, room string) error {
	s.change(room, false)
	err := s.onCurrent(func(pubsub *redis.PubSub) error { return pubsub.Unsubscribe(ctx, roomChannel(room)) })
	if err != nil {
		return fmt.Errorf("unsubscribe: %w", err)
	}
	return nil
}

// Close ends the subscription; nothing is heard after it returned.
func (s *Subscription) Close() error {
	s.end()
	err := s.connected().pubsub.Close()
	s.done.Wait()
	if err != nil {
		return fmt.Errorf("end the subscription: %w", err)
	}
	return nil
}

// Check is nil while this instance hears what it publishes. At first it waits, until ctx ends, for that to be known.
func (s *Subscription) Check(ctx context.Context) error {
	select {
	case <-s.tried:
	case <-ctx.Done():
	}
	return s.hearing()
}

func (s *Subscription) hearing() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.current
	switch silent := time.Since(c.heardAt); {
	case c.heard && c.unheard < deafAfter:
		return nil
	case c.problem != nil:
		return fmt.Errorf("does not hear what it publishes: %w", c.problem)
	default:
		return fmt.Errorf("does not hear what it publishes, for %.1f s", silent.Seconds())
	}
}

// EchoTook is how long it took to hear what was published last.
func (s *Subscription) EchoTook() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current.took
}

func (s *Subscription) connected() *connection {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current
}

func (s *Subscription) change(room string, wanted bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if wanted {
		s.rooms[room] = true
	} else {
		delete(s.rooms, room)
	}
}

// onCurrent does something on the connection, again if it was replaced meanwhile.
func (s *Subscription) onCurrent(do func(*redis.PubSub) error) error {
	for {
		c := s.connected()
		if err := do(c.pubsub); err == nil || s.connected() == c {
			return err
		}
	}
}

// connect makes a connection the current one, and begins to listen to its own channel and to all rooms.
func (s *Subscription) connect(ctx context.Context, channel string) {
	ctx, cancel := context.WithCancel(ctx)
	c := &connection{pubsub: s.client.redis.Subscribe(ctx), channel: channel, end: cancel, heardAt: time.Now()}
	s.mu.Lock()
	s.current = c
	rooms := slices.Collect(maps.Keys(s.rooms))
	s.mu.Unlock()
	s.done.Go(func() {
		s.note(c, s.subscribe(ctx, c, rooms))
		s.listen(ctx, c)
	})
}

// subscribe also takes back what was given up meanwhile.
func (s *Subscription) subscribe(ctx context.Context, c *connection, rooms []string) error {
	channels := []string{c.channel} // the first one decides which node of a cluster is asked
	for _, room := range rooms {
		channels = append(channels, roomChannel(room))
	}
	err := c.pubsub.Subscribe(ctx, channels...)
	for _, room := range rooms {
		if !s.wants(room) {
			err = errors.Join(err, c.pubsub.Unsubscribe(ctx, roomChannel(room)))
		}
	}
	return err //nolint:wrapcheck // readiness says what for
}

func (s *Subscription) wants(room string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rooms[room]
}

// listen hears until the connection is closed. When it breaks go-redis makes it anew, with all that it listened to.
func (s *Subscription) listen(ctx context.Context, c *connection) {
	for {
		message, err := c.pubsub.Receive(ctx)
		switch {
		case errors.Is(err, redis.ErrClosed), ctx.Err() != nil:
			return
		case err != nil:
			s.note(c, err)
			sleep(ctx, hearAgain)
		default:
			s.take(c, message)
		}
	}
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// note keeps what went wrong with a connection, for readiness.
func (s *Subscription) note(c *connection, err error) {
	if err == nil || errors.Is(err, context.Canceled) {
		return
	}
	s.mu.Lock()
	c.problem = err
	s.mu.Unlock()
	s.trying.Do(func() { close(s.tried) })
}

func (s *Subscription) take(c *connection, message any) {
	switch m := message.(type) {
	case *redis.Subscription:
		switch {
		case m.Kind != "subscribe" || s.connected() != c:
		case m.Channel == c.channel:
			s.nudge()
		default:
			s.hear(game.Event{Room: strings.TrimPrefix(m.Channel, channelPrefix), Missed: true})
		}
	case *redis.Message:
		switch {
		case s.connected() != c:
		case m.Channel == c.channel:
			s.hears(c)
		default:
			s.takeMessage(m)
		}
	}
}

func (s *Subscription) takeMessage(m *redis.Message) {
	heard, err := parseEvent(m.Payload)
	heard.Room = strings.TrimPrefix(m.Channel, channelPrefix)
	if err != nil {
		s.log.Error("a published message does not parse", "room", heard.Room, "error", err)
		heard.Missed = true
	}
	s.hear(heard)
}

// nudge has the instance publish to itself at once.
func (s *Subscription) nudge() {
	select {
	case s.echo <- struct{}{}:
	default:
	}
}

func (s *Subscription) hears(c *connection) {
	s.mu.Lock()
	c.heard, c.unheard, c.heardAt, c.problem = true, 0, time.Now(), nil
	c.took = c.heardAt.Sub(c.sentAt)
	s.mu.Unlock()
	s.trying.Do(func() { close(s.tried) })
}

// keepHearing publishes to the connection, and replaces one that does not hear.
func (s *Subscription) keepHearing(ctx context.Context) {
	ticker := time.NewTicker(echoEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.echo:
		case <-ticker.C:
			if c := s.connected(); s.deaf(c) {
				s.log.Warn("the subscription does not hear what is published, and is made anew", "error", s.hearing())
				s.replace(ctx, c)
			}
		}
		s.publishEcho(ctx, s.connected())
	}
}

// publishEcho gives what it publishes at least until the next tick to be heard.
func (s *Subscription) publishEcho(ctx context.Context, c *connection) {
	s.mu.Lock()
	c.sentAt = time.Now()
	c.unheard++
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, echoEvery)
	defer cancel()
	err := s.client.redis.Publish(ctx, c.channel, "echo").Err()
	s.mu.Lock()
	c.refused = isRefusal(err)
	s.mu.Unlock()
	s.note(c, err)
}

func (s *Subscription) deaf(c *connection) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return c.unheard >= deafAfter && !c.refused
}

// replace makes another connection and ends the old one, which may hang and is waited for by Close alone.
func (s *Subscription) replace(ctx context.Context, old *connection) {
	s.connect(ctx, s.client.newEchoChannel(ctx, old.channel))
	old.end()
	s.done.Go(func() { _ = old.pubsub.Close() })
}

// newEchoChannel is another channel, if possible on another node of a cluster than an old one.
func (c *Client) newEchoChannel(ctx context.Context, old string) string {
	const tries = 32
	for range tries {
		channel := echoChannel(c.instance, c.connections.Add(1))
		if old == "" || c.topology == nil || !c.topology.together(ctx, channel, old) {
			return channel
		}
	}
	return echoChannel(c.instance, c.connections.Add(1))
}
