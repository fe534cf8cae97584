package rdb

import (
	"context"
	"fmt"
	"testing"
	"time"

	"redrain/internal/game"
	"redrain/internal/testkit"
)

// crowded is a presenceFleet of so many players at every instance, other ones at each; the first holds the lease.
func crowded(t *testing.T, url, room string, instances, players int) *presenceFleet {
	c := newTeam(t, url, instances).newPresenceFleet(t, room, time.Now().UnixMilli())
	for who := range instances {
		for n := range players {
			c.openTab(who, fmt.Sprintf("player-%d-of-%d", n, who))
		}
		for c.instances[who].HasChanges() {
			c.reportChanges(who, 500)
		}
	}
	for who := range instances { // nothing new, at the same time
		c.reportChanges(who, 500)
	}
	return c
}

// told is one report that comes through, with up to so many changes.
func (c *presenceFleet) reportChanges(who, most int) game.Reports {
	at, r := &c.instances[who], c.team[who]
	r.now.Store(c.now)
	own := game.Report{Online: at.Online(), Changes: at.Next(most)}
	all, err := r.Report(context.Background(), c.room, own, fleetLease)
	if err != nil {
		c.t.Fatal(err)
	}
	at.Confirm(all.Mark)
	return all
}

// cost is how many commands the script of an idle report runs, and how many bytes their keys, fields and the reply have.
func (c *presenceFleet) cost(who int) (commands, bytes int) {
	at, r := &c.instances[who], c.team[who]
	told := at.Next(500)
	if len(told.Joined)+len(told.Left) > 0 {
		c.t.Fatal("the instance is not idle")
	}
	lease := fleetLease.Milliseconds()
	reply, calls := r.spied(context.Background(), reportScript, c.keys(), r.instance, "", at.Online(), 0, lease, 3_600_000,
		3_600_000, "", told.Mark, told.Since, told.Serial, told.Unsent, "", "")
	if mark := reply[5].(int64); mark != told.Mark {
		c.t.Fatalf("the mark is %d, was %d", mark, told.Mark)
	}
	for _, call := range calls {
		bytes += len(fmt.Sprint(call))
	}
	return len(calls), bytes + len(fmt.Sprint(reply))
}

// Every instance reports up to four times a second, for hours. What that costs must not grow with the players; without the lease
// not with the instances either.
func TestAnIdleReportCostsTheSameHoweverManyPlayersThereAre(t *testing.T) {
	t.Parallel()
	testkit.EachRedis(t, func(t *testing.T, url string) {
		const digits = 20 // numbers of more players are longer
		few, many := crowded(t, url, "FEW", 2, 10), crowded(t, url, "MANY", 2, 3000)
		wide := crowded(t, url, "WIDE", 6, 10)
		for who, what := range []string{"with the lease", "without the lease"} {
			commands, bytes := few.cost(who)
			if more, long := many.cost(who); more != commands || long > bytes+digits {
				t.Errorf("%s: %d commands and %d bytes with few players, %d and %d with many", what, commands, bytes, more, long)
			}
			more, long := wide.cost(who)
			if more != commands || (who == 1 && long > bytes+digits) {
				t.Errorf("%s: %d commands and %d bytes with 2 instances, %d and %d with 6", what, commands, bytes, more, long)
			}
			t.Logf("%s: %d commands and %d bytes", what, commands, bytes)
		}
	})
}

// What a dead instance left is removed by pages, by whoever holds the lease, and once; what others have stays.
func TestADeadInstancesMarksAreSweptPageByPage(t *testing.T) {
	t.Parallel()
	const players = 5000
	c := crowded(t, testkit.Redis(t).URL, "ROOM", 2, players)
	for n := range players / 2 { // half of them are at the other instance too
		c.openTab(0, fmt.Sprintf("player-%d-of-1", n))
	}
	for c.instances[0].HasChanges() {
		c.reportChanges(0, 500)
	}
	if got := c.reportChanges(0, 500); got.Online != 2*players || got.Garbage != 0 {
		t.Fatalf("%d are online, garbage is %d", got.Online, got.Garbage)
	}
	c.now += freshFor.Milliseconds()
	got := c.reportChanges(0, 500)
	if got.Garbage != players {
		t.Fatalf("garbage is %d, want %d", got.Garbage, players)
	}
	pages, removed := 0, 0
	for cursor := "0"; pages == 0 || cursor != "0"; pages++ {
		swept, err := c.team[0].Sweep(t.Context(), c.room, cursor)
		if err != nil {
			t.Fatal(err)
		}
		if swept.Removed > 2*sweepPage {
			t.Errorf("one page removed %d", swept.Removed)
		}
		cursor, removed = swept.Cursor, removed+swept.Removed
	}
	if got := c.reportChanges(0, 500); got.Online != players+players/2 || got.Garbage != 0 || removed != players {
		t.Errorf("%d are online, garbage is %d, %d marks were removed in %d pages", got.Online, got.Garbage, removed, pages)
	}
	for back := true; back || c.instances[1].HasChanges(); back = false { // it was only slow
		c.reportChanges(1, 500)
	}
	if got := c.reportChanges(0, 500); got.Online != 2*players {
		t.Errorf("%d are online after it came back, want %d", got.Online, 2*players)
	}
}

// All scripts of a room on a cluster, with marks.
func TestPresenceOnARedisCluster(t *testing.T) {
	t.Parallel()
	server := testkit.Redis(t, "--cluster-enabled", "yes")
	makeCluster(t, server)
	c := newTeam(t, "redis+cluster://"+server.Addr, 2).newPresenceFleet(t, "ROOM", time.Now().UnixMilli())
	c.openTab(0, "ann")
	c.openTab(1, "ann")
	c.openTab(1, "bob")
	c.check()
	c.crash(1)
	c.check()
}

// Somebody removed players by hand: as soon as there are fewer than one instance alone has, all tell of theirs anew.
func TestPlayersThatWereLostAreToldAnew(t *testing.T) {
	t.Parallel()
	testkit.EachRedis(t, func(t *testing.T, url string) {
		c := crowded(t, url, "ROOM", 2, 10)
		c.team[0].redis.HDel(t.Context(), presenceKey("ROOM"), "player-1-of-0")
		for n := range 10 {
			c.team[0].redis.HDel(t.Context(), presenceKey("ROOM"), fmt.Sprintf("player-%d-of-1", n))
		}
		c.check()
	})
}
