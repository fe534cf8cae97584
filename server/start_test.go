package main

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"redrain/internal/testkit"
)

// ended is what a program that ends by itself leaves behind.
type ended struct {
	stdout, stderr string
	code           int
}

// runToEnd runs the program with nothing in its environment but what is given, in an empty folder.
func runToEnd(t *testing.T, env []string, args ...string) ended {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // a start that should fail might go on
	defer cancel()
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Env, cmd.Dir = append([]string{asProgram + "=1", "HOST=127.0.0.1", "PORT=0"}, env...), t.TempDir()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return ended{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// Whatever keeps the server from starting is told in one line, with exit code 2 and without a stack, and names what to change.
func TestFailedStartPrintsOneLine(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { taken.Close() })
	port := strconv.Itoa(taken.Addr().(*net.TCPAddr).Port)
	closed := strconv.Itoa(testkit.FreePort(t))
	for _, test := range []struct {
		name  string
		env   []string
		args  []string
		names string // what the line must name
	}{
		{"unknown flag", nil, []string{"--nope"}, "--nope"},
		{"unknown command", nil, []string{"dance"}, "dance"},
		{"flag without value", nil, []string{"--port"}, "--port"},
		{"flag of a wrong type", nil, []string{"--port=http"}, "--port"},
		{"variable of a wrong type", []string{"PORT=http"}, nil, "PORT"},
		{"port out of range", []string{"PORT=65536"}, nil, "PORT"},
		{"port in use", []string{"PORT=" + port}, nil, port},
		{"no such address", []string{"HOST=192.0.2.1"}, nil, "192.0.2.1"},
		{"no Redis at this address", []string{"REDIS_URL=redis://127.0.0.1:" + closed}, nil, "REDIS_URL"},
		{"something else than Redis", []string{"REDIS_URL=http://127.0.0.1"}, nil, "REDIS_URL"},
		{"Redis address without scheme", []string{"REDIS_URL=127.0.0.1:6379"}, nil, "REDIS_URL"},
		{"database is a folder", []string{"DATABASE_URL=sqlite:" + t.TempDir()}, nil, "database"},
		{"database in no folder", []string{"DATABASE_URL=sqlite:/no/such/folder/books.db"}, nil, "database"},
		{"database of an unknown kind", []string{"DATABASE_URL=oracle:books"}, nil, "DATABASE_URL"},
		{"database is another file", []string{"DATABASE_URL=sqlite:" + writeTextFile(t)}, nil, "database"},
		{"public address", []string{"PUBLIC_URL=rain"}, nil, "PUBLIC_URL"},
		{"trusted proxies", []string{"TRUSTED_PROXIES=10.0.0.0/8,proxy"}, nil, "TRUSTED_PROXIES"},
		{"allowed origins", []string{"ALLOWED_ORIGINS=example.org"}, nil, "ALLOWED_ORIGINS"},
		{"short password", []string{"HOST_PASSWORD=ninechars"}, nil, "HOST_PASSWORD must have at least 10 characters"},
		{"short secret", []string{"SESSION_SECRET=short"}, nil, "SESSION_SECRET"},
		{"taps a second", []string{"TAPS_PER_SECOND=0"}, nil, "TAPS_PER_SECOND"},
		{"log level", []string{"LOG_LEVEL=loud"}, nil, "log-level"},
		{"debug address", []string{"DEBUG_ADDR=0.0.0.0:0"}, nil, "DEBUG_ADDR"},
		{"migrate a folder", []string{"DATABASE_URL=sqlite:" + t.TempDir()}, []string{"migrate"}, "database"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := runToEnd(t, test.env, test.args...)
			if got.code != exitUsage || got.stdout != "" {
				t.Errorf("exit code %d and on standard output %q, want %d and nothing", got.code, got.stdout, exitUsage)
			}
			if strings.Count(got.stderr, "\n") != 1 || !strings.HasPrefix(got.stderr, "server: ") {
				t.Errorf("standard error is not one line of the server's:\n%s", got.stderr)
			}
			if !strings.Contains(got.stderr, test.names) || strings.Contains(got.stderr, "goroutine ") {
				t.Errorf("standard error does not say %q, or has a stack:\n%s", test.names, got.stderr)
			}
		})
	}
}

func writeTextFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "notes.txt")
	if err := os.WriteFile(path, []byte(strings.Repeat("not a database\n", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// The first start on a machine with nothing else: where to go, the password, what this is good for; and an orderly end.
func TestFirstStartPrintsTheAddresses(t *testing.T) {
	t.Parallel()
	p := startProgram(t, []string{"HOST=", "PORT=0", "HOST_PASSWORD=", "REDIS_URL=", "PUBLIC_URL="})
	found := p.Await(t, soon, `(?s)redrain is ready\s+players +(http://\S+)/\n +host +(http://\S+)/host\n +screen +(http://\S+)/screen/CODE\n`+
		`.*password for this run: (\S+)\n.*Embedded Redis and sqlite:redrain\.db: good for [^\n]+\n.*\n\n`)
	if found[1] != found[2] || found[1] != found[3] {
		t.Errorf("three addresses of one site: %q", found[1:4])
	}
	port := found[1][strings.LastIndex(found[1], ":")+1:]
	host := loginHostWithPassword(t, "http://127.0.0.1:"+port, found[4])
	room := newRoom(t, host)
	players := joinPlayers(t, room, 2, &instance{Program: p, url: "http://127.0.0.1:" + port})
	startRound(t, host, newRound(t, host, room, map[string]any{"total_cents": 100, "packets": 10, "countdown_ms": 0}).ID)
	testkit.Eventually(t, soon, func() error {
		if players[0].NextDrop() == 0 {
			return errors.New("no drop falls yet")
		}
		return nil
	})
	asked := time.Now()
	if code := p.Interrupt(t, stopWithin); code != exitOK {
		t.Errorf("the exit code after Ctrl-C in the middle of a round is %d; it printed:\n%s", code, p.Output())
	}
	t.Logf("stopped within %v", time.Since(asked))
	if strings.Contains(p.Output(), "level=ERROR") {
		t.Errorf("an orderly stop logs no errors:\n%s", p.Output())
	}
}

// A stop that waits for something can be cut short by a second Ctrl-C.
func TestASecondInterruptEndsAtOnce(t *testing.T) {
	t.Parallel()
	redis := testkit.Redis(t)
	in := startInstance(t, "REDIS_URL="+redis.URL)
	host := loginHost(t, in)
	room := newRoom(t, host)
	player := joinPlayers(t, room, 1, in)[0]
	startRound(t, host, newRound(t, host, room, map[string]any{"total_cents": 100, "packets": 10, "countdown_ms": 0}).ID)
	testkit.Eventually(t, soon, func() error {
		drop := player.NextDrop()
		if drop == 0 {
			return errors.New("no drop falls yet")
		}
		redis.Freeze()
		return player.Tap(t.Context(), drop, time.Now())
	})
	defer redis.Thaw()
	ended := make(chan int, 1)
	go func() { ended <- in.Interrupt(t, stopWithin) }()
	in.Await(t, soon, `msg=stopping`)
	if code := in.Interrupt(t, time.Second); code != exitFault {
		t.Errorf("the exit code is %d, want %d", code, exitFault)
	}
	<-ended
}

// Tables may be brought up to date again and again, also beside a running instance's database.
func TestMigrateTwice(t *testing.T) {
	t.Parallel()
	database := "DATABASE_URL=sqlite:" + filepath.Join(t.TempDir(), "books.db")
	for range 2 {
		if got := runToEnd(t, []string{database}, "migrate"); got.code != exitOK || got.stderr != "" {
			t.Fatalf("exit code %d: %s", got.code, got.stderr)
		}
	}
	in := startInstance(t, database)
	if got := runToEnd(t, []string{database}, "migrate"); got.code != exitOK {
		t.Errorf("beside an instance: exit code %d: %s", got.code, got.stderr)
	}
	newRoom(t, loginHost(t, in))
}

func TestHelpGoesToStandardOutput(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--help"}, {"serve", "--help"}, {"migrate", "--help"}} {
		if got := runToEnd(t, nil, args...); got.code != exitOK || got.stderr != "" || !strings.Contains(got.stdout, "$DATABASE_URL") {
			t.Errorf("%v: exit code %d, standard error %q, standard output:\n%s", args, got.code, got.stderr, got.stdout)
		}
	}
}
