// Package testkit starts what tests need around the product: throwaway servers on free loopback ports,
// a headless browser, and a proxy that loses replies. Only test files import it.
//
// Everything started here ends with its test, and with the test binary should that be killed.
package testkit

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// Missing skips the test because a program is not installed, and says so. With CI=true nothing may be
// skipped, so there it fails.
func Missing(t testing.TB, program, debianPackage string) {
	t.Helper()
	reason := missingReason(program, debianPackage)
	if os.Getenv("CI") == "true" {
		t.Fatal(reason)
	}
	printSkipReason(reason)
	t.Skip(reason)
}

func missingReason(program, debianPackage string) string {
	return fmt.Sprintf("%s is not installed (make test installs Debian's %s)", program, debianPackage)
}

// reportedReasons holds the reasons that printSkipReason has written.
var reportedReasons sync.Map

// printSkipReason writes each reason once to the standard error of the go command that runs this test: without -v that command
// hides the output of packages that pass, so skips would go unnoticed. It works only on Linux, where /proc has the parent's files.
func printSkipReason(reason string) {
	if _, known := reportedReasons.LoadOrStore(reason, true); known || testing.Verbose() {
		return
	}
	stderr, err := os.OpenFile(fmt.Sprintf("/proc/%d/fd/2", os.Getppid()), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return
	}
	defer stderr.Close()
	fmt.Fprintf(stderr, "skipping tests of %s: %s\n", filepath.Base(os.Args[0]), reason)
}

// Eventually polls check until it returns nil, and fails the test with its last error when that takes
// longer than within. The check runs in the test's goroutine, so it may itself fail the test.
func Eventually(t testing.TB, within time.Duration, check func() error) {
	t.Helper()
	deadline := time.Now().Add(within)
	for {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %v", within, err)
		}
		time.Sleep(pollEvery)
	}
}

const pollEvery = 5 * time.Millisecond

// FreePort returns a TCP port of 127.0.0.1 that was free a moment ago. Another process may take it
// first: whoever binds it retries with a new one, or listens on port 0 in the first place.
func FreePort(t testing.TB) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("find a free port: %v", err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}
