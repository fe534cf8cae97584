package rdb

import (
	"context"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"redrain/internal/game"
	"redrain/internal/testkit"
)

// presenceFleet is some instances of one room, driven step by step by Redis' clock alone.
type presenceFleet struct {
	team
	t         rapid.TB
	room      string
	now       int64
	instances []fleetInstance
	late      []func()                     // calls that are still on their way
	opened    int64                        // how many presences there were
	saved     map[string]map[string]string // the room's keys as they were once
}

// fleetInstance is one instance with its players; a player may have several tabs there.
type fleetInstance struct {
	game.Presence
	tabs map[string]int
}

// maxChanges is how many changes go with a report here, so that most take several.
const maxChanges = 3

const fleetLease = 1200 * time.Millisecond

func (all team) newPresenceFleet(t rapid.TB, room string, now int64) *presenceFleet {
	c := &presenceFleet{team: all, t: t, room: room, now: now, instances: make([]fleetInstance, len(all))}
	for i := range c.instances {
		c.instances[i] = c.openRoom()
	}
	return c
}

// openRoom returns an instance that has just opened the room, without players.
func (c *presenceFleet) openRoom() fleetInstance {
	c.opened++
	return fleetInstance{Presence: game.NewPresence(c.opened * 1e6), tabs: make(map[string]int)}
}

func (c *presenceFleet) openTab(who int, player string) {
	c.instances[who].tabs[player]++
	c.instances[who].Enter(player)
}

func (c *presenceFleet) closeTab(who int, player string) {
	at := &c.instances[who]
	if at.tabs[player] == 0 {
		return
	}
	if at.tabs[player]--; at.tabs[player] == 0 {
		delete(at.tabs, player)
		at.Leave(player)
	}
}

// crash replaces an instance, which gives nothing back, by a new one without players.
func (c *presenceFleet) crash(who int) {
	c.instances[who] = c.openRoom()
	c.team[who].Client = c.team[who].withInstance(c.team[who].instance + "'")
}

// withInstance returns the same client under another name of its instance.
func (r *fixture) withInstance(instance string) *Client {
	return &Client{redis: r.redis, clock: r.clock, topology: r.topology, instance: instance}
}

// leave gives the room up, and enters it anew, without players.
func (c *presenceFleet) leave(who int) {
	r := c.team[who]
	r.now.Store(c.now)
	if _, err := r.Report(context.Background(), c.room, game.Report{}, 0); err != nil {
		c.t.Fatal(err)
	}
	c.instances[who] = c.openRoom()
}

// tell lets one instance report, and sweep if it must.
func (c *presenceFleet) report(who int) game.Reports {
	all := c.call(who)()
	c.instances[who].Confirm(all.Mark)
	if all.Garbage > 0 {
		c.sweep(who)
	}
	return all
}

// call prepares a report of the changes up to now. It may be sent later, and its answer may be ignored.
func (c *presenceFleet) call(who int) func() game.Reports {
	at, r := &c.instances[who], c.team[who]
	own, client := game.Report{Online: at.Online(), Changes: at.Next(maxChanges)}, r.Client
	return func() game.Reports {
		r.now.Store(c.now)
		all, err := client.Report(context.Background(), c.room, own, fleetLease)
		if err != nil {
			c.t.Fatal(err)
		}
		return all
	}
}

func (c *presenceFleet) sweep(who int) {
	for cursor := "0"; ; {
		swept, err := c.team[who].Sweep(context.Background(), c.room, cursor)
		if err != nil {
			c.t.Fatal(err)
		}
		if cursor = swept.Cursor; cursor == "0" {
			return
		}
	}
}

// settle lets all report until nobody has more to tell, for longer than an instance without a report counts, and returns what
// the holder of the lease learns then.
func (c *presenceFleet) settle() game.Reports {
	var known game.Reports
	for round := range 100 {
		waits := false
		for who := range c.instances {
			got := c.report(who)
			waits = waits || c.instances[who].HasChanges() || got.Garbage > 0
			if got.Epoch > 0 {
				known = got
			}
		}
		if round > 8 && !waits && known.Epoch > 0 {
			return known
		}
		c.now += 300
	}
	c.t.Fatal("the reports come to no end")
	return known
}

// present are the distinct players of all instances.
func (c *presenceFleet) present() int {
	distinct := make(map[string]bool)
	for _, at := range c.instances {
		for player := range at.tabs {
			distinct[player] = true
		}
	}
	return len(distinct)
}

func (c *presenceFleet) keys() []string {
	return []string{leaseKey(c.room), reportsKey(c.room), presenceKey(c.room)}
}

func (c *presenceFleet) lose(keys ...string) {
	if err := c.team[0].redis.Del(context.Background(), keys...).Err(); err != nil {
		c.t.Fatal(err)
	}
}

func (c *presenceFleet) save() {
	c.saved = make(map[string]map[string]string)
	for _, key := range c.keys() {
		c.saved[key] = c.team[0].redis.HGetAll(context.Background(), key).Val()
	}
}

// restore is a Redis that forgot what came after save.
func (c *presenceFleet) restore() {
	c.lose(c.keys()...)
	for key, fields := range c.saved {
		if len(fields) > 0 {
			c.team[0].redis.HSet(context.Background(), key, fields)
		}
	}
}

func (c *presenceFleet) step(t *rapid.T) {
	who := rapid.IntRange(0, len(c.instances)-1).Draw(t, "who")
	player := rapid.SampledFrom([]string{"ann", "bob", "cid", "dan", "eve", "fay", "gil"}).Draw(t, "player")
	switch rapid.SampledFrom(fleetActions).Draw(t, "action") {
	case "open a tab":
		c.openTab(who, player)
	case "close a tab":
		c.closeTab(who, player)
	case "report":
		c.report(who)
	case "answer lost":
		c.call(who)()
	case "late":
		call := c.call(who)
		c.late = append(c.late, func() { call() })
	case "arrives":
		if len(c.late) > 0 {
			c.late[0]()
			c.late = c.late[1:]
		}
	case "wait":
		c.now += rapid.Int64Range(1, 3000).Draw(t, "ms")
	case "crash":
		c.crash(who)
	case "leave":
		c.leave(who)
	case "lose":
		c.lose(rapid.SampledFrom(c.keys()).Draw(t, "key"))
	case "flush":
		c.lose(c.keys()...)
	case "lose a part": // what Redis does not do, but a hand may
		c.team[0].redis.HDel(context.Background(), presenceKey(c.room), "@")
	case "save":
		c.save()
	case "restore":
		c.restore()
	}
}

var fleetActions = []string{
	"open a tab", "open a tab", "open a tab", "open a tab", "close a tab", "close a tab", "close a tab", "report", "report", "report", "report", "answer lost", "late", "arrives",
	"wait", "crash", "leave", "lose", "flush", "lose a part", "save", "restore",
}

// Whatever happens to instances, to reports and to Redis: once all have reported, a player counts once, however many tabs they have
// on however many instances, nobody counts whose instance is gone, and nothing else is kept.
func TestOnlineIsTheNumberOfDistinctPlayers(t *testing.T) {
	t.Parallel()
	testkit.EachRedis(t, func(t *testing.T, url string) {
		all, rooms := newTeam(t, url, 3), 0
		now := time.Now().UnixMilli()
		rapid.Check(t, func(t *rapid.T) {
			rooms++
			c := all[:rapid.IntRange(2, 3).Draw(t, "instances")].newPresenceFleet(t, fmt.Sprint("ROOM", rooms), now)
			for range rapid.IntRange(0, 60).Draw(t, "steps") {
				c.step(t)
			}
			c.check()
			for _, call := range c.late { // at any time, even now
				call()
			}
			c.check()
			for who := range c.instances {
				c.leave(who)
			}
			if left := all[0].redis.Exists(context.Background(), presenceKey(c.room)).Val(); left != 0 {
				t.Error("all have left, and their presence is kept")
			}
			c.lose(c.keys()...)
		})
	})
}

func (c *presenceFleet) check() {
	got, want := c.settle(), c.present()
	if got.Online != want {
		c.t.Fatalf("%d are online, %d are there", got.Online, want)
	}
	kept := c.team[0].redis.HGetAll(context.Background(), presenceKey(c.room)).Val()
	if len(kept) != want+1+len(c.instances) {
		c.t.Fatalf("%d are there, %d instances, and kept are %v", want, len(c.instances), kept)
	}
}

// An instance that is alone in a room closes it and opens it again, and gets the mark that it had. A report from before, which had
// been delayed, once brought players back who had left.
func TestALateReportOfAnEarlierPresenceChangesNothing(t *testing.T) {
	t.Parallel()
	testkit.EachRedis(t, func(t *testing.T, url string) {
		now := time.Now().UnixMilli()
		c := newTeam(t, url, 1).newPresenceFleet(t, "ROOM", now)
		c.report(0)
		c.openTab(0, "ann")
		delayed := c.call(0)
		c.leave(0)
		c.report(0)
		delayed()
		c.openTab(0, "bob")
		c.report(0)
		if c.team[0].redis.HExists(context.Background(), presenceKey(c.room), "ann").Val() {
			t.Error("ann is said to be there, who left")
		}
		delayed()
		c.check()
	})
}
