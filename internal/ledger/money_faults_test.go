package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"redrain/internal/game"
	"redrain/internal/ledger"
)

// The database itself refuses what must never be, whoever asks.
func TestTheDatabaseRefusesOverdraftsAndRewrites(t *testing.T) {
	for name, newDatabase := range databases {
		t.Run(name, func(t *testing.T) {
			l := openLedger(t, newDatabase(t))
			round := begunRound(t, l, 10, 1000)
			book(t, l, round, batch("1-0", claim(1, "ann", 100)))
			refused := []string{
				"UPDATE accounts SET balance = -1 WHERE kind = 'escrow'",
				"UPDATE accounts SET balance = -1 WHERE kind = 'player'",
				"INSERT INTO movements SELECT * FROM movements",
				"INSERT INTO claims SELECT book, 2, player, drop_id, cents, claimed_at FROM claims",
			}
			if name != "mariadb" { // see its migration
				refused = append(refused, "UPDATE movements SET cents = 1", "DELETE FROM movements", "UPDATE claims SET cents = 1", "DELETE FROM claims")
			}
			for _, statement := range refused {
				if _, err := ledger.Pools(l)["write"].ExecContext(t.Context(), statement); err == nil {
					t.Errorf("taken: %s", statement)
				}
			}
			if _, err := ledger.Pools(l)["write"].ExecContext(t.Context(), "UPDATE accounts SET balance = -9999 WHERE kind = 'host'"); err != nil {
				t.Errorf("a host cannot owe: %v", err)
			}
		})
	}
}

// Movements and claims are written and read, never changed: no code of this package could.
func TestNoCodeChangesMovementsOrClaims(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	change := regexp.MustCompile(`New(Update|Delete)\(\)\.Model\((\(\*|&)?(movementRow|claimRow)|(UPDATE|DELETE FROM|update|delete from) (movements|claims)\b`)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if found := change.Find(text); found != nil {
			t.Errorf("%s has %s", file, found)
		}
	}
}

// An entry that does not parse is kept, once, and can be replayed.
func TestDeadLettersAreKeptAndReplayed(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l := open()
		round := begunRound(t, l, 10, 1000)
		poison := game.Entry{ID: "1-0", Raw: `{"kind":"红包 'x' \\"}`, Fault: `it is of kind "红包"`}
		for range 2 {
			if got := book(t, l, round, poison, batch("2-0", claim(2, "bob", 50))); got.Alarm != "" {
				t.Errorf("alarm: %s", got.Alarm)
			}
		}
		letters := must[[]game.DeadLetter](t)(l.DeadLetters(t.Context(), round.ID))
		if len(letters) != 1 || letters[0] != (game.DeadLetter{Entry: "1-0", Raw: poison.Raw, Reason: poison.Fault}) {
			t.Errorf("dead letters are %+v", letters)
		}
		for want := 1; want >= 0; want-- {
			got := must[game.Booked](t)(l.ReplayDeadLetter(t.Context(), round.ID, batch("1-0", claim(1, "ann", 100))))
			if got.Claims != want {
				t.Errorf("replayed %+v", got)
			}
		}
		if got := account(t, l, round); got.DeadLetters != 0 || got.Booked.Packets != 2 {
			t.Errorf("the account is %+v", got)
		}
		wantDoubleEntry(t, l)
	})
}

// After a failover Redis granted numbers 2 and 3 anew. The first holders keep theirs; a host who looked accepts that, has the
// second ones paid too, and gets what is left.
func TestAcceptedDifferencesSettle(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l := open()
		round := begunRound(t, l, 10, 1000)
		book(t, l, round, batch("1-0", claim(1, "ann", 100), claim(2, "bob", 50), claim(3, "cat", 40)))
		anew := []game.Claim{claim(2, "dan", 500), {Player: "eve", Drop: 9, Cents: 20, Number: 3}}
		if got := book(t, l, round, batch("2-0", anew...), closing(3, 620, 380)); got.Alarm == "" || got.Quarantined != 2 {
			t.Errorf("booked %+v", got)
		}
		mark := &game.Watermark{Phase: game.Closed, Claimed: game.Total{Packets: 3, Cents: 620}, Refunded: 380}
		must[game.Round](t)(l.NoteReleased(t.Context(), round.ID, mark))
		if replayed := must[int](t)(l.ReplayQuarantine(t.Context(), round.ID)); replayed != 2 {
			t.Errorf("%d were replayed", replayed)
		}
		got := account(t, l, round)
		if got.Accepted != (game.Total{Packets: 2, Cents: 90}) || got.Booked != (game.Total{Packets: 5, Cents: 710}) || got.LossAcceptedUpTo != 3 {
			t.Errorf("the account is %+v", got)
		}
		if step := must[game.RefundStep](t)(l.ApplyRefund(t.Context(), round.ID)); step != game.RefundApplied {
			t.Errorf("the refund is %s", step)
		}
		wantBalances(t, l, round, map[string]int64{
			"host": -710, "player:ann": 100, "player:bob": 50, "player:cat": 40, "player:dan": 500, "player:eve": 20,
		})
	})
}

// Values that a database rejects are told from errors that may pass.
func TestRejectedValuesAreToldFromAnUnreachableDatabase(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l := open()
		round := begunRound(t, l, 10, 1000)
		for _, never := range []game.Claim{
			{Player: "ann", Drop: 1, Cents: -5, Number: 1}, {Player: "ann", Drop: 1, Cents: 5, Number: 0},
			{Player: strings.Repeat("a", 101), Drop: 1, Cents: 5, Number: 1},
		} {
			if _, err := l.Book(t.Context(), round.ID, []game.Entry{batch("1-0", never)}); !errors.Is(err, game.ErrRefused) {
				t.Errorf("%+v: %v", never, err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := l.Book(ctx, round.ID, []game.Entry{batch("1-0", claim(1, "ann", 5))}); err == nil || errors.Is(err, game.ErrRefused) {
			t.Errorf("nobody waited: %v", err)
		}
		if _, err := l.Book(t.Context(), "no round", nil); !errors.Is(err, game.ErrNotFound) {
			t.Errorf("no round: %v", err)
		}
		wantBalances(t, l, round, map[string]int64{"host": -1000, "escrow": 1000})
	})
}

// Many settlers with overlapping batches, on two instances: each claim once, to the cent.
func TestManyBookTheSameAtOnce(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l := []*ledger.Ledger{open(), open()}
		round := begunRound(t, l[0], 200, 20_000)
		var entries []game.Entry
		for n := 1; n <= 200; n += 10 {
			var claims []game.Claim
			for i := n; i < n+10; i++ {
				claims = append(claims, claim(i, fmt.Sprint("player", i%7), game.Cents(i%90+1)))
			}
			entries = append(entries, batch(fmt.Sprint(n, "-0"), claims...))
		}
		runConcurrently(8, func(i int) {
			for from := range entries {
				at := (from*3 + i*5) % len(entries)
				some := entries[at:min(at+4, len(entries))]
				if _, err := l[i%2].Book(t.Context(), round.ID, some); err != nil {
					t.Errorf("settler %d: %v", i, err)
				}
			}
		})
		sum := must[game.Total](t)(l[0].SumClaims(t.Context(), round.ID, 0, 200))
		if got := account(t, l[0], round); got.Booked.Packets != 200 || got.Booked != sum || got.Frozen || got.Quarantined != 0 {
			t.Errorf("the account is %+v, the claims %+v", got, sum)
		}
		wantDoubleEntry(t, l[0])
	})
}

func TestEachDatabaseHasTheSameMigrations(t *testing.T) {
	versions := map[string]string{}
	for _, folder := range []string{"sqlite", "postgres", "mysql"} {
		files, err := filepath.Glob("migrations/" + folder + "/*.sql")
		if err != nil {
			t.Fatal(err)
		}
		for i := range files {
			files[i] = filepath.Base(files[i])
		}
		versions[folder] = strings.Join(files, " ")
	}
	if versions["sqlite"] == "" || versions["postgres"] != versions["sqlite"] || versions["mysql"] != versions["sqlite"] {
		t.Errorf("migrations are %v", versions)
	}
}
