package ledger_test

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"redrain/internal/game"
	"redrain/internal/ledger"
)

// asker asks a ledger one of the questions.
type asker struct {
	context.Context
	*ledger.Ledger
}

// question is what timers ask, or anybody, or hosts' pages. Each of its statements reads most rows at most; what is not bounded
// by a limit of its own is bounded by one room, or by the claims of one round.
type question struct {
	name string
	most int
	ask  func(asker) error
}

func only[T any](_ T, err error) error { return err }

var questions = []question{
	// settlers, keepers and senders of payouts, all the time
	{"UnsettledRounds", 110, func(a asker) error { return only(a.UnsettledRounds(a)) }},
	{"OpenRounds", 20, func(a asker) error { return only(a.OpenRounds(a)) }},
	{"DueRounds", 5, func(a asker) error { return only(a.DueRounds(a, largeNow)) }},
	{"MakePayouts", 5, func(a asker) error { return only(a.MakePayouts(a)) }},
	{"LeasePayouts", 100, func(a asker) error { return only(a.LeasePayouts(a, 32, time.Minute)) }},
	{"Account", 5, func(a asker) error { return only(a.Account(a, largeRoundID(0, 3))) }},
	{"SumClaims", 10, func(a asker) error { return only(a.SumClaims(a, largeRoundID(4, 4), 0, math.MaxInt32)) }},
	{"SumClaims of a part", 110, func(a asker) error { return only(a.SumClaims(a, largeRoundID(0, largeRound), 5000, 5100)) }},
	// open rooms, all the time
	{"Blocked", 10, func(a asker) error { return only(a.Blocked(a, largeRoom(3))) }},
	{"LastRound", 5, func(a asker) error { return only(a.LastRound(a, largeRoom(12))) }},
	{"LastRound of an open room", 5, func(a asker) error { return only(a.LastRound(a, largeRoom(3))) }},
	{"Nicknames", 110, func(a asker) error { return only(a.Nicknames(a, somePlayers(1000))) }},
	// anybody
	{"PlayedRounds", 60, func(a asker) error { return only(a.PlayedRounds(a, largeRoom(3), 50)) }},
	{"NextPlanned", 5, func(a asker) error { return only(a.NextPlanned(a, largeRoom(3))) }},
	{"PlayerOfSubject", 5, func(a asker) error { return only(a.PlayerOfSubject(a, largeRoom(3), "staff-7")) }},
	// players
	{"PlayedBy", 1000, func(a asker) error { return only(a.PlayedBy(a, largePlayerID(0, 7), 20)) }},
	{"ClaimsOf", 500, func(a asker) error { return only(a.ClaimsOf(a, largeRoundID(0, largeRound), somePlayers(1)...)) }},
	{"ClaimsOf many", 110, func(a asker) error { return only(a.ClaimsOf(a, largeRoundID(0, 3), somePlayers(500)...)) }},
	{"FinalRanks", 30, func(a asker) error { return only(a.FinalRanks(a, largeRoundID(4, 4))) }},
	{"FinalRanks of the large round", 210_000, func(a asker) error { return only(a.FinalRanks(a, largeRoundID(0, largeRound))) }},
	{"Balance", 5, func(a asker) error { return only(a.Balance(a, largePlayerID(0, 7))) }},
	// hosts: 50 rooms are a quarter of all
	{"RoomSummaries", 26_000, func(a asker) error { return only(a.RoomSummaries(a, "", 50)) }},
	{"RoomSummaries of the next rooms", 26_000, func(a asker) error { return only(a.RoomSummaries(a, largeRoom(15), 50)) }},
	{"Drafts", 30, func(a asker) error { return only(a.Drafts(a, largeRoom(3), 100)) }},
	{"BegunRounds", 110, func(a asker) error { return only(a.BegunRounds(a, largeRoom(3), largeRoundID(3, 300), 100)) }},
	{"RoomBooks", 500, func(a asker) error { return only(a.RoomBooks(a, largeRoom(3), "", 100)) }},
	{"RoomSum", 5 * roundsEach, func(a asker) error { return only(a.RoomSum(a, largeRoom(3))) }},
	{"Statement", 2000, askStatement},
	{"HostBalance", 5, func(a asker) error { return only(a.HostBalance(a, largeRoom(3))) }},
	{"Escrow", 5, func(a asker) error { return only(a.Escrow(a, game.Round{ID: largeRoundID(3, 3)})) }},
	{"Moved", 5, func(a asker) error { return only(a.Moved(a, largeRoundID(3, 3))) }},
	{"Claims", 1100, func(a asker) error { return only(a.Claims(a, largeRoundID(0, largeRound), 500, 1000)) }},
	{"BookedClaims", 2100, func(a asker) error { return only(a.BookedClaims(a, largeRoundID(0, largeRound), 500, 1000)) }},
	{"Payouts", 10, func(a asker) error { return only(a.Payouts(a, largeRoundID(3, 3), 0, 50)) }},
	{"PayoutSums", 20, func(a asker) error { return only(a.PayoutSums(a, largeRoundID(3, 3))) }},
	{"Rehearsals", 20, func(a asker) error { return only(a.Rehearsals(a, largeRoom(3), 10)) }},
}

// askStatement also looks at the order of lines that come by several pages of rounds.
func askStatement(a asker) error {
	var all []game.StatementLine
	err := a.Statement(a, largeRoom(3), func(lines []game.StatementLine) error {
		all = append(all, lines...)
		return nil
	})
	inOrder := slices.IsSortedFunc(all, func(x, y game.StatementLine) int { return cmp.Compare(x.At, y.At) })
	const begun = roundsEach - (lastRound - firstDraft)
	if want := 2*begun - 2; err == nil && (len(all) != want || !inOrder) { // two rounds are not refunded yet
		err = fmt.Errorf("%d lines of %d, in order: %v", len(all), want, inOrder)
	}
	return err
}

func somePlayers(count int) []string {
	ids := make([]string, count)
	for i := range ids {
		ids[i] = largePlayerID(0, i)
	}
	return ids
}

// The books were read as a whole again and again: twice a second by each settler, every second by each instance, and for
// whoever opened a page of a room. Each question reads a bounded part of them by an index, however many rounds there were.
func TestNoQueryReadsWholeTables(t *testing.T) {
	for kind, newDatabase := range databases {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			l := openLedger(t, newDatabase(t), ledger.WithPayouts(1), ledger.WithClock(func() time.Time { return time.UnixMilli(largeNow) }))
			began := time.Now()
			fillLarge(t, l, kind)
			t.Logf("filled in %v", time.Since(began).Round(time.Millisecond))
			p := &planned{kind: kind, ledger: l}
			ledger.Watch(l, &p.sent)
			if kind == "sqlite" { // which nobody analyzes usually
				p.askAll(t)
			}
			p.analyze(t)
			p.askAll(t)
		})
	}
}

// planned checks how a database carries out what a ledger sends.
type planned struct {
	kind   string
	ledger *ledger.Ledger
	sent   sent
}

// analyze does what PostgreSQL and MySQL do by themselves after a while.
func (p *planned) analyze(t *testing.T) {
	t.Helper()
	began := time.Now()
	for _, statement := range map[string][]string{
		"sqlite": {"ANALYZE"}, "postgres": {"ANALYZE", "VACUUM rounds", "VACUUM players"},
		"mariadb": {"ANALYZE TABLE rooms, players, rounds, round_books, refunds, claims, accounts, movements, payout_plans, payouts"},
	}[p.kind] {
		if _, err := ledger.Pools(p.ledger)["write"].ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("analyzed in %v", time.Since(began).Round(time.Millisecond))
}

func (p *planned) askAll(t *testing.T) {
	t.Helper()
	conn, err := ledger.Pools(p.ledger)["read"].Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, q := range questions {
		p.sent.take()
		took := p.ask(t, q)
		read := 0
		for _, statement := range distinct(p.sent.take()) {
			read = max(read, p.check(t, conn, q, statement))
		}
		t.Logf("%-30s %10v, at most %d rows a statement", q.name, took, read)
	}
}

// ask returns the best of some times that a question took.
func (p *planned) ask(t *testing.T, q question) time.Duration {
	t.Helper()
	best := time.Duration(math.MaxInt64)
	for range 3 {
		began := time.Now()
		if err := q.ask(asker{t.Context(), p.ledger}); err != nil {
			t.Errorf("%s: %v", q.name, err)
		}
		best = min(best, time.Since(began))
	}
	return best.Round(10 * time.Microsecond)
}

func (p *planned) check(t *testing.T, conn *sql.Conn, q question, statement string) (read int) {
	t.Helper()
	for _, scan := range explainers[p.kind].scans(t, conn, statement) {
		t.Errorf("%s: %s\n%.400s", q.name, scan, statement)
	}
	if strings.HasPrefix(statement, "SELECT") {
		read = explainers[p.kind].read(t, conn, statement)
	}
	if read > q.most {
		t.Errorf("%s reads %d rows, want at most %d\n%.400s", q.name, read, q.most, statement)
	}
	return read
}

// distinct leaves out statements that differ by what they look for alone, as far as their beginning shows.
func distinct(statements []string) (once []string) {
	for _, statement := range statements {
		if !slices.Contains(once, statement) && len(once) < 20 {
			once = append(once, statement)
		}
	}
	return once
}
