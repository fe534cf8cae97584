package rdb

import (
	"context"
	"fmt"
)

// NotifyHosts tells the pages of a room's hosts, on every instance, that something of the room has changed and is to be read
// again: a code of wire.Notice, such as players_changed. Many at once may be heard as one.
func (c *Client) NotifyHosts(ctx context.Context, room, code string) error {
	if err := c.redis.Publish(ctx, roomChannel(room), "hosts "+code).Err(); err != nil {
		return fmt.Errorf("tell the hosts: %w", err)
	}
	return nil
}

// PublishAccessChanged tells every instance that serves a room that somebody was blocked there, or let in again.
func (c *Client) PublishAccessChanged(ctx context.Context, room string) error {
	if err := c.redis.Publish(ctx, roomChannel(room), "doors").Err(); err != nil {
		return fmt.Errorf("tell who is blocked: %w", err)
	}
	return nil
}
