package rdb

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/redis/go-redis/v9"
)

// driverLog keeps go-redis from writing to standard error by itself. What it has to say, callers hear as errors too, so
// here it is for debugging only.
type driverLog struct{ to *slog.Logger }

// LogDriver sends go-redis' own messages of the whole process to a logger, at debug level. Call it before the first Dial.
func LogDriver(to *slog.Logger) { redis.SetLogger(driverLog{to}) }

// Printf is what go-redis calls.
func (d driverLog) Printf(ctx context.Context, format string, values ...any) {
	d.to.DebugContext(ctx, "redis driver", "says", strings.TrimSpace(fmt.Sprintf(format, values...)))
}
