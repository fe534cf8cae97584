package ledger_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"redrain/internal/game"
	"redrain/internal/ledger"
)

func TestOpenRefusesWhatItCannotUseInOneLine(t *testing.T) {
	folder := t.TempDir()
	for url, want := range map[string]string{
		"":                           "must begin with sqlite:",
		"redrain.db":                 "must begin with sqlite:",
		"oracle://u:hunter2@host/db": "must begin with sqlite:",

		"postgres://u:hunter2@127.0.0.1:1/db":   "postgres at 127.0.0.1 does not answer",
		"postgresql://u:hunter2@127.0.0.1:1/db": "postgres at 127.0.0.1 does not answer",
		"postgres://u:hunter2@127.0.0.1:x/db":   "is not like postgres://",
		"mysql://u:hunter2@127.0.0.1:1/db":      "mysql at 127.0.0.1:1 does not answer",
		"mysql://u:hunter2@tcp(host)/db":        "is not like mysql://",
		"mysql://u:hunter2@127.0.0.1":           "is not like mysql://",

		"sqlite:":                         "must be sqlite:PATH",
		"sqlite://redrain.db":             "must be sqlite:PATH",
		"sqlite::memory:":                 "must name a file",
		"sqlite:" + folder:                "unable to open",
		"sqlite:" + folder + "/no/such/a": "unable to open",
	} {
		l, err := ledger.Open(t.Context(), url)
		if err == nil {
			t.Errorf("%q was opened", url)
			_ = l.Close()
			continue
		}
		if text := err.Error(); !strings.Contains(text, want) || strings.Contains(text, "\n") || strings.Contains(text, "hunter2") {
			t.Errorf("%q is refused with %q", url, text)
		}
	}
}

func TestSQLitePathIsTakenAsItIs(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"plain.db", "what?#50%25 off.db", "红包雨.db"} {
		path := filepath.Join(folder, name)
		for _, url := range []string{"sqlite:" + path, "sqlite://" + path} {
			openLedger(t, url)
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s opened another file: %v", url, err)
			}
		}
	}
}

func TestMigrateIsSafeWhenInstancesStartAtOnce(t *testing.T) {
	for name, newDatabase := range databases {
		t.Run(name, func(t *testing.T) {
			url := newDatabase(t)
			instances := make([]*ledger.Ledger, 8)
			for i := range instances {
				instances[i] = must[*ledger.Ledger](t)(ledger.Open(t.Context(), url))
				defer instances[i].Close()
			}
			runConcurrently(len(instances), func(i int) {
				for range 2 {
					if err := instances[i].Migrate(t.Context()); err != nil {
						t.Errorf("instance %d: %v", i, err)
					}
				}
			})
			newRoom(t, instances[0])
		})
	}
}

// What money needs of SQLite holds on every connection, also on those that a pool opens later.
func TestSQLiteConnectionsAreSafeForMoney(t *testing.T) {
	l := openLedger(t, databases["sqlite"](t))
	want := map[string]string{"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "busy_timeout": "10000"}
	for pool, db := range ledger.Pools(l) {
		for pragma, value := range want {
			var got string
			if err := db.QueryRowContext(t.Context(), "PRAGMA "+pragma).Scan(&got); err != nil || got != value {
				t.Errorf("%s is %s in the pool that can %s (%v)", pragma, got, pool, err)
			}
		}
	}
	if _, err := ledger.Pools(l)["read"].ExecContext(t.Context(), "DELETE FROM rooms"); err == nil {
		t.Error("the pool for reading can write")
	}
}

func TestMigrateGivesUpWaitingWithItsContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	l := openLedger(t, "sqlite:"+path)
	unlock, err := ledger.LockFile(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := l.Migrate(ctx); err == nil {
		t.Error("migrated while another instance held the lock")
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	if err := l.Migrate(t.Context()); err != nil {
		t.Errorf("the lock is stuck: %v", err)
	}
}

// childURL names the variable that turns this test binary into an instance of its own, see runChild.
const childURL = "LEDGER_TEST_CHILD_URL"

// runChild migrates, waits for one line with ids of rounds, begins them all, and prints those that it won.
func runChild(url string) int {
	ctx := context.Background()
	l, err := ledger.Open(ctx, url)
	if err == nil {
		err = l.Migrate(ctx)
	}
	if err != nil {
		fmt.Println("failed:", err)
		return 1
	}
	fmt.Println("ready")
	line, _ := bufio.NewReader(os.Stdin).ReadString('\n')
	for _, id := range strings.Fields(line) {
		switch _, err := l.Begin(ctx, id, game.NewSecret()); {
		case err == nil:
			fmt.Println(id)
		case !errors.Is(err, game.ErrRoomBusy):
			fmt.Println("failed:", err)
			return 1
		}
	}
	return 0
}

// Two processes on one file, started at once on nothing: both migrate, and of two rounds of a room exactly one begins.
func TestTwoProcessesOnOneFile(t *testing.T) {
	url := databases["sqlite"](t)
	children := []*child{startChild(t, url), startChild(t, url)}
	for _, c := range children {
		c.expect("ready")
	}
	const rooms = 20
	l := openLedger(t, url)
	roomOf := map[string]string{}
	lines := make([]string, len(children))
	for range rooms {
		room := newRoom(t, l)
		for i := range lines {
			id := newRound(t, l, room).ID
			roomOf[id] = room
			lines[i] += " " + id
		}
	}
	for i, c := range children {
		c.say(lines[i] + "\n")
	}
	won := map[string]int{}
	for _, c := range children {
		for _, id := range strings.Fields(c.rest()) {
			won[roomOf[id]]++
		}
	}
	for _, room := range roomOf {
		if won[room] != 1 {
			t.Errorf("%d rounds of room %s were begun", won[room], room)
		}
	}
	if open := must[[]game.Round](t)(l.OpenRounds(t.Context())); len(open) != rooms {
		t.Errorf("%d rounds of %d rooms are open", len(open), rooms)
	}
}

type child struct {
	t      *testing.T
	cmd    *exec.Cmd
	say    func(string)
	output *bufio.Reader
}

func startChild(t *testing.T, url string) *child {
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childURL+"="+url)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	say := func(line string) {
		if _, err := in.Write([]byte(line)); err != nil {
			t.Error(err)
		}
	}
	return &child{t: t, cmd: cmd, say: say, output: bufio.NewReader(out)}
}

func (c *child) expect(want string) {
	c.t.Helper()
	if line, err := c.output.ReadString('\n'); err != nil || strings.TrimSpace(line) != want {
		c.t.Fatalf("the other process says %q (%v)", line, err)
	}
}

// rest is what the process prints until it ends, which must be well.
func (c *child) rest() string {
	c.t.Helper()
	var text bytes.Buffer
	_, _ = text.ReadFrom(c.output)
	if err := c.cmd.Wait(); err != nil {
		c.t.Errorf("the other process: %v: %s", err, text.String())
	}
	return text.String()
}
