package testkit

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Program is a child process of a test: the product itself, or something beside it. It ends with the test.
type Program struct {
	process *process
	output  *lockedBuffer
}

// StartProgram starts a command with these additional environment variables, and keeps what it prints.
func StartProgram(t testing.TB, env []string, path string, args ...string) *Program {
	t.Helper()
	cmd := exec.Command(path, args...)
	output := new(lockedBuffer)
	cmd.Stdout, cmd.Stderr = output, output
	cmd.Env = append(os.Environ(), env...)
	cmd.Dir = t.TempDir()
	process, err := startProcess(cmd)
	if err != nil {
		t.Fatalf("start %s: %v", path, err)
	}
	program := &Program{process: process, output: output}
	t.Cleanup(func() {
		if err := process.kill(); err != nil {
			t.Errorf("end %s: %v", path, err)
		}
		if t.Failed() {
			t.Logf("%s %v printed:\n%s", path, args, output)
		}
	})
	return program
}

// Await waits until what the program has printed matches, and returns the submatches.
func (p *Program) Await(t testing.TB, within time.Duration, pattern string) []string {
	t.Helper()
	expression := regexp.MustCompile(pattern)
	deadline := time.Now().Add(within)
	for {
		if found := expression.FindStringSubmatch(p.output.String()); found != nil {
			return found
		}
		select {
		case <-p.process.exited:
			if found := expression.FindStringSubmatch(p.output.String()); found != nil {
				return found
			}
			t.Fatalf("the program ended (%v) and has not printed %q but:\n%s", p.process.cmd.ProcessState, pattern, p.output)
		case <-time.After(pollEvery):
		}
		if time.Now().After(deadline) {
			t.Fatalf("the program has not printed %q within %v but:\n%s", pattern, within, p.output)
		}
	}
}

// Output is what the program has printed so far.
func (p *Program) Output() string { return p.output.String() }

// Kill ends the program at once, as a crash would.
func (p *Program) Kill(t testing.TB) {
	t.Helper()
	if err := p.process.kill(); err != nil {
		t.Fatalf("kill the program: %v", err)
	}
}

// Interrupt asks the program to end, as Ctrl-C does, and returns its exit code.
func (p *Program) Interrupt(t testing.TB, within time.Duration) int {
	t.Helper()
	if err := p.process.signal(syscall.SIGINT); err != nil {
		t.Fatalf("interrupt the program: %v", err)
	}
	return p.Wait(t, within)
}

// Wait waits until the program has ended and returns its exit code.
func (p *Program) Wait(t testing.TB, within time.Duration) int {
	t.Helper()
	select {
	case <-p.process.exited:
		return p.process.cmd.ProcessState.ExitCode()
	case <-time.After(within):
		t.Fatalf("the program has not ended within %v; it printed:\n%s", within, p.output)
		return 0
	}
}

// Pid is the program's process id.
func (p *Program) Pid() int { return p.process.cmd.Process.Pid }

type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(text []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(text)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// LimitFileSize keeps the program from writing beyond so many bytes of any file, as a full disk would; negative: no longer.
func (p *Program) LimitFileSize(t testing.TB, size int64) {
	t.Helper()
	limit := "unlimited"
	if size >= 0 {
		limit = strconv.FormatInt(size, 10)
	}
	// Only the soft limit, which its owner may raise again.
	out, err := exec.Command("prlimit", "--pid", strconv.Itoa(p.Pid()), "--fsize="+limit+":").CombinedOutput()
	if err != nil {
		t.Fatalf("limit the size of files: %v: %s", err, out)
	}
}
