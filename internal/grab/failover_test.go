package grab

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"redrain/internal/game"
	"redrain/internal/rdb"
	"redrain/internal/testkit"
)

// takeover bounds how long the cluster itself needs at a node timeout of a second; three seconds or four are usual.
const takeover = 20 * time.Second

// steadily submits a tap of another player every two milliseconds, until it is stopped.
func steadily(t *testing.T, c *Committer, round game.Round) (stop func() []*answerRecorder) {
	done, stopped := make(chan struct{}), make(chan []*answerRecorder)
	go func() {
		ticker := time.NewTicker(2 * time.Millisecond)
		defer ticker.Stop()
		var ears []*answerRecorder
		for {
			select {
			case <-done:
				stopped <- ears
				return
			case <-ticker.C:
				e := &answerRecorder{tap: tapOf(len(ears), 1)}
				if !c.Submit(room, round.ID, e.tap, e) {
					t.Errorf("%v was refused", e.tap)
				}
				ears = append(ears, e)
			}
		}
	}()
	return func() []*answerRecorder {
		close(done)
		return <-stopped
	}
}

// A master dies in the middle of its round. go-redis asked the dead node until it reloaded its map of the cluster, up to a minute
// later; now the round is played on within a second after the replica took over.
func TestARoundIsPlayedOnASecondAfterAFailover(t *testing.T) {
	t.Run("killed", func(t *testing.T) { failOver(t, (*testkit.RedisServer).Kill, time.Second) })
	// A call that waits for the master that hangs goes on to do so for a second at most.
	t.Run("hanging", func(t *testing.T) { failOver(t, (*testkit.RedisServer).Freeze, tryFor+time.Second) })
}

func failOver(t *testing.T, end func(*testkit.RedisServer), within time.Duration) {
	cluster := testkit.NewRedisCluster(t, 3)
	client, err := rdb.Dial(t.Context(), cluster.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Disconnect() })
	settings := game.DefaultSettings()
	settings.Total, settings.Packets, settings.Pace, settings.Countdown = 10_000_000, 100_000, game.PaceBurst, 0
	settings.Duration = 120_000
	round := game.Round{ID: uuid.NewString(), Room: room, Settings: settings, Secret: game.NewSecret()}
	if _, err := client.Open(t.Context(), round, nil); err != nil {
		t.Fatal(err)
	}
	c := New(client, Options{})
	stop := steadily(t, c, round)
	testkit.Eventually(t, takeover, func() error { return hasClaims(t, client, round, 200) })

	owner := cluster.Owner("{" + round.ID + "}")
	killed := time.Now()
	end(cluster.Masters[owner])
	tookOver := cluster.AwaitMaster(cluster.Replicas[owner], takeover)
	testkit.Eventually(t, takeover, func() error { return hasClaims(t, client, round, 1000) })
	ears := stop()
	closeCommitter(t, c)
	checkFailover(t, client, round, ears, killed, tookOver, within)
}

func hasClaims(t *testing.T, client *rdb.Client, round game.Round, want int) error {
	standing, err := client.Standing(t.Context(), round.ID)
	if got := round.Settings.Packets - standing.Left.Packets; err == nil && got < want {
		err = fmt.Errorf("%d claims, want %d", got, want)
	}
	return err
}

// checkFailover holds what was told against the new master: at most what was told in the last moment before the old one died
// is lost, and nobody was told of a first tap that it was one before.
func checkFailover(t *testing.T, client *rdb.Client, round game.Round, ears []*answerRecorder, killed, tookOver time.Time, within time.Duration) {
	t.Helper()
	claims, err := client.Claims(t.Context(), round.ID, 0, len(ears))
	if err != nil {
		t.Fatal(err)
	}
	granted := make(map[game.Tap]int)
	for _, claim := range claims {
		granted[game.Tap{Player: claim.Player, Drop: claim.Drop}]++
	}
	outcomes := make(map[game.Outcome]int)
	lost, first := 0, time.Time{}
	for _, e := range ears {
		answer, err := e.once()
		if err != nil {
			t.Fatal(err)
		}
		outcomes[answer.Outcome]++
		if answer.Outcome != game.Won {
			continue
		}
		if e.at.After(killed.Add(time.Second)) && (first.IsZero() || e.at.Before(first)) {
			first = e.at
		}
		if granted[e.tap] == 0 {
			lost++
			if killed.Sub(e.at) > 500*time.Millisecond || e.at.After(killed.Add(time.Second)) {
				t.Errorf("%v was told of claim %d %v after the master died, and has none", e.tap, answer.Number, e.at.Sub(killed))
			}
		}
	}
	for tap, n := range granted {
		if n != 1 {
			t.Errorf("%v has %d claims", tap, n)
		}
	}
	if outcomes[game.Won]+outcomes[game.Busy] != len(ears) {
		t.Errorf("outcomes %v, want won and busy alone", outcomes)
	}
	t.Logf("%d taps: %v, %d claims, %d told and lost; took over after %v, first win %v later", len(ears), outcomes, len(claims),
		lost, tookOver.Sub(killed), first.Sub(tookOver))
	if late := first.Sub(tookOver); late > within {
		t.Errorf("the first win came %v after the replica had taken over", late)
	}
}
