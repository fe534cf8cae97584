package rdb

import (
	"cmp"
	"slices"
	"strconv"
	"testing"
	"time"

	"redrain/internal/game"
	"redrain/internal/testkit"
)

// team is a number of instances on one server, with one clock of Redis.
type team []*fixture

func newTeam(t *testing.T, url string, n int) team {
	all := make(team, n)
	for i := range all {
		all[i] = newFixture(t, url)
	}
	return all
}

// report lets one instance report at a time of Redis' clock.
func (all team) report(who int, now int64, own game.Report, lease time.Duration) game.Reports {
	r := all[who]
	r.t.Helper()
	r.now.Store(now)
	got, err := r.Report(r.t.Context(), "ROOM", own, lease)
	if err != nil {
		r.t.Fatal(err)
	}
	if int64(got.Now) != now {
		r.t.Errorf("now is %d, want %d", got.Now, now)
	}
	return got
}

func eachTeam(t *testing.T, suite func(t *testing.T, all team, now int64)) {
	testkit.EachRedis(t, func(t *testing.T, url string) { suite(t, newTeam(t, url, 3), time.Now().UnixMilli()) })
}

func TestLeaseHasOneHolderUntilItRunsOut(t *testing.T) {
	t.Parallel()
	eachTeam(t, func(t *testing.T, all team, now int64) {
		const lease = 1500 * time.Millisecond
		first := all.report(0, now, game.Report{}, lease).Epoch
		if first <= 0 {
			t.Fatalf("the first has epoch %d", first)
		}
		if other := all.report(1, now+100, game.Report{}, lease).Epoch; other != 0 {
			t.Errorf("a second holder has epoch %d", other)
		}
		if kept := all.report(0, now+1000, game.Report{}, lease).Epoch; kept != first {
			t.Errorf("kept with epoch %d, had %d", kept, first)
		}
		if early := all.report(1, now+2499, game.Report{}, lease).Epoch; early != 0 {
			t.Errorf("taken over a millisecond early with epoch %d", early)
		}
		second := all.report(1, now+2500, game.Report{}, lease).Epoch
		if second <= first {
			t.Errorf("taken over with epoch %d after %d", second, first)
		}
		if late := all.report(0, now+2501, game.Report{}, lease).Epoch; late != 0 {
			t.Errorf("the old holder still has epoch %d", late)
		}
	})
}

// Instances whose tallies had the same epoch would be taken for one.
func TestEpochGrowsEvenWithinOneMillisecondAndWhenTheClockGoesBack(t *testing.T) {
	t.Parallel()
	eachTeam(t, func(t *testing.T, all team, now int64) {
		const lease = time.Second
		last := int64(0)
		for i, at := range []int64{now, now, now, now - 5000} {
			epoch := all.report(i%3, at, game.Report{}, lease).Epoch
			if epoch <= last {
				t.Errorf("holder %d has epoch %d after %d", i, epoch, last)
			}
			last = epoch
			if given := all.report(i%3, at, game.Report{}, 0).Epoch; given != 0 {
				t.Errorf("given back, yet epoch %d", given)
			}
		}
	})
}

func TestWhoDoesNotHoldTheLeaseCannotGiveItBack(t *testing.T) {
	t.Parallel()
	eachTeam(t, func(t *testing.T, all team, now int64) {
		first := all.report(0, now, game.Report{}, time.Second).Epoch
		all.report(1, now, game.Report{}, 0)
		if got := all.report(0, now+10, game.Report{}, time.Second).Epoch; got != first {
			t.Errorf("epoch is %d, was %d", got, first)
		}
	})
}

// The sums are told to who holds the lease, here the last.
func TestReportsAreSummed(t *testing.T) {
	t.Parallel()
	eachTeam(t, func(t *testing.T, all team, now int64) {
		fresh := freshFor.Milliseconds()
		of := func(round string, online int, taps int64) game.Report {
			return game.Report{Round: round, Online: online, Taps: taps}
		}
		check := func(what string, at int64, own game.Report, online int, taps int64) {
			t.Helper()
			if got := all.report(2, at, own, time.Hour); got.Online != online || got.Taps != taps {
				t.Errorf("%s: %d online, %d taps, want %d, %d", what, got.Online, got.Taps, online, taps)
			}
		}
		check("alone", now, of("a", 1, 0), 1, 0)
		all.report(0, now, of("a", 5, 100), time.Second)
		other := all.report(1, now, of("a", 7, 10), time.Second)
		if other.Online != 0 || other.Taps != 0 || other.Epoch != 0 {
			t.Errorf("an instance without the lease is told %+v", other)
		}
		check("three", now, of("a", 1, 1), 13, 111)
		check("updated", now+fresh-1, of("a", 2, 3), 14, 113)
		check("two are stale", now+fresh, of("a", 2, 3), 2, 113)
		all.report(0, now+fresh, of("a", 4, 200), time.Second)
		check("one is back", now+fresh, of("a", 2, 3), 6, 213)
		all.report(0, now+fresh, of("a", 4, 200), 0)
		check("one leaves", now+fresh, of("a", 2, 3), 2, 213)
		check("a new round", now+fresh, of("b", 2, 1), 2, 1)
		check("much later", now+9*fresh, of("c", 2, 0), 2, 0)
		names, err := all[2].redis.HKeys(t.Context(), reportsKey("ROOM")).Result()
		if err != nil || len(names) != 1 {
			t.Errorf("reports of old rounds and instances are left: %v, %v", names, err)
		}
	})
}

func TestRoomsHaveTheirOwnLeases(t *testing.T) {
	t.Parallel()
	eachTeam(t, func(t *testing.T, all team, now int64) {
		all.report(0, now, game.Report{Online: 5}, time.Second)
		other, err := all[1].Report(t.Context(), "ELSEWHERE", game.Report{Online: 1}, time.Second)
		if err != nil || other.Epoch == 0 || other.Online != 1 {
			t.Errorf("elsewhere: %+v, %v", other, err)
		}
	})
}

// Who came last is told to whoever publishes it, from all instances that are alive, and to nobody else.
func TestArrivalsOfAllInstancesReachTheHolderOfTheLease(t *testing.T) {
	t.Parallel()
	eachTeam(t, func(t *testing.T, all team, now int64) {
		ann, bob, cid := game.Arrival{Player: "ann", At: 1_800_000_000_123}, game.Arrival{Player: "bob", At: 2}, game.Arrival{Player: "cid", At: 3}
		check := func(what string, got game.Reports, want ...game.Arrival) {
			t.Helper()
			slices.SortFunc(got.Arrivals, func(a, b game.Arrival) int { return cmp.Compare(a.Player, b.Player) })
			if !slices.Equal(got.Arrivals, want) {
				t.Errorf("%s: %v, want %v", what, got.Arrivals, want)
			}
		}
		here := func(arrivals ...game.Arrival) game.Report { return game.Report{Round: "a", Arrivals: arrivals} }
		check("alone", all.report(0, now, here(ann, bob), time.Second), ann, bob)
		check("another", all.report(1, now, here(cid), time.Second))
		check("together", all.report(0, now, here(ann), time.Second), ann, cid)
		check("nobody here", all.report(0, now, here(), time.Second), cid)
		check("before a first round", all.report(0, now, game.Report{Arrivals: []game.Arrival{bob}}, time.Second), bob, cid)
		check("one leaves", all.report(1, now, here(cid), 0))
		check("after it left", all.report(0, now, here(ann), time.Second), ann)
		all.report(1, now, here(cid), time.Second)
		later := now + freshFor.Milliseconds()
		check("after it died", all.report(0, later, here(ann), time.Second), ann)
	})
}

// While instances are replaced one by one, reports of the version before are read too.
func TestReportsWithoutArrivalsAreRead(t *testing.T) {
	t.Parallel()
	eachTeam(t, func(t *testing.T, all team, now int64) {
		before := strconv.FormatInt(now, 10) + " 7 100 a"
		if err := all[0].redis.HSet(t.Context(), reportsKey("ROOM"), "before", before).Err(); err != nil {
			t.Fatal(err)
		}
		got := all.report(0, now, game.Report{Round: "a", Online: 1, Taps: 1}, time.Second)
		if got.Online != 8 || got.Taps != 101 || len(got.Arrivals) != 0 {
			t.Errorf("got %+v", got)
		}
	})
}
