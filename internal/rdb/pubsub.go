package rdb

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"redrain/internal/game"
	"redrain/internal/wire"
)

// PublishTally sends a room's tally, a wire.Tally in JSON, to all instances.
func (c *Client) PublishTally(ctx context.Context, room string, tally []byte) error {
	if err := c.redis.Publish(ctx, roomChannel(room), append([]byte("tally "), tally...)).Err(); err != nil {
		return fmt.Errorf("publish the tally: %w", err)
	}
	return nil
}

// PublishNotice sends a notice to everybody in a room, on every instance.
func (c *Client) PublishNotice(ctx context.Context, room string, notice game.Notice) error {
	message := wire.Encode(wire.Notice{Code: string(notice.Code), Text: notice.Text})
	if err := c.redis.Publish(ctx, roomChannel(room), append([]byte("notice "), message...)).Err(); err != nil {
		return fmt.Errorf("publish a notice: %w", err)
	}
	return nil
}

// NotifyHosts sends the code of a notice to the pages of a room's hosts, on every instance. It tells them that something of the room
// has changed and is to be read again. Several at once may be delivered as one.
func (c *Client) NotifyHosts(ctx context.Context, room string, code game.NoticeCode) error {
	if err := c.redis.Publish(ctx, roomChannel(room), "hosts "+string(code)).Err(); err != nil {
		return fmt.Errorf("notify the hosts: %w", err)
	}
	return nil
}

// PublishAccessChanged tells every instance that serves a room that a player was blocked there, or unblocked.
func (c *Client) PublishAccessChanged(ctx context.Context, room string) error {
	if err := c.redis.Publish(ctx, roomChannel(room), "doors").Err(); err != nil {
		return fmt.Errorf("publish who is blocked: %w", err)
	}
	return nil
}

// parseEvent parses 'claims ROUND LEFT REST BATCH', 'round ROUND', 'tally JSON', 'notice JSON', 'hosts CODE', 'doors'.
func parseEvent(payload string) (game.Event, error) {
	kind, rest, _ := strings.Cut(payload, " ")
	switch kind {
	case "claims":
		claimed, err := parseClaimed(rest)
		if err != nil {
			return game.Event{}, err
		}
		return game.Event{Claims: &claimed}, nil
	case "round":
		return game.Event{Round: rest}, nil
	case "tally":
		return game.Event{Tally: []byte(rest)}, nil
	case "notice":
		return game.Event{Notice: []byte(rest)}, nil
	case "hosts":
		return game.Event{ForHosts: rest}, nil
	case "doors":
		return game.Event{AccessChanged: true}, nil
	}
	return game.Event{}, fmt.Errorf("message of kind %q: %w", kind, errBadReply)
}

func parseClaimed(text string) (game.Claimed, error) {
	fields := strings.SplitN(text, " ", 4)
	if len(fields) != 4 {
		return game.Claimed{}, fmt.Errorf("claims message: %w", errBadReply)
	}
	left, errLeft := strconv.Atoi(fields[1])
	rest, errRest := strconv.ParseInt(fields[2], 10, 64)
	if errLeft != nil || errRest != nil {
		return game.Claimed{}, fmt.Errorf("claims message: %w", errBadReply)
	}
	claims, err := parseClaims(fields[3])
	if err != nil {
		return game.Claimed{}, err
	}
	return game.Claimed{Round: fields[0], Left: game.Total{Packets: left, Cents: game.Cents(rest)}, Claims: claims}, nil
}
