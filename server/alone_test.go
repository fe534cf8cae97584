package main

import (
	"strings"
	"testing"
	"time"
)

// Two instances, each with a Redis of its own, on one database: the second would take the first one's rounds for lost.
func TestASecondEmbeddedInstanceIsRefused(t *testing.T) {
	database := "DATABASE_URL=sqlite:" + t.TempDir() + "/books.db"
	first := startInstance(t, database)
	second := program(t, []string{"HOST=127.0.0.1", "PORT=0", "REDIS_URL=", database})
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
