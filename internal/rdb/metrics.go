package rdb

import (
	"context"
	"errors"
	"io"
	"net"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"
)

// Kinds of errors of Redis, as the label kind.
const (
	kindTimeout = "timeout" // no answer in time: whether it was done is unknown
	kindNetwork = "network" // no connection, or a broken one
	kindReply   = "reply"   // Redis answered with an error
	kindOther   = "other"   // among them commands that were given up by their callers
)

// errorCounter counts the errors of commands by kind. It is a hook of the driver.
type errorCounter struct{ errors *prometheus.CounterVec }

func newErrorCounter() *errorCounter {
	e := &errorCounter{prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "redrain_redis_errors_total", Help: "Commands of Redis that ended in an error, by kind. Scripts that have to be sent first count as reply.",
	}, []string{"kind"})}
	for _, kind := range []string{kindTimeout, kindNetwork, kindReply, kindOther} {
		e.errors.WithLabelValues(kind)
	}
	return e
}

// Metrics returns what a registry needs to show how Redis answers.
func (c *Client) Metrics() []prometheus.Collector { return []prometheus.Collector{c.errors.errors} }

func (e *errorCounter) DialHook(next redis.DialHook) redis.DialHook { return next }

func (e *errorCounter) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, command redis.Cmder) error {
		err := next(ctx, command)
		e.record(err)
		return err
	}
}

func (e *errorCounter) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, commands []redis.Cmder) error {
		err := next(ctx, commands)
		e.record(err)
		return err
	}
}

func (e *errorCounter) record(err error) {
	if err != nil && !errors.Is(err, redis.Nil) {
		e.errors.WithLabelValues(errorKind(err)).Inc()
	}
}

func errorKind(err error) string {
	var reply redis.Error
	var network net.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded) || (errors.As(err, &network) && network.Timeout()):
		return kindTimeout
	case errors.As(err, &reply):
		return kindReply
	case errors.As(err, &network) || isBroken(err):
		return kindNetwork
	default:
		return kindOther
	}
}

func isBroken(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed)
}
