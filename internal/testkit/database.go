package testkit

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"
)

const (
	databaseStartTimeout  = 60 * time.Second // until a started database must answer, on a busy machine too
	databaseStartAttempts = 3                // with another port each
)

// Database is a temporary SQL server with an empty database. Its methods are for the test's own goroutine.
type Database struct {
	URL string // as DATABASE_URL

	kind    databaseKind
	dir     string
	port    int
	process *process
	output  *lockedBuffer
}

// databaseKind is what differs between SQL servers. dir is the data folder, owned by the user that runs the server.
type databaseKind struct {
	name, program, debianPackage string
	find                         func() (folder string, err error) // where its programs are
	prepare                      func(folder, dir string) *exec.Cmd
	run                          func(folder, dir string, port int) *exec.Cmd
	url                          func(port int, database string) string
	create                       func(port int, database string) error // nil once the server answers
}

// startDatabase makes a server with its data in a new folder below /tmp, whose owner is the user that may run it.
func startDatabase(t testing.TB, kind databaseKind) (*Database, error) {
	folder, err := kind.find()
	if err != nil {
		Missing(t, kind.program, kind.debianPackage)
	}
	dir, err := os.MkdirTemp("", "redrain-"+kind.name+"-") //nolint:usetesting // it outlives the test if shared, and has another owner
	if err != nil {
		return nil, err
	}
	d := &Database{kind: kind, dir: dir}
	if err := d.chownToOwner(dir); err != nil {
		return nil, errors.Join(err, d.remove())
	}
	if out, err := d.runAsOwner(kind.prepare(folder, dir)).CombinedOutput(); err != nil {
		return nil, errors.Join(fmt.Errorf("prepare %s: %w: %s", kind.name, err, out), d.remove())
	}
	for range databaseStartAttempts {
		d.port = FreePort(t)
		if err = d.start(folder); err == nil {
			d.URL = kind.url(d.port, firstDatabase)
			return d, nil
		}
	}
	return nil, errors.Join(err, d.remove())
}

const firstDatabase = "redrain"

func (d *Database) start(folder string) error {
	cmd := d.runAsOwner(d.kind.run(folder, d.dir, d.port))
	d.output = new(lockedBuffer)
	cmd.Stdout, cmd.Stderr = d.output, d.output
	process, err := startProcess(cmd)
	if err != nil {
		return err
	}
	d.process = process
	deadline := time.After(databaseStartTimeout)
	for {
		err := d.kind.create(d.port, firstDatabase)
		if err == nil {
			return nil
		}
		select {
		case <-process.exited:
			return fmt.Errorf("%s ended; it said:\n%s", d.kind.name, d.output)
		case <-deadline:
			return errors.Join(fmt.Errorf("%s does not answer: %w; it said:\n%s", d.kind.name, err, d.output), process.kill())
		case <-time.After(20 * pollEvery):
		}
	}
}

// Kill ends the server at once, as a crash would. What was committed is there after Restart.
func (d *Database) Kill(t testing.TB) {
	t.Helper()
	if err := d.process.kill(); err != nil {
		t.Fatalf("kill %s: %v", d.kind.name, err)
	}
}

// Restart kills the server if it runs, and starts it on the same port and data.
func (d *Database) Restart(t testing.TB) {
	t.Helper()
	d.Kill(t)
	folder, err := d.kind.find()
	// The children of a killed server may need a moment to notice.
	Eventually(t, databaseStartTimeout, func() error { return errors.Join(err, d.start(folder)) })
}

func (d *Database) end() error { return errors.Join(d.process.kill(), d.remove()) }

// remove deletes the data. Children of a killed server may still be writing there.
func (d *Database) remove() (err error) {
	for range 100 {
		if err = os.RemoveAll(d.dir); err == nil {
			return nil
		}
		time.Sleep(pollEvery)
	}
	return err
}

// findServerUser returns the user that runs the servers, which refuse to run as root; nil: the current user.
func findServerUser() *syscall.Credential {
	if os.Getuid() != 0 {
		return nil
	}
	nobody, err := user.Lookup("nobody")
	if err != nil {
		return nil
	}
	uid, errUID := strconv.ParseUint(nobody.Uid, 10, 32)
	gid, errGID := strconv.ParseUint(nobody.Gid, 10, 32)
	if errUID != nil || errGID != nil {
		return nil
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

func (d *Database) chownToOwner(dir string) error {
	if credential := findServerUser(); credential != nil {
		return os.Chown(dir, int(credential.Uid), int(credential.Gid))
	}
	return nil
}

// runAsOwner makes a command run as the owner of the data.
func (d *Database) runAsOwner(cmd *exec.Cmd) *exec.Cmd {
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: findServerUser()}
	cmd.Dir = d.dir
	cmd.Env = append(os.Environ(), "HOME="+d.dir, "LC_ALL=C")
	return cmd
}

// shared are the servers that all tests of this binary use, each test a database of its own.
var shared struct {
	mu      sync.Mutex
	servers map[string]*Database
	failed  map[string]error
	made    int
}

// sharedDatabase returns the URL of a new, empty database. Its server is started by the first test that asks, and ended
// by Main.
func sharedDatabase(t testing.TB, kind databaseKind) string {
	t.Helper()
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if !mainRuns {
		t.Fatal("TestMain must run its tests by testkit.Main, which ends shared servers")
	}
	if err := shared.failed[kind.name]; err != nil {
		t.Fatal(err)
	}
	server := shared.servers[kind.name]
	if server == nil {
		var err error
		if server, err = startDatabase(t, kind); err != nil {
			shared.failed[kind.name] = err
			t.Fatal(err)
		}
		shared.servers[kind.name] = server
	}
	shared.made++
	name := "test" + strconv.Itoa(shared.made)
	if err := kind.create(server.port, name); err != nil {
		t.Fatalf("make a database of %s: %v", kind.name, err)
	}
	return kind.url(server.port, name)
}

var mainRuns bool

// Main runs the tests of a package that uses shared servers, and ends those. It takes the place of the *testing.M.
func Main(m *testing.M) interface{ Run() int } { return &mainWithServers{m} }

type mainWithServers struct{ m *testing.M }

func (m *mainWithServers) Run() int {
	mainRuns = true
	shared.servers, shared.failed = map[string]*Database{}, map[string]error{}
	code := m.m.Run()
	for _, server := range shared.servers {
		if err := server.end(); err != nil {
			fmt.Fprintln(os.Stderr, "end a shared server:", err)
			code = max(code, 1)
		}
	}
	return code
}

// ownDatabase starts a server for one test alone.
func ownDatabase(t testing.TB, kind databaseKind) *Database {
	t.Helper()
	d, err := startDatabase(t, kind)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.end(); err != nil {
			t.Errorf("end %s: %v", kind.name, err)
		}
		if t.Failed() {
			t.Logf("%s printed:\n%s", kind.name, d.output)
		}
	})
	return d
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
