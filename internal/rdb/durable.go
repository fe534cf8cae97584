package rdb

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"
)

var (
	// ErrNotDurable means that Redis could lose money, because it may evict keys or keeps them only in memory.
	ErrNotDurable = errors.New("redis is not set up for money")
	// ErrSilent means that Redis does not show its configuration, as many managed ones do not.
	ErrSilent = errors.New("redis does not tell how it is set up: make sure that it has maxmemory-policy noeviction and appendonly yes")
)

// durability is a server's configuration; a setting that it does not show is empty.
type durability struct{ policy, appendOnly, fsync string }

// CheckDurable reads from every master whether its keys survive a restart: nothing may be evicted, and every write must go to an
// append-only file. It returns ErrNotDurable, wrapped, with what is wrong, or ErrSilent if a server does not tell. Other errors mean
// that it could not be found out.
func (c *Client) CheckDurable(ctx context.Context) error {
	cluster, ok := c.redis.(*redis.ClusterClient)
	if !ok {
		return checkDurable(ctx, c.redis)
	}
	var mu sync.Mutex
	var found []error
	err := cluster.ForEachMaster(ctx, func(ctx context.Context, master *redis.Client) error {
		if err := checkDurable(ctx, master); err != nil {
			mu.Lock()
			defer mu.Unlock()
			found = append(found, fmt.Errorf("%s: %w", master.Options().Addr, err))
		}
		return nil
	})
	return errors.Join(append(found, err)...)
}

func checkDurable(ctx context.Context, server redis.Cmdable) error {
	d, err := askDurability(ctx, server)
	if err != nil {
		return err
	}
	var wrong []string
	if d.policy != "noeviction" {
		wrong = append(wrong, "maxmemory-policy is "+d.policy+", not noeviction")
	}
	if d.appendOnly != "yes" {
		wrong = append(wrong, "appendonly is "+d.appendOnly+", not yes")
	} else if d.fsync == "no" {
		wrong = append(wrong, "appendfsync is no, neither always nor everysec")
	}
	if wrong != nil {
		return fmt.Errorf("%w: %s", ErrNotDurable, strings.Join(wrong, "; "))
	}
	return nil
}

// askDurability asks for the configuration or, where that is forbidden, for what INFO tells of it.
func askDurability(ctx context.Context, server redis.Cmdable) (durability, error) {
	var d durability
	for name, value := range map[string]*string{"maxmemory-policy": &d.policy, "appendonly": &d.appendOnly, "appendfsync": &d.fsync} {
		set, err := server.ConfigGet(ctx, name).Result()
		if isRefusal(err) || (err == nil && set[name] == "") {
			return askInfo(ctx, server)
		}
		if err != nil {
			return durability{}, fmt.Errorf("ask redis how it is set up: %w", err)
		}
		*value = set[name]
	}
	return d, nil
}

func askInfo(ctx context.Context, server redis.Cmdable) (durability, error) {
	var d durability
	for _, section := range []string{"memory", "persistence"} {
		text, err := server.Info(ctx, section).Result()
		if err != nil && !isRefusal(err) {
			return durability{}, fmt.Errorf("ask redis how it is set up: %w", err)
		}
		for line := range strings.Lines(text) {
			switch name, value, _ := strings.Cut(strings.TrimSpace(line), ":"); name {
			case "maxmemory_policy":
				d.policy = value
			case "aof_enabled":
				d.appendOnly = map[string]string{"0": "no", "1": "yes"}[value]
			}
		}
	}
	if d.policy == "" || d.appendOnly == "" {
		return durability{}, ErrSilent
	}
	return d, nil
}

// isRefusal reports that Redis answered, and not with what was asked for.
func isRefusal(err error) bool {
	var answer redis.Error
	return errors.As(err, &answer)
}
