package main

import (
	"database/sql"
	"fmt"
	"testing"

	"redrain/internal/game"
	"redrain/internal/testkit"
	"redrain/internal/wire"
)

// Somebody who was not there checks a round, and once more as if a server of an older release had begun it: each time by the
// round's own algorithm, and the page says which fields that commits to.
func TestAStrangerChecksARoundByItsAlgorithm(t *testing.T) {
	t.Parallel()
	v := newBrowserSite(t)
	room := newRoom(t, v.books)
	round := newRound(t, v.books, room, map[string]any{"total_cents": 900, "packets": 9, "countdown_ms": 0, "duration_ms": 600_000})
	startRound(t, v.books, round.ID)
	if _, err := v.books.Stop(t.Context(), round.ID); err != nil {
		t.Fatal(err)
	}
	said := map[string]bool{}
	for algorithm := game.Algorithm; algorithm >= game.AmountsAlgorithm; algorithm-- {
		for _, language := range []string{"zh-CN", "en-GB"} {
			page := newBrowserPage(t, v.browser, testkit.PhoneScreen, fmt.Sprintf("the stranger, algorithm %d, %s", algorithm, language), v.url, language)
			page.open("/r/" + room + "#check/" + round.ID)
			page.await("document.querySelector('" + byTestName("findings") + "')?.dataset.algorithm === '" + fmt.Sprint(algorithm) + "'")
			if !evaluate[bool](page, "document.querySelector('"+byTestName("findings")+"').dataset.right === 'true'") {
				t.Errorf("%s reads that something does not agree", page.who)
			}
			if covers := page.text("check-covers"); covers == "" || said[covers] {
				t.Errorf("%s reads that the commitment covers %q", page.who, covers)
			} else {
				said[covers] = true
			}
			page.click("check-how")
			page.fits("the check")
			page.accessible("the check")
			page.picture(fmt.Sprintf("player-check-algorithm-%d", algorithm))
		}
		v.makeOlder(t, round.ID)
	}
}

// makeOlder leaves a settled round in the books as if it had been begun with the first algorithm.
func (v *browserSite) makeOlder(t *testing.T, id string) {
	t.Helper()
	settled, err := v.books.Round(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	books, err := sql.Open("sqlite", "file:"+v.database+"?_busy_timeout=10000")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = books.Close() }()
	commitment := game.Commitment(game.AmountsAlgorithm, committed(settled), game.Secret(settled.Secret))
	_, err = books.ExecContext(t.Context(), "UPDATE rounds SET algorithm = ?, commitment = ? WHERE id = ?", game.AmountsAlgorithm, commitment, id)
	if err != nil {
		t.Fatal(err)
	}
}

// committed is of a round what the first algorithm commits to, if it is not dealt in tiers.
func committed(r wire.Round) game.Round {
	return game.Round{ID: r.ID, Settings: game.Settings{
		Total: r.Total, Packets: r.Packets, Min: r.Min, Max: r.Max, Split: r.Split, Deal: r.Deal, Pace: r.Pace, Cap: r.Cap,
	}}
}
