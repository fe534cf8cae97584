package main

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"redrain/internal/testkit"
)

// Two instances, each with a Redis of its own, on one database: the second would take the first one's rounds for lost.
func TestASecondEmbeddedInstanceIsRefused(t *testing.T) {
	t.Parallel()
	database := "DATABASE_URL=sqlite:" + t.TempDir() + "/books.db"
	first := startInstance(t, database)
	second := startProgram(t, []string{"HOST=127.0.0.1", "PORT=0", "REDIS_URL=", database})
	if code := second.Wait(t, soon); code != 2 || !strings.Contains(second.Output(), "another instance uses this database") {
		t.Errorf("it ended with %d: %s", code, second.Output())
	}
	first.Kill(t)
	began := time.Now()
	startInstance(t, database)
	if took := time.Since(began); took > soon/2 {
		t.Errorf("after the first one's death it took %v", took)
	}
}

// On a database server, behind a pooler too, an embedded instance holds a lease. One that was paused for longer than that finds
// another in its place: it says so, ends, and leaves the other's round alone, which it would have taken for lost.
func TestAPausedEmbeddedInstanceMakesWay(t *testing.T) {
	t.Parallel()
	database := "DATABASE_URL=" + testkit.PgBouncer(t, testkit.SharedPostgres(t), 2).URL
	first := startInstance(t, database)
	env := []string{"HOST=127.0.0.1", "PORT=0", "HOST_PASSWORD=" + password, "REDIS_URL=", database}
	refused := startProgram(t, env)
	if code := refused.Wait(t, soon); code != exitUsage || !strings.Contains(refused.Output(), "another instance uses this database") {
		t.Errorf("beside one that runs it ended with %d: %s", code, refused.Output())
	}
	if err := syscall.Kill(first.Pid(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	p := startProgram(t, env)
	p.Await(t, soon, `waiting for the lease of another instance`)
	const lease = 30 * time.Second
	second := &instance{Program: p, url: p.Await(t, lease+soon, `players +(http://127\.0\.0\.1:\d+)/`)[1]}
	host := loginHost(t, second)
	round := newRound(t, host, newRoom(t, host), map[string]any{"total_cents": 100, "packets": 10, "countdown_ms": 0, "duration_ms": 60_000})
	startRound(t, host, round.ID)
	if err := syscall.Kill(first.Pid(), syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if code := first.Wait(t, soon); code != exitFault || !strings.Contains(first.Output(), "server: stopped, ") {
		t.Errorf("the one that was paused ended with %d: %s", code, first.Output())
	}
	if got, err := host.Round(t.Context(), round.ID); err != nil || got.Phase.Over() {
		t.Errorf("the round of the one that runs is %s (%v)", got.Phase, err)
	}
	if code := second.Interrupt(t, soon); code != exitOK {
		t.Errorf("the one that runs ended with %d", code)
	}
}
