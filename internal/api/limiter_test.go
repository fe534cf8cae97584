package api

import (
	"fmt"
	"testing"
	"time"
)

func TestLimiterIsBounded(t *testing.T) {
	c := &fakeClock{now: time.Unix(0, 0)}
	l := newLimiter(1, 1, c.Now)
	for i := range 5 * maxLimiterClients {
		l.allow(fmt.Sprintf("10.%d.%d.%d", i>>16, i>>8&255, i&255))
	}
	if held := len(l.young) + len(l.old); held > 2*maxLimiterClients {
		t.Errorf("remembers %d clients", held)
	}
}

// A client that keeps making requests is not evicted, however many other clients there are.
func TestLimiterKeepsActiveClients(t *testing.T) {
	c := &fakeClock{now: time.Unix(0, 0)}
	l := newLimiter(1, 1, c.Now)
	if !l.allow("203.0.113.7") {
		t.Fatal("the first try is refused")
	}
	for i := range 3 * maxLimiterClients {
		l.allow(fmt.Sprintf("10.%d.%d.%d", i>>16, i>>8&255, i&255))
		if i%1000 == 0 && l.allow("203.0.113.7") {
			t.Fatalf("forgotten after %d others", i)
		}
	}
}
