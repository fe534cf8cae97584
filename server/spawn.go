package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"redrain/internal/bots"
)

// spawned is a server that runs as a separate process, so that its memory can be measured without that of the bots.
type spawned struct {
	url, password string
	debug         string // address of its profiles
	token         string // of the host's session there
	server, redis *exec.Cmd
	folder        string
}

const spawnTimeout = 15 * time.Second

// spawn starts a server on a free port of the loopback interface, in a temporary folder.
func spawn(ctx context.Context, tapsPerSecond int) (_ *spawned, err error) {
	s := &spawned{password: rand.Text()}
	defer func() {
		if err != nil {
			s.end()
		}
	}()
	if s.folder, err = os.MkdirTemp("", "redrain-load-"); err != nil {
		return nil, fmt.Errorf("make a folder: %w", err)
	}
	redisURL, err := s.startRedis(ctx)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	if s.debug, err = freeAddress(ctx); err != nil {
		return nil, err
	}
	s.server = exec.CommandContext(ctx, self, "serve") //nolint:gosec // this program itself
	s.server.Dir = s.folder
	s.server.Env = append(os.Environ(), "HOST=127.0.0.1", "PORT=0", "REDIS_URL="+redisURL, "DATABASE_URL=sqlite:books.db",
		"HOST_PASSWORD="+s.password, "JOINS_PER_ADDRESS=0", "PLAYERS_PER_ROOM=0", "SOCKETS_PER_ADDRESS=0", "TAPS_PER_SECOND="+strconv.Itoa(tapsPerSecond), "LOG_LEVEL=warn", "DEBUG_ADDR="+s.debug)
	s.server.Stderr = os.Stderr
	if s.url, err = startAndAwaitOutput(s.server, `players +(http://\S+)/`); err != nil {
		return nil, err
	}
	host := bots.NewHost(s.url)
	err = host.Login(ctx, s.password)
	s.token = host.Token()
	return s, err //nolint:wrapcheck // says itself what it is
}

// freeAddress returns an address of the loopback interface with a free port.
func freeAddress(ctx context.Context) (string, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	return listener.Addr().String(), listener.Close()
}

// startRedis starts a redis-server and returns its URL, or "" for the embedded one if redis-server is not installed.
func (s *spawned) startRedis(ctx context.Context) (string, error) {
	path, err := exec.LookPath("redis-server")
	if err != nil {
		return "", nil //nolint:nilerr // it is not there, which is fine
	}
	address, err := freeAddress(ctx)
	if err != nil {
		return "", err
	}
	_, port, _ := net.SplitHostPort(address)
	s.redis = exec.CommandContext(ctx, path, "--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "yes", "--dir", s.folder)
	_, err = startAndAwaitOutput(s.redis, `Ready to accept (connections)`)
	return "redis://" + address, err
}

// startAndAwaitOutput starts a command, waits for output that matches a pattern, and returns the pattern's first group.
func startAndAwaitOutput(cmd *exec.Cmd, pattern string) (string, error) {
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", fmt.Errorf("read what %s prints: %w", cmd.Path, err)
	}
	if err := cmd.Start(); err != nil {
		return "", fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	found := make(chan string, 1)
	go func() {
		defer close(found)
		expression := regexp.MustCompile(pattern)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if match := expression.FindStringSubmatch(lines.Text()); match != nil {
				found <- match[1]
				break
			}
		}
		_, _ = io.Copy(io.Discard, out) // so that the process never blocks on a full pipe
	}()
	select {
	case match, ok := <-found:
		if !ok {
			return "", fmt.Errorf("%s did not start", cmd.Path)
		}
		return match, nil
	case <-time.After(spawnTimeout):
		return "", fmt.Errorf("%s did not start within %v", cmd.Path, spawnTimeout)
	}
}

// end stops the server, then its Redis, and removes what they left.
func (s *spawned) end() {
	for _, cmd := range []*exec.Cmd{s.server, s.redis} {
		if cmd != nil && cmd.Process != nil {
			_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended
			_ = cmd.Wait()                          // which says how it ended; nobody asks
		}
	}
	_ = os.RemoveAll(s.folder) // in the system's own folder for such things
}

// usage is what the server's process holds, in bytes.
type usage struct{ rss, heap int64 }

func (u usage) since(before usage, connections int) *bots.Memory {
	if u == (usage{}) || before == (usage{}) {
		return nil
	}
	return &bots.Memory{
		RSSPerConnection:  (u.rss - before.rss) / int64(connections),
		HeapPerConnection: (u.heap - before.heap) / int64(connections),
	}
}

// memory reads what the server holds after a garbage collection; nothing where the system does not tell.
func (s *spawned) memory(ctx context.Context) usage {
	metrics, err := s.metrics(ctx)
	if err != nil {
		return usage{}
	}
	return usage{
		rss:  int64(metrics["process_resident_memory_bytes"]),
		heap: int64(metrics["go_memstats_heap_inuse_bytes"] + metrics["go_memstats_stack_inuse_bytes"]),
	}
}

// collect makes the server collect its garbage and give back what it does not use.
func (s *spawned) collect(ctx context.Context) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+s.debug+"/debug/gc", http.NoBody)
	if err != nil {
		return fmt.Errorf("ask for a collection: %w", err)
	}
	request.Header.Set("Authorization", "Bearer "+s.token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("ask for a collection: %w", err)
	}
	return response.Body.Close()
}

func (s *spawned) metrics(ctx context.Context) (map[string]float64, error) {
	if err := s.collect(ctx); err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/metrics", http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("ask for metrics: %w", err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("ask for metrics: %w", err)
	}
	defer response.Body.Close()
	values := make(map[string]float64)
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		name, text, _ := strings.Cut(lines.Text(), " ")
		if value, err := strconv.ParseFloat(text, 64); err == nil {
			values[name] = value
		}
	}
	return values, errors.Join(lines.Err())
}
