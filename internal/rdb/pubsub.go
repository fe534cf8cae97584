package rdb

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"redrain/internal/game"
)

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
	return game.Claimed{Round: fields[0], Left: game.Total{Packets: left, Cents: game.Cents(rest)}, Claims: claims}, nil
}
