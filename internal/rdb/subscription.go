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
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"redrain/internal/game"
)

// Subscription is a pub/sub subscription to any number of rooms over one connection. It passes events to one function, which must not
// block. Pub/sub can lose messages, so after every (re)subscription to a room the function gets an event with Missed.
//
// A connection can stall: it stays open, but nothing arrives. go-redis only checks that it can write a PING, not that the PONG
// arrives. So the Subscription publishes an echo to a channel of its own once a second, and replaces a connection that does not
// receive it. In a cluster a connection leads to one node, and its replacement leads to another if possible. Safe for concurrent use.
type Subscription struct {
	client  *Client
	handle  func(game.Event)
	log     *slog.Logger
	end     context.CancelFunc
	done    sync.WaitGroup
	echoNow chan struct{} // makes watchConnection publish an echo at once
	probes  atomic.Int64  // numbers the messages of probes

	mu         sync.Mutex // guards the fields below; no I/O and no waiting while it is held
	current    *connection
	rooms      map[string]bool
	subscribed chan struct{}            // closed, and made anew, when a connection has been subscribed to its own channel
	awaited    map[string]chan struct{} // by message of a probe: closed when it arrives
	probeKeys  map[string]string        // by a master of a cluster, its address: a key in one of its slots
}

// connection is one connection of a subscription. Subscription.mu guards the second group of fields.
type connection struct {
	pubsub  *redis.PubSub
	channel string // its own channel, for echoes
	end     context.CancelFunc

	missedEchoes   int   // echoes published since the last that arrived
	publishRefused bool  // Redis refused to publish the last echo, which says nothing about the connection
	problem        error // the last error since an echo arrived
}

const (
	echoInterval = time.Second
	// maxMissedEchoes is how many echoes in a row may not arrive before the connection is replaced, which is within 5 s. Echoes
	// are counted, and not seconds, so that a process that was suspended does not blame its connection.
	maxMissedEchoes = 3
	// reconnectPause is the pause after a connection failed, before go-redis reconnects.
	reconnectPause = 100 * time.Millisecond
)

// Subscribe starts a subscription without any room. Cancelling ctx later does not end it; Close does.
func (c *Client) Subscribe(ctx context.Context, log *slog.Logger, handle func(game.Event)) *Subscription {
	s := &Subscription{
		client: c, handle: handle, log: log, echoNow: make(chan struct{}, 1), rooms: make(map[string]bool),
		subscribed: make(chan struct{}), awaited: make(map[string]chan struct{}),
	}
	ctx, s.end = context.WithCancel(context.WithoutCancel(ctx))
	s.connect(ctx, c.newEchoChannel(ctx, ""))
	s.done.Go(func() { s.watchConnection(ctx) })
	return s
}

// SubscribeRoom subscribes to a room. An event with Missed follows once Redis has confirmed it, and after every reconnection.
func (s *Subscription) SubscribeRoom(ctx context.Context, room string) error {
	s.setWanted(room, true)
	err := s.withConnection(func(pubsub *redis.PubSub) error { return pubsub.Subscribe(ctx, roomChannel(room)) })
	if err != nil {
		s.setWanted(room, false)
		return fmt.Errorf("subscribe: %w", err)
	}
	return nil
}

// UnsubscribeRoom unsubscribes from a room.
func (s *Subscription) UnsubscribeRoom(ctx context.Context, room string) error {
	s.setWanted(room, false)
	err := s.withConnection(func(pubsub *redis.PubSub) error { return pubsub.Unsubscribe(ctx, roomChannel(room)) })
	if err != nil {
		return fmt.Errorf("unsubscribe: %w", err)
	}
	return nil
}

// Close ends the subscription. The function is not called any more after it has returned.
func (s *Subscription) Close() error {
	s.end()
	err := s.currentConnection().pubsub.Close()
	s.done.Wait()
	if err != nil {
		return fmt.Errorf("end the subscription: %w", err)
	}
	return nil
}

func (s *Subscription) currentConnection() *connection {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current
}

func (s *Subscription) setWanted(room string, wanted bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if wanted {
		s.rooms[room] = true
	} else {
		delete(s.rooms, room)
	}
}

// withConnection calls do with the current connection. If that fails and the connection was replaced meanwhile, it calls it again.
func (s *Subscription) withConnection(do func(*redis.PubSub) error) error {
	for {
		c := s.currentConnection()
		if err := do(c.pubsub); err == nil || s.currentConnection() == c {
			return err
		}
	}
}

// connect opens a new connection, makes it the current one, and subscribes to its echo channel and all rooms.
func (s *Subscription) connect(ctx context.Context, channel string) {
	ctx, cancel := context.WithCancel(ctx)
	c := &connection{pubsub: s.client.redis.Subscribe(ctx), channel: channel, end: cancel}
	s.mu.Lock()
	s.current = c
	rooms := slices.Collect(maps.Keys(s.rooms))
	s.mu.Unlock()
	s.done.Go(func() {
		s.recordProblem(c, s.subscribe(ctx, c, rooms))
		s.receive(ctx, c)
	})
}

// subscribe subscribes a new connection to its echo channel and to rooms. It unsubscribes from rooms that were removed meanwhile.
func (s *Subscription) subscribe(ctx context.Context, c *connection, rooms []string) error {
	channels := []string{c.channel} // the first one decides which node of a cluster is asked
	for _, room := range rooms {
		channels = append(channels, roomChannel(room))
	}
	err := c.pubsub.Subscribe(ctx, channels...)
	for _, room := range rooms {
		if !s.isWanted(room) {
			err = errors.Join(err, c.pubsub.Unsubscribe(ctx, roomChannel(room)))
		}
	}
	return err //nolint:wrapcheck // readiness says what for
}

func (s *Subscription) isWanted(room string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rooms[room]
}

// receive receives messages until the connection is closed. If it breaks go-redis reconnects, and subscribes to the same channels.
func (s *Subscription) receive(ctx context.Context, c *connection) {
	for {
		message, err := c.pubsub.Receive(ctx)
		switch {
		case errors.Is(err, redis.ErrClosed), ctx.Err() != nil:
			return
		case err != nil:
			s.recordProblem(c, err)
			sleep(ctx, reconnectPause)
		default:
			s.dispatch(c, message)
		}
	}
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// recordProblem records an error of a connection, for who asks why nothing arrives.
func (s *Subscription) recordProblem(c *connection, err error) {
	if err == nil || errors.Is(err, context.Canceled) {
		return
	}
	s.mu.Lock()
	c.problem = err
	s.mu.Unlock()
}

// lastProblem is the last error since something arrived; nil if there was none.
func (s *Subscription) lastProblem() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current.problem
}

func (s *Subscription) dispatch(c *connection, message any) {
	switch m := message.(type) {
	case *redis.Subscription:
		switch {
		case m.Kind != "subscribe" || s.currentConnection() != c:
		case m.Channel == c.channel:
			s.recordSubscribed()
			s.requestEcho()
		default:
			s.handle(game.Event{Room: strings.TrimPrefix(m.Channel, channelPrefix), Missed: true})
		}
	case *redis.Message:
		switch {
		case s.currentConnection() != c:
		case m.Channel == c.channel:
			s.recordEcho(c, m.Payload)
		default:
			s.dispatchMessage(m)
		}
	}
}

func (s *Subscription) dispatchMessage(m *redis.Message) {
	event, err := parseEvent(m.Payload)
	event.Room = strings.TrimPrefix(m.Channel, channelPrefix)
	if err != nil {
		s.log.Error("a published message does not parse", "room", event.Room, "error", err)
		event.Missed = true
	}
	s.handle(event)
}

// requestEcho makes watchConnection publish an echo now.
func (s *Subscription) requestEcho() {
	select {
	case s.echoNow <- struct{}{}:
	default:
	}
}

func (s *Subscription) recordSubscribed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.subscribed)
	s.subscribed = make(chan struct{})
}

// recordEcho records that a message arrived that this instance has published.
func (s *Subscription) recordEcho(c *connection, message string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.missedEchoes, c.problem = 0, nil
	if arrived, ok := s.awaited[message]; ok {
		close(arrived)
		delete(s.awaited, message)
	}
}

// watchConnection publishes echoes, and replaces a connection that does not receive them.
func (s *Subscription) watchConnection(ctx context.Context) {
	ticker := time.NewTicker(echoInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.echoNow:
		case <-ticker.C:
			if c := s.currentConnection(); s.isStalled(c) {
				s.log.Warn("the subscription receives nothing that is published, and is replaced", "error", s.lastProblem())
				s.replace(ctx, c)
			}
		}
		s.publishEcho(ctx, s.currentConnection())
	}
}

// publishEcho publishes an echo. It has at least until the next tick to arrive.
func (s *Subscription) publishEcho(ctx context.Context, c *connection) {
	s.mu.Lock()
	c.missedEchoes++
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, echoInterval)
	defer cancel()
	err := s.client.redis.Publish(ctx, c.channel, "echo").Err()
	s.mu.Lock()
	c.publishRefused = isRefusal(err)
	s.mu.Unlock()
	s.recordProblem(c, err)
}

func (s *Subscription) isStalled(c *connection) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return c.missedEchoes >= maxMissedEchoes && !c.publishRefused
}

// replace opens a new connection and closes the old one in the background, since that may hang; only Close waits for it.
func (s *Subscription) replace(ctx context.Context, old *connection) {
	s.connect(ctx, s.client.newEchoChannel(ctx, old.channel))
	old.end()
	s.done.Go(func() { _ = old.pubsub.Close() })
}

// newEchoChannel returns a new channel name, in a cluster if possible one of another node than the old channel's.
func (c *Client) newEchoChannel(ctx context.Context, old string) string {
	const tries = 32
	for range tries {
		channel := echoChannel(c.instance, c.connections.Add(1))
		if old == "" || c.topology == nil || !c.topology.sameMaster(ctx, channel, old) {
			return channel
		}
	}
	return echoChannel(c.instance, c.connections.Add(1))
}
