package rdb

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/redis/go-redis/v9"
)

// driverLogger keeps go-redis from writing to standard error by itself. What it has to say, callers hear as errors too, so
// here it is for debugging only.
type driverLogger struct{ to *slog.Logger }

// LogDriver sends go-redis' own messages of the whole process to a logger, at debug level. Call it before the first Dial.
func LogDriver(to *slog.Logger) { redis.SetLogger(driverLogger{to}) }

// Printf is what go-redis calls.
func (d driverLogger) Printf(ctx context.Context, format string, values ...any) {
	d.to.DebugContext(ctx, "redis driver", "says", strings.TrimSpace(fmt.Sprintf(format, values...)))
}
