package main

import (
	"bytes"
	"database/sql"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"

	"redrain/internal/testkit"
	"redrain/internal/wire"
)

// checkRoundEnd waits for the end of a round everywhere, and adds up.
func (e *eventPages) checkRoundEnd(round wire.Round, reason string) {
	e.t.Helper()
	for _, s := range e.playersAndScreen() {
		s.awaitPhase("closed")
		s.await(fmt.Sprintf("document.querySelector('%s')?.dataset.reason === %q", byTestName("reason"), reason))
	}
	booked := e.claims(round)
	anns, bobs := e.ann.numbers("claim", "cents"), e.bob.numbers("claim", "cents")
	if tab := e.annsTab.numbers("claim", "cents"); !slices.Equal(slices.Sorted(slices.Values(anns)), slices.Sorted(slices.Values(tab))) {
		e.t.Errorf("Ann's two tabs show the claims %v and %v", anns, tab)
	}
	if sum(anns) != e.ann.number("sum", "cents") || sum(bobs) != e.bob.number("sum", "cents") {
		e.t.Errorf("the phones show %v = %d and %v = %d", anns, e.ann.number("sum", "cents"), bobs, e.bob.number("sum", "cents"))
	}
	if seen := slices.Sorted(slices.Values(slices.Concat(anns, bobs))); !slices.Equal(seen, slices.Sorted(slices.Values(booked))) {
		e.t.Errorf("the phones show %v, the claims are %v", seen, booked)
	}
	if reason == "sold_out" && len(booked) != round.Packets {
		e.t.Errorf("sold out after %d packets of %d", len(booked), round.Packets)
	}
	e.checkSumsOnScreenAndHostPages(round, booked)
	audit(e.t, e.books, round.ID, nil)
	e.checkDatabase(round, booked)
}

func (e *eventPages) checkSumsOnScreenAndHostPages(round wire.Round, booked []int64) {
	e.t.Helper()
	e.screen.await(fmt.Sprintf("document.querySelector('%s').dataset.cents === '%d'", byTestName("claimed-cents"), sum(booked)))
	for _, window := range []*browserPage{e.host, e.hostAgain} {
		e.openRound(window, round)
		window.await(fmt.Sprintf("document.querySelector('%s')?.dataset.cents === '%d'", inRound(round.ID, "claimed-cents"), sum(booked)))
		window.await(fmt.Sprintf("document.querySelector('%s').dataset.cents === '%d'", inRound(round.ID, "left-cents"), int64(round.Total)-sum(booked)))
		window.await(fmt.Sprintf("[...document.querySelectorAll('%s')].map((one) => one.dataset.cents).join() === %q", inRound(round.ID, "claim-row"), joinNumbers(booked)))
	}
}

// openRound shows a round's claims and books in one of the host's windows, if they are not shown yet.
func (e *eventPages) openRound(window *browserPage, round wire.Round) {
	e.t.Helper()
	window.await(fmt.Sprintf("document.querySelector('%s[data-phase=\"closed\"], %[1]s[data-phase=\"settled\"]')", fmt.Sprintf("[data-round=%q]", round.ID)))
	if !evaluate[bool](window, fmt.Sprintf("document.querySelector('%s') !== null", inRound(round.ID, "books"))) {
		window.clickOn(inRound(round.ID, "show-claims"))
	}
	window.await(fmt.Sprintf("document.querySelector('%s')", inRound(round.ID, "books")))
}

// claims are the amounts of a round's claims in cents, in the order in which they were made.
func (e *eventPages) claims(round wire.Round) []int64 {
	e.t.Helper()
	claims, err := e.books.Claims(e.t.Context(), round.ID)
	if err != nil {
		e.t.Fatal(err)
	}
	amounts := make([]int64, len(claims))
	for i, claim := range claims {
		amounts[i] = int64(claim.Cents)
	}
	return amounts
}

// checkDatabase finds the claims where they are kept in the end.
func (e *eventPages) checkDatabase(round wire.Round, booked []int64) {
	e.t.Helper()
	books, err := sql.Open("sqlite", "file:"+e.database+"?mode=ro")
	if err != nil {
		e.t.Fatal(err)
	}
	defer books.Close()
	var total, packets, cents int64
	row := books.QueryRowContext(e.t.Context(), "SELECT total_cents, claimed_packets, claimed_cents FROM rounds WHERE id = ?", round.ID)
	if err := row.Scan(&total, &packets, &cents); err != nil {
		e.t.Fatal(err)
	}
	if total != int64(round.Total) || packets != int64(len(booked)) || cents != sum(booked) {
		e.t.Errorf("the database has %d packets of %d cents of %d, the pages show %d of %d of %d", packets, cents, total, len(booked), sum(booked), round.Total)
	}
}

// export downloads the claims of each round, and the rounds themselves.
func (e *eventPages) export() {
	e.t.Helper()
	for _, round := range e.rounds {
		file := e.host.download(inRound(round.ID, "csv"))
		if exported, booked := centsInFile(e.t, file), e.claims(round); !slices.Equal(exported, booked) {
			e.t.Errorf("the file has the claims %v = %d, the books %v = %d", exported, sum(exported), booked, sum(booked))
		}
	}
	var exported struct{ Rounds []wire.Round }
	if err := json.Unmarshal(e.host.download(byTestName("export")), &exported); err != nil {
		e.t.Fatal(err)
	}
	if len(exported.Rounds) != len(e.rounds) {
		e.t.Fatalf("%d rounds were exported, want %d", len(exported.Rounds), len(e.rounds))
	}
	for i, got := range exported.Rounds {
		want := e.rounds[i]
		if got.Title != want.Title || got.Total != want.Total || got.Packets != want.Packets || got.Cap != want.Cap || got.Duration != want.Duration {
			e.t.Errorf("round %d was exported as %+v, want %+v", i+1, got, want)
		}
	}
}

// centsInFile are the amounts of a file of claims. It begins with a byte order mark, for spreadsheets.
func centsInFile(t *testing.T, file []byte) []int64 {
	t.Helper()
	rows, err := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(file, []byte("\ufeff")))).ReadAll()
	if err != nil || len(rows) == 0 {
		t.Fatalf("the file does not read: %v\n%s", err, file)
	}
	column := slices.Index(rows[0], "cents")
	var amounts []int64
	for _, row := range rows[1:] {
		cents, err := strconv.ParseInt(row[column], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		amounts = append(amounts, cents)
	}
	return amounts
}

// download clicks a link and reads the file that the browser keeps of it.
func (s *browserPage) download(selector string) []byte {
	s.t.Helper()
	folder := s.t.TempDir()
	if _, err := chromedp.CallBrowser(s.ctx, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
		Behavior: browser.SetDownloadBehaviorBehaviorAllow, BrowserContextID: chromedp.FromContext(s.ctx).BrowserContextID, DownloadPath: folder,
	}); err != nil {
		s.t.Fatal(err)
	}
	s.clickOn(selector)
	var content []byte
	testkit.Eventually(s.t, soon, func() error {
		files, err := os.ReadDir(folder)
		if err != nil {
			return err
		}
		if len(files) != 1 || strings.HasSuffix(files[0].Name(), ".crdownload") {
			return fmt.Errorf("the folder of downloads has %v", files)
		}
		content, err = os.ReadFile(filepath.Join(folder, files[0].Name()))
		return err
	})
	return content
}

// checkBooksOfAllRounds checks every round's books, on the page and over the API, and then the sums of all rounds.
func (e *eventPages) checkBooksOfAllRounds() {
	e.t.Helper()
	var budgets, claimed, refunded int64
	for _, round := range e.rounds {
		e.openRound(e.host, round)
		e.host.await(fmt.Sprintf("document.querySelector('%s[data-agrees=\"true\"] .books-right')", inRound(round.ID, "books")))
		e.host.await(fmt.Sprintf("document.querySelector('%s').dataset.cents === '0'", inRound(round.ID, "books-held")))
		books, err := e.books.Reconciliation(e.t.Context(), round.ID)
		if err != nil {
			e.t.Fatal(err)
		}
		var shown [3]int64
		for i, name := range []string{"books-budget", "books-claimed", "books-refunded"} {
			shown[i] = e.host.numberOn(inRound(round.ID, name), "cents")
		}
		if want := [3]int64{int64(round.Total), sum(e.claims(round)), int64(books.Ledger.RefundedCents)}; shown != want || shown[0] != shown[1]+shown[2] {
			e.t.Errorf("the page's books of %q say budget, claimed and refunded are %v, want %v", round.Title, shown, want)
		}
		budgets, claimed, refunded = budgets+shown[0], claimed+shown[1], refunded+shown[2]
	}
	e.checkLookAndAccess(e.host, "host-results")
	e.host.click("tab-books")
	e.host.await("document.querySelectorAll('" + byTestName("sum-row") + "').length === 3")
	for name, want := range map[string]int64{"sum-claimed_cents": claimed, "sum-refunded_cents": refunded, "sum-budget_cents": budgets, "balance": -claimed} {
		if got := e.host.numbers(name, "cents"); got[len(got)-1] != want {
			e.t.Errorf("%s is %v, want %d at the end", name, got, want)
		}
	}
	e.checkLookAndAccess(e.host, "host-books")
}

func sum(amounts []int64) int64 {
	var total int64
	for _, amount := range amounts {
		total += amount
	}
	return total
}
