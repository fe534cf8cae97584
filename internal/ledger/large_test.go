package ledger_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"redrain/internal/ledger"
)

// size is how large the books are that plans are checked on.
type size struct {
	rooms int
	drops int // claims of each of the room's players in largeRound, which is far larger than the other rounds
}

// serverSize has 100,000 rounds and 100,000 players, 400,000 claims, 200,000 movements beside them, and 200,000 accounts.
var serverSize = size{rooms: 200, drops: 200}

const (
	mostRooms   = 200 // by which books are numbered
	roundsEach  = 500 // of a room
	playersEach = 500 // of a room
	claimsEach  = 3   // of a round that was begun
	paidRooms   = 20  // whose first rounds were paid out, claim by claim
	paidRounds  = 250
)

// Rounds of a room by their number. All that is not named here is settled, and one in 50 was cancelled.
const (
	largeRound  = 479 // of room 0
	planRound   = 488 // of rooms 0 and 1: its payouts are not made
	closedRound = 489 // in the first openRooms
	firstDraft  = 490 // planned for long after largeNow, but in dueRoom
	lastRound   = 499 // raining in the first openRooms
	openRooms   = 5
	dueRoom     = 7
)

// Moments in ms since 1970. The rounds of a room are begun roundEvery apart.
const (
	largeStart = 1_700_000_000_000
	roundEvery = 100_000
	largeNow   = largeStart + 1000*roundEvery
	longAfter  = 1_900_000_000_000
)

func largeRoom(room int) string             { return fmt.Sprint("ROOM", 100+room) }
func largeRoundID(room, round int) string   { return largeID("1", room*roundsEach+round) }
func largePlayerID(room, player int) string { return largeID("2", room*playersEach+player) }

// largeID is like a UUID, and in another order than the rows.
func largeID(kind string, number int) string {
	return idBefore(kind) + fmt.Sprint(100_000_000_000+number*48_271%2_147_483_647)
}

func idBefore(kind string) string { return strings.Repeat(kind, 8) + "-0000-4000-8000-" }

// largeNames stand for what the statements of largeBooks have in common: a is the room's number, b that of the round in it, k
// that of a claim or a player, d that of a drop.
func largeNames(s size) *strings.Replacer {
	return strings.NewReplacer(
		"$rounds", fmt.Sprintf("numbers AS b CROSS JOIN numbers AS a WHERE a.n < %d AND b.n < %d", s.rooms, roundsEach),
		"$claims", fmt.Sprintf("numbers AS b CROSS JOIN numbers AS a CROSS JOIN numbers AS k WHERE a.n < %d AND b.n < %d AND k.n BETWEEN 1 AND %d",
			s.rooms, roundsEach, claimsEach),
		"$paid", fmt.Sprintf("numbers AS a CROSS JOIN numbers AS b CROSS JOIN numbers AS k WHERE a.n < %d AND b.n < %d AND k.n BETWEEN 1 AND %d",
			paidRooms, paidRounds, claimsEach),
		"$room", "('ROOM' || (100 + a.n))", "$book", fmt.Sprintf("(b.n * %d + a.n + 1)", mostRooms),
		"$round", fmt.Sprintf("('%s' || (100000000000 + (a.n * %d + b.n) * 48271 %% 2147483647))", idBefore("1"), roundsEach),
		"$player", fmt.Sprintf("('%s' || (100000000000 + (a.n * %d + (b.n * 9 + k.n) %% %[2]d) * 48271 %% 2147483647))", idBefore("2"), playersEach),
		"$begun", fmt.Sprintf("(%d + b.n * %d + a.n)", largeStart, roundEvery), "$sum", fmt.Sprint(100*claimsEach), "$count", fmt.Sprint(claimsEach),
		"$is_draft", fmt.Sprintf("(b.n BETWEEN %d AND %d)", firstDraft, lastRound-1),
		"$is_raining", fmt.Sprintf("(b.n = %d AND a.n < %d)", lastRound, openRooms),
		"$is_closed", fmt.Sprintf("(b.n = %d AND a.n < %d)", closedRound, openRooms),
		"$is_large", fmt.Sprintf("(b.n = %d AND a.n = 0)", largeRound),
		"$is_unmade", fmt.Sprintf("(b.n = %d AND a.n < 2)", planRound),
		"$starts_on", fmt.Sprintf("CASE WHEN b.n = %d AND a.n = %d THEN 1 WHEN b.n = %[1]d THEN %[3]d WHEN b.n < %[1]d AND b.n %% 2 = 1 THEN 1 ELSE 0 END",
			firstDraft, dueRoom, longAfter),
		"$drops", fmt.Sprint(s.drops),
	)
}

// largeBooks fill the tables from numbers, which are those from 0 to 999.
var largeBooks = []string{
	`INSERT INTO rooms (code, name, active_round, locked, app_only, created_at)
		SELECT $room, 'room', CASE WHEN $is_raining THEN $round END, FALSE, FALSE, $begun FROM $rounds AND b.n = 499`,
	`INSERT INTO players (id, room, nickname, joined_at, blocked, subject)
		SELECT $player, $room, 'player ' || k.n, 1700000000000 + k.n, k.n % 100 = 99, CASE WHEN k.n % 2 = 1 THEN 'staff-' || k.n END
		FROM numbers AS k CROSS JOIN $rounds AND b.n = 0 AND k.n < 500`,
	`INSERT INTO rounds (id, room, title, total_cents, packets, split, deal, tiers, pace, cap, min_cents, max_cents, countdown_ms,
			duration_ms, drops_per_second, bomb_percent, close_when_sold_out, rehearsal, phase, reason, frozen, secret, commitment,
			starts_at, ends_at, claimed_packets, claimed_cents, created_at, begun_at, closed_at, place, starts_on)
		SELECT $round, $room, 'round ' || b.n, 100000, 1000, 'live', 'double_mean', 'null', 'even', 3, 1, 0, 3000, 30000, 8, 10, TRUE, FALSE,
			CASE WHEN $is_draft THEN 'draft' WHEN $is_raining THEN 'raining' WHEN $is_closed THEN 'closed' ELSE 'settled' END,
			CASE WHEN $is_draft OR $is_raining THEN '' WHEN b.n % 50 = 48 THEN 'cancelled' ELSE 'time' END, FALSE,
			CASE WHEN $is_draft THEN '' ELSE '0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef' END,
			CASE WHEN $is_draft THEN '' ELSE '0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef' END,
			CASE WHEN $is_draft THEN 0 ELSE $begun END, CASE WHEN $is_draft THEN 0 ELSE $begun + 30000 END, 0, 0, $begun,
			CASE WHEN $is_draft THEN 0 ELSE $begun END, CASE WHEN $is_draft OR $is_raining THEN 0 ELSE $begun + 30000 END, b.n, $starts_on
		FROM $rounds ORDER BY b.n, a.n`,
	`INSERT INTO round_books (book, round, claims, claimed_cents, highest, excused, accepted_claims, accepted_cents, released_at, retired)
		SELECT $book, $round, $count, $sum, $count, 0, 0, 0, 0, NOT ($is_raining OR $is_closed OR (b.n = 499 AND a.n < 20))
		FROM $rounds AND NOT $is_draft ORDER BY 1`,
	`INSERT INTO refunds (round, reason, closed_at, claims, claimed_cents, refund_cents, applied_at)
		SELECT $round, 'time', $begun, $count, $sum, 100000 - $sum, CASE WHEN $is_closed THEN 0 ELSE $begun END
		FROM $rounds AND NOT $is_draft AND NOT $is_raining`,
	`INSERT INTO claims (book, number, player, drop_id, cents, claimed_at)
		SELECT $book, k.n, $player, k.n, 100, $begun FROM $claims AND NOT $is_draft AND NOT $is_large ORDER BY 1, 2`,
	`INSERT INTO claims (book, number, player, drop_id, cents, claimed_at)
		SELECT $book, d.n * 500 + k.n + 1, $player, d.n, 1, $begun FROM numbers AS d CROSS JOIN numbers AS k CROSS JOIN $rounds
		AND $is_large AND d.n < $drops AND k.n < 500 ORDER BY 1, 2`,
	`INSERT INTO accounts (id, kind, owner, balance) SELECT 'host:' || code, 'host', code, 0 FROM rooms`,
	`INSERT INTO accounts (id, kind, owner, balance) SELECT 'escrow:' || round, 'escrow', round, 0 FROM round_books`,
	`INSERT INTO accounts (id, kind, owner, balance) SELECT 'player:' || id, 'player', id, 0 FROM players`,
	`INSERT INTO movements (round, kind, number, from_account, to_account, cents, moved_at)
		SELECT $round, 'escrow', 0, 'host:' || $room, 'escrow:' || $round, 100000, $begun FROM $rounds AND NOT $is_draft`,
	`INSERT INTO movements (round, kind, number, from_account, to_account, cents, moved_at)
		SELECT $round, 'refund', 0, 'escrow:' || $round, 'host:' || $room, 100000 - $sum, $begun + 250000
		FROM $rounds AND NOT $is_draft AND NOT $is_raining AND NOT $is_closed`,
	`INSERT INTO movements (round, kind, number, from_account, to_account, cents, moved_at)
		SELECT $round, 'payout', k.n, 'player:' || $player, 'paid_out:' || $room, 100, $begun + 30000 FROM $paid`,
	`INSERT INTO payout_plans (round, size, planned, last_number, planned_at, made)
		SELECT $round, 1, CASE WHEN $is_unmade THEN 0 ELSE $count END, $count, $begun, NOT $is_unmade
		FROM $rounds AND NOT $is_draft AND NOT $is_raining AND NOT $is_closed`,
	`INSERT INTO payouts (round, number, last_number, claims, cents, state, holder, attempts, made_at, tried_at, due_at, paid_at, problem)
		SELECT $round, k.n, k.n, 1, 100, CASE WHEN b.n < 240 THEN 'paid' WHEN k.n = 2 THEN 'failed' ELSE 'pending' END, '', 1,
			$begun, $begun, $begun, $begun, '' FROM $paid`,
	`INSERT INTO quarantine (round, number, player, drop_id, cents, claimed_at, reason, noted_at, driven_at)
		SELECT $round, k.n, $player, k.n, 100, $begun, 'beyond', $begun, 0 FROM $paid`,
	`INSERT INTO dead_letters (round, entry, raw, reason, noted_at, driven_at)
		SELECT $round, k.n || '-0', '{}', 'no claims', $begun, 0 FROM $paid`,
	`INSERT INTO rehearsals (round, room, players, rate, state, report, problem, begun_at)
		SELECT $round, $room, 10, 1, 'done', '{}', '', $begun FROM $rounds AND b.n < 50`,
}

// fillLarge makes the books by statements that are the same for all databases: those of the MySQL family are told to take ||
// for what it is elsewhere.
func fillLarge(t *testing.T, l *ledger.Ledger, kind string) {
	t.Helper()
	names := largeNames(serverSize)
	if kind == "sqlite" {
		names = largeNames(sqliteSize)
	}
	conn, err := ledger.Pools(l)["write"].Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if kind == "mariadb" {
		mustExec(t, conn, "SET SESSION sql_mode = 'STRICT_ALL_TABLES,PIPES_AS_CONCAT', unique_checks = 0, foreign_key_checks = 0")
		defer mustExec(t, conn, "SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', unique_checks = 1, foreign_key_checks = 1")
	}
	mustExec(t, conn, "CREATE TABLE numbers (n BIGINT NOT NULL PRIMARY KEY)")
	mustExec(t, conn, "INSERT INTO numbers WITH RECURSIVE s (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM s WHERE n < 999) SELECT n FROM s")
	for _, statement := range largeBooks {
		mustExec(t, conn, names.Replace(statement))
	}
	mustExec(t, conn, "DROP TABLE numbers")
}

func mustExec(t *testing.T, conn *sql.Conn, statement string) {
	t.Helper()
	if _, err := conn.ExecContext(context.WithoutCancel(t.Context()), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}
