package rdb

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"

	"redrain/internal/game"
)

// subscriptionBuffer is how many messages may wait between go-redis' reader and ours, which never blocks.
const subscriptionBuffer = 8192

// Subscription is this instance's one subscription, for the rooms that it serves. What it hears goes to one function, which
// must not block. Pub/sub is a hint: after every (re)subscription the function hears Lost for the room.
type Subscription struct {
	pubsub *redis.PubSub
	hear   func(game.Heard)
	log    *slog.Logger
	done   sync.WaitGroup
}

// Subscribe starts the subscription without any room.
func (c *Client) Subscribe(ctx context.Context, log *slog.Logger, hear func(game.Heard)) *Subscription {
	s := &Subscription{pubsub: c.redis.Subscribe(ctx), hear: hear, log: log}
	messages := s.pubsub.ChannelWithSubscriptions(redis.WithChannelSize(subscriptionBuffer))
	s.done.Go(func() {
		for message := range messages {
			s.take(message)
		}
	})
	return s
}

// Add begins to listen to a room; Lost is heard once Redis has confirmed it, and after every reconnection.
func (s *Subscription) Add(ctx context.Context, room string) error {
	if err := s.pubsub.Subscribe(ctx, roomChannel(room)); err != nil {
		return fmt.Errorf("subscribe: %w", err)
	}
	return nil
}

// Remove stops listening to a room.
func (s *Subscription) Remove(ctx context.Context, room string) error {
	if err := s.pubsub.Unsubscribe(ctx, roomChannel(room)); err != nil {
		return fmt.Errorf("unsubscribe: %w", err)
	}
	return nil
}

// Close ends the subscription; nothing is heard after it returned.
func (s *Subscription) Close() error {
	err := s.pubsub.Close()
	s.done.Wait()
	if err != nil {
		return fmt.Errorf("end the subscription: %w", err)
	}
	return nil
}

func (s *Subscription) take(message any) {
	switch m := message.(type) {
	case *redis.Subscription:
		if m.Kind == "subscribe" {
			s.hear(game.Heard{Room: strings.TrimPrefix(m.Channel, channelPrefix), Lost: true})
		}
	case *redis.Message:
		heard, err := parseHeard(m.Payload)
		heard.Room = strings.TrimPrefix(m.Channel, channelPrefix)
		if err != nil {
			s.log.Error("a published message does not parse", "room", heard.Room, "error", err)
			heard.Lost = true
		}
		s.hear(heard)
	}
}

// PublishTally sends a room's tally, a wire.Tally in JSON, to all instances.
func (c *Client) PublishTally(ctx context.Context, room string, tally []byte) error {
	if err := c.redis.Publish(ctx, roomChannel(room), append([]byte("tally "), tally...)).Err(); err != nil {
		return fmt.Errorf("publish the tally: %w", err)
	}
	return nil
}

// parseHeard reads 'claims ROUND LEFT REST BATCH', 'round ROUND', 'tally JSON', 'notice JSON', 'hosts CODE', 'doors'.
func parseHeard(payload string) (game.Heard, error) {
	kind, rest, _ := strings.Cut(payload, " ")
	switch kind {
	case "claims":
		claimed, err := parseClaimed(rest)
		if err != nil {
			return game.Heard{}, err
		}
		return game.Heard{Claims: &claimed}, nil
	case "round":
		return game.Heard{Round: rest}, nil
	case "tally":
		return game.Heard{Tally: []byte(rest)}, nil
	case "notice":
		return game.Heard{Notice: []byte(rest)}, nil
	case "hosts":
		return game.Heard{ForHosts: rest}, nil
	case "doors":
		return game.Heard{Doors: true}, nil
	}
	return game.Heard{}, fmt.Errorf("message of kind %q: %w", kind, errShape)
}

func parseClaimed(text string) (game.Claimed, error) {
	fields := strings.SplitN(text, " ", 4)
	if len(fields) != 4 {
		return game.Claimed{}, fmt.Errorf("claims message: %w", errShape)
	}
	left, errLeft := strconv.Atoi(fields[1])
	rest, errRest := strconv.ParseInt(fields[2], 10, 64)
	if errLeft != nil || errRest != nil {
		return game.Claimed{}, fmt.Errorf("claims message: %w", errShape)
	}
	claims, err := parseClaims(fields[3])
	if err != nil {
		return game.Claimed{}, err
	}
	return game.Claimed{Round: fields[0], Left: game.Left{Packets: left, Cents: game.Cents(rest)}, Claims: claims}, nil
}
