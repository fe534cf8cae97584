package rdb

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// topology keeps a cluster client's map of slots to masters fresh through failovers. go-redis reloads it once a minute, and on
// MOVED, ASK and READONLY. A dead master sends none of these, so without more reloads its rounds would stand still for up to a minute
// after a replica took over.
type topology struct {
	cluster *redis.ClusterClient
	stale   chan struct{} // the map may be wrong
	end     context.CancelFunc
	done    sync.WaitGroup
}

const (
	reloadInterval = 200 * time.Millisecond
	// reloadTimeout bounds one reload: the node that is asked may be the one that hangs.
	reloadTimeout = 400 * time.Millisecond
	// reloadsAfterError is how often the map is reloaded after the last error: a replica takes over some time after the master failed.
	reloadsAfterError = 10
)

// followTopology starts to follow; close ends it.
func followTopology(cluster *redis.ClusterClient) *topology {
	t := &topology{cluster: cluster, stale: make(chan struct{}, 1)}
	var ctx context.Context
	ctx, t.end = context.WithCancel(context.Background())
	cluster.AddHook(clusterHook{t})
	t.done.Go(func() { t.follow(ctx) })
	return t
}

func (t *topology) close() {
	t.end()
	t.done.Wait()
}

// noteError has the map reloaded if the error may be due to an outdated one.
func (t *topology) noteError(err error) {
	if err == nil || errors.Is(err, context.Canceled) || (isRefusal(err) && !isTransient(err)) {
		return
	}
	select {
	case t.stale <- struct{}{}:
	default:
	}
}

func (t *topology) follow(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.stale:
		}
		for n := 0; n < reloadsAfterError && ctx.Err() == nil; n++ {
			t.reload(ctx)
			select {
			case <-ctx.Done():
			case <-time.After(reloadInterval):
			}
			select {
			case <-t.stale:
				n = -1
			default:
			}
		}
	}
}

// reload asks one node for the map, and more if it fails. What fails is tried again after the next error.
func (t *topology) reload(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, reloadTimeout)
	defer cancel()
	// The cluster client reloads before it goes over the masters; its ReloadState takes no deadline.
	_ = t.cluster.ForEachMaster(ctx, func(context.Context, *redis.Client) error { return nil })
}

// masters are the cluster's, by a map that is loaded now.
func (t *topology) masters(ctx context.Context) ([]*redis.Client, error) {
	var mu sync.Mutex
	var masters []*redis.Client
	err := t.cluster.ForEachMaster(ctx, func(_ context.Context, master *redis.Client) error {
		mu.Lock()
		defer mu.Unlock()
		masters = append(masters, master)
		return nil
	})
	return masters, err //nolint:wrapcheck // callers say what they asked for
}

// assignKeys finds a key in a slot of each master, out of those that name makes from numbers. Known keys that still fit are kept. A
// master with very few slots may get none.
func (t *topology) assignKeys(ctx context.Context, masters []*redis.Client, known map[string]string, name func(int) string) map[string]string {
	keys := make(map[string]string)
	take := func(key string) {
		if master, err := t.cluster.MasterForKey(ctx, key); err == nil && keys[master.Options().Addr] == "" {
			keys[master.Options().Addr] = key
		}
	}
	for _, key := range known {
		take(key)
	}
	const most = 10_000 // some milliseconds
	for n := 0; len(keys) < len(masters) && n < most; n++ {
		take(name(n))
	}
	return keys
}

// sameMaster reports whether two keys are on the same master.
func (t *topology) sameMaster(ctx context.Context, a, b string) bool {
	ctx, cancel := context.WithTimeout(ctx, reloadTimeout)
	defer cancel()
	one, err := t.cluster.MasterForKey(ctx, a)
	other, otherErr := t.cluster.MasterForKey(ctx, b)
	return err == nil && otherErr == nil && one == other
}

// clusterHook lets go-redis send a command again only when nothing was done, and notes errors.
type clusterHook struct{ topology *topology }

// DialHook changes nothing.
func (h clusterHook) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook is for single commands.
func (h clusterHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, noRetry{cmd})
		h.topology.noteError(err)
		return err
	}
}

// ProcessPipelineHook is for pipelines and transactions.
func (h clusterHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		single := make([]redis.Cmder, len(cmds))
		for i, cmd := range cmds {
			single[i] = noRetry{cmd}
		}
		err := next(ctx, single)
		h.topology.noteError(err)
		return err
	}
}

// noRetry is a command that may not be repeated when its result is unknown. The cluster client, unlike that for one server, repeats
// after a lost connection or reply whatever MaxRetries says, so that a win could come back as a duplicate at the first try.
// It still follows MOVED and ASK, and repeats after READONLY: then nothing was done.
type noRetry struct{ redis.Cmder }

// NoRetry is asked by go-redis before it repeats.
func (noRetry) NoRetry() bool { return true }
