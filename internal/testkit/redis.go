package testkit

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
)

const (
	redisStartAttempts = 5                // tries with another port before a start fails
	redisStartTimeout  = 10 * time.Second // until a started server must answer
	redisReplyTimeout  = time.Second      // until one answer must be there
)

// RedisServer is a real redis-server of one test, with an empty data folder. Its methods are for the
// test's own goroutine.
type RedisServer struct {
	Addr string // host:port
	URL  string // redis://host:port

	t       testing.TB
	dir     string
	port    int
	args    []string
	process *process
	output  *bytes.Buffer // of the current process; read it only after that has exited
}

// Redis starts a redis-server from PATH that stores nothing, and ends it with the test. Further
// arguments are those of redis-server and win: Redis(t, "--appendonly", "yes"). Without a
// redis-server the test is skipped, see Missing.
func Redis(t testing.TB, args ...string) *RedisServer {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		Missing(t, "redis-server", "redis-server")
	}
	r := &RedisServer{t: t, dir: t.TempDir(), args: args}
	t.Cleanup(r.Kill)
	var err error
	for range redisStartAttempts {
		r.port = FreePort(t)
		if err = r.start(); err == nil {
			r.Addr = net.JoinHostPort("127.0.0.1", strconv.Itoa(r.port))
			r.URL = "redis://" + r.Addr
			return r
		}
	}
	t.Fatalf("start redis-server: %v", err)
	return nil
}

// Kill ends the server at once, as a crash would. What it had not stored is lost.
func (r *RedisServer) Kill() {
	if r.process == nil {
		return
	}
	if err := r.process.kill(); err != nil {
		r.t.Errorf("kill redis-server: %v", err)
	}
}

// Restart kills the server if it runs and starts it on the same port and data folder. It returns when
// the server answers again, its data loaded.
func (r *RedisServer) Restart() {
	r.t.Helper()
	r.Kill()
	if err := r.start(); err != nil {
		r.t.Fatalf("restart redis-server: %v", err)
	}
}

// Freeze stops the server where it stands: connections stay open, nothing is answered.
func (r *RedisServer) Freeze() { r.signal(syscall.SIGSTOP) }

// Thaw lets a frozen server go on.
func (r *RedisServer) Thaw() { r.signal(syscall.SIGCONT) }

func (r *RedisServer) signal(sig syscall.Signal) {
	r.t.Helper()
	if err := r.process.signal(sig); err != nil {
		r.t.Fatalf("send %v to redis-server: %v", sig, err)
	}
}

// start runs redis-server on r.port and waits until it answers.
func (r *RedisServer) start() error {
	args := []string{
		"--bind", "127.0.0.1", "--port", strconv.Itoa(r.port), "--dir", r.dir,
		"--save", "", "--appendonly", "no",
	}
	cmd := exec.Command("redis-server", append(args, r.args...)...)
	r.output = new(bytes.Buffer)
	cmd.Stdout, cmd.Stderr = r.output, r.output
	var err error
	if r.process, err = startProcess(cmd); err != nil {
		r.process = nil
		return err
	}
	if err := r.waitUntilReady(); err != nil {
		r.Kill()
		return fmt.Errorf("%w; it said:\n%s", err, r.output)
	}
	return nil
}

func (r *RedisServer) waitUntilReady() error {
	deadline := time.After(redisStartTimeout)
	for {
		err := r.ping()
		if err == nil {
			return nil
		}
		select {
		case <-r.process.exited:
			return errors.New("redis-server exited")
		case <-deadline:
			return fmt.Errorf("no answer within %v: %w", redisStartTimeout, err)
		case <-time.After(pollEvery):
		}
	}
}

// ping is nil when this very process answers. Another server could have taken the port in between, so
// the process id counts too.
func (r *RedisServer) ping() error {
	conn, err := net.DialTimeout("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(r.port)), redisReplyTimeout)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(redisReplyTimeout)); err != nil {
		return err
	}
	if _, err := io.WriteString(conn, "PING\r\nINFO server\r\nQUIT\r\n"); err != nil {
		return err
	}
	answers, err := io.ReadAll(bufio.NewReader(conn))
	if err != nil {
		return err
	}
	pid := fmt.Sprintf("process_id:%d\r\n", r.process.cmd.Process.Pid)
	if text := string(answers); !strings.HasPrefix(text, "+PONG\r\n") || !strings.Contains(text, pid) {
		return fmt.Errorf("unexpected answer %.200q", text)
	}
	return nil
}

// Miniredis starts the embedded Redis of the product, in this process, and ends it with the test. Its
// TTLs stand still until the test calls FastForward.
func Miniredis(t testing.TB) *miniredis.Miniredis {
	t.Helper()
	server := miniredis.NewMiniRedis()
	if err := server.StartAddr("127.0.0.1:0"); err != nil {
		t.Fatalf("start miniredis: %v", err)
	}
	t.Cleanup(server.Close)
	return server
}

// EachRedis runs the same suite against a fresh server of each kind that the product supports, as the
// subtests "miniredis" and "redis-server". The suite gets the server's URL.
func EachRedis(t *testing.T, suite func(t *testing.T, url string)) {
	t.Helper()
	t.Run("miniredis", func(t *testing.T) { suite(t, "redis://"+Miniredis(t).Addr()) })
	t.Run("redis-server", func(t *testing.T) { suite(t, Redis(t).URL) })
}

// Pid is the process id of the server as it runs now.
func (r *RedisServer) Pid() int { return r.process.cmd.Process.Pid }
