package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"redrain/internal/game"
)

// Payouts are planned in the transaction that settles a round, and not when a claim is booked: money that was paid out cannot be
// taken back, so it has to wait until Redis and the ledger agree about the whole round. Rehearsals have none, nor has a round while
// it is frozen. A payout may be sent several times under one id, and moves money once: with the commit that marks it as paid.

// payoutsPerTransaction bounds the payouts that one transaction creates.
const payoutsPerTransaction = 1000

type payoutPlanRow struct {
	bun.BaseModel `bun:"table:payout_plans"`

	Round     string `bun:"round,pk"`
	Size      int    `bun:"size"`
	Planned   int    `bun:"planned"`
	Last      int    `bun:"last_number"`
	PlannedAt int64  `bun:"planned_at"`
	Made      bool   `bun:"made"`
}

type payoutRow struct {
	bun.BaseModel `bun:"table:payouts"`

	Round    string `bun:"round,pk"`
	Number   int    `bun:"number,pk"`
	Last     int    `bun:"last_number"`
	Claims   int    `bun:"claims"`
	Cents    int64  `bun:"cents"`
	State    string `bun:"state"`
	Holder   string `bun:"holder"`
	Attempts int    `bun:"attempts"`
	MadeAt   int64  `bun:"made_at"`
	TriedAt  int64  `bun:"tried_at"`
	DueAt    int64  `bun:"due_at"`
	PaidAt   int64  `bun:"paid_at"`
	Problem  string `bun:"problem"`
}

func (r *payoutRow) payout(room string) game.Payout {
	return game.Payout{
		Round: r.Round, Room: room, Number: r.Number, Last: r.Last, Total: game.Total{Packets: r.Claims, Cents: game.Cents(r.Cents)},
		State: game.PayoutState(r.State), Attempts: r.Attempts, Problem: r.Problem, Holder: r.Holder, MadeAt: game.Moment(r.MadeAt),
		TriedAt: game.Moment(r.TriedAt), DueAt: game.Moment(r.DueAt), PaidAt: game.Moment(r.PaidAt),
	}
}

// planPayouts stores that the claims of a round are to be paid out; repeated, it changes nothing. MakePayouts then creates the rows.
func (l *Ledger) planPayouts(ctx context.Context, tx bun.Tx, round game.Round) error {
	if l.payouts == 0 || round.Rehearsal || round.Phase != game.Closed {
		return nil
	}
	return l.insertPlan(ctx, tx, round.ID)
}

func (l *Ledger) insertPlan(ctx context.Context, tx bun.Tx, round string) error {
	last, err := lastNumber(ctx, tx, round)
	if err != nil {
		return err
	}
	plan := &payoutPlanRow{Round: round, Size: l.payouts, Last: last, PlannedAt: l.now().UnixMilli(), Made: last == 0}
	_, err = tx.NewInsert().Model(plan).Ignore().Exec(ctx)
	return err
}

// MakePayouts creates the next batch of payouts that are planned and do not exist yet, and returns how many. 0: all of them exist.
func (l *Ledger) MakePayouts(ctx context.Context) (made int, err error) {
	for made == 0 { // another instance may have made this batch, and a range of numbers may have no claims
		plan := new(payoutPlanRow)
		err = l.read.NewSelect().Model(plan).Where("made = ?", false).Order("planned_at", "round").Limit(1).Scan(ctx)
		if errors.Is(err, sql.ErrNoRows) {
			return 0, nil
		}
		if err != nil {
			return 0, wrapError(err, "read plans of payouts")
		}
		err = l.inTx(ctx, func(ctx context.Context, tx bun.Tx) error {
			made, err = l.makePayoutBatch(ctx, tx, plan.Round)
			return err
		})
		if err != nil {
			return 0, wrapError(err, "make payouts of round "+plan.Round)
		}
	}
	return made, nil
}

// makePayoutBatch creates the next payouts of one plan. It locks the row of the plan first, so that each batch is made once.
func (l *Ledger) makePayoutBatch(ctx context.Context, tx bun.Tx, round string) (int, error) {
	plan := new(payoutPlanRow)
	if err := forUpdate(tx.NewSelect().Model(plan).Where("round = ?", round)).Scan(ctx); err != nil || plan.Made {
		return 0, err
	}
	upTo, now := plan.Planned+payoutsPerTransaction*plan.Size, l.now().UnixMilli()
	result, err := tx.NewRaw(`INSERT INTO payouts
		(round, number, last_number, claims, cents, state, holder, attempts, made_at, tried_at, due_at, paid_at, problem)
		SELECT ?2, number - (number - 1) % ?0, MAX(number), COUNT(*), SUM(cents), 'pending', '', 0, ?1, 0, ?1, 0, ''
		FROM claims WHERE book = (?5) AND number > ?3 AND number <= ?4 GROUP BY number - (number - 1) % ?0`,
		plan.Size, now, round, plan.Planned, upTo, selectBook(tx, round)).Exec(ctx)
	if err != nil {
		return 0, err
	}
	made, err := result.RowsAffected()
	if err != nil {
		return 0, err
	}
	err = requireOneRow(tx.NewUpdate().Model(plan).Set("planned = ?", upTo).Set("made = ?", upTo >= plan.Last).WherePK().Where("planned = ?", plan.Planned).Exec(ctx))
	return int(made), err
}

// LeasePayouts leases up to count payouts that are due to the caller alone, and returns them with their claims. The caller has to
// call NotePaid, PostponePayout or FailPayout for each within the lease; otherwise the payout is due again when the lease ends.
func (l *Ledger) LeasePayouts(ctx context.Context, count int, lease time.Duration) ([]game.Payout, error) {
	now := l.now()
	due := func(q bun.QueryBuilder) bun.QueryBuilder {
		return q.Where("state = ?", game.PayoutPending).Where("due_at <= ?", now.UnixMilli())
	}
	var found []payoutRow
	err := l.read.NewSelect().Model(&found).Column("round", "number").ApplyQueryBuilder(due).Order("due_at", "round", "number").
		Limit(int64(count)).Scan(ctx)
	if err != nil || len(found) == 0 {
		return nil, wrapError(err, "read due payouts")
	}
	holder, numbers := uuid.NewString(), make(map[string][]int)
	for i := range found {
		numbers[found[i].Round] = append(numbers[found[i].Round], found[i].Number)
	}
	var leased []game.Payout
	for _, round := range slices.Sorted(maps.Keys(numbers)) {
		// If several instances lease the same rows, only the first one finds them due.
		result, err := l.write.NewUpdate().Model((*payoutRow)(nil)).Set("holder = ?", holder).Set("attempts = attempts + 1").
			Set("tried_at = CASE WHEN tried_at = 0 THEN ? ELSE tried_at END", now.UnixMilli()).
			Set("due_at = ?", now.Add(lease).UnixMilli()).ApplyQueryBuilder(due).
			Where("round = ?", round).Where("number IN (?)", bun.List(numbers[round])).Exec(ctx)
		if err != nil {
			return nil, wrapError(err, "lease payouts")
		}
		if took, err := result.RowsAffected(); err != nil || took == 0 {
			continue
		}
		some, err := l.readLeased(ctx, round, holder, numbers[round])
		if err != nil {
			return nil, wrapError(err, "read leased payouts")
		}
		leased = append(leased, some...)
	}
	return leased, nil
}

// readLeased reads payouts of a round that the holder has leased, with their claims.
func (l *Ledger) readLeased(ctx context.Context, round, holder string, numbers []int) ([]game.Payout, error) {
	of, err := readRound(ctx, l.read, round)
	if err != nil {
		return nil, err
	}
	var rows []payoutRow
	err = l.read.NewSelect().Model(&rows).Where("round = ?", round).Where("number IN (?)", bun.List(numbers)).
		Where("holder = ?", holder).Order("number").Scan(ctx)
	if err != nil {
		return nil, err
	}
	payouts := make([]game.Payout, len(rows))
	for i := range rows {
		payouts[i] = rows[i].payout(of.Room)
		if payouts[i].Claims, err = l.BookedClaims(ctx, round, rows[i].Number-1, rows[i].Claims); err != nil {
			return nil, err
		}
	}
	return payouts, nil
}

// NotePaid marks a payout as paid and moves its claims from their players' accounts to the paid-out account, once; repeated, it
// changes nothing. It also works for a payout that has failed meanwhile, since the receiver has accepted it.
func (l *Ledger) NotePaid(ctx context.Context, payout game.Payout) error {
	err := l.inTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		now := l.now().UnixMilli()
		result, err := tx.NewUpdate().Model((*payoutRow)(nil)).Set("state = ?", game.PayoutPaid).Set("paid_at = ?", now).
			Set("holder = ''").Set("problem = ''").Where("round = ?", payout.Round).Where("number = ?", payout.Number).
			Where("state <> ?", game.PayoutPaid).Exec(ctx)
		if err != nil {
			return err
		}
		if changed, err := result.RowsAffected(); err != nil || changed == 0 {
			return err
		}
		return movePayout(ctx, tx, payout, now)
	})
	return wrapError(err, "note "+payout.ID()+" as paid")
}

// movePayout writes one movement for each claim of a payout, and changes each balance once.
func movePayout(ctx context.Context, tx bun.Tx, payout game.Payout, now int64) error {
	p := roundAccounts{room: payout.Room, round: payout.Round}
	out := p.paidOut()
	var movements []movementRow
	gone := make(map[string]game.Cents)
	for _, claim := range payout.Claims {
		player := p.player(claim.Player).ID
		movements = append(movements, movementRow{
			Round: p.round, Purpose: forPayout, Number: claim.Number, From: player, To: out.ID, Cents: int64(claim.Cents), MovedAt: now,
		})
		gone[player] += claim.Cents
		out.Balance += int64(claim.Cents)
	}
	if out.Balance != int64(payout.Total.Cents) || len(movements) != payout.Total.Packets {
		return fmt.Errorf("its claims are %d of %d cents, and not %+v", len(movements), out.Balance, payout.Total)
	}
	for batch := range slices.Chunk(movements, maxRowsPerInsert) {
		if _, err := tx.NewInsert().Model(&batch).Exec(ctx); err != nil {
			return err
		}
	}
	for _, player := range slices.Sorted(maps.Keys(gone)) { // in the order in which credit locks accounts
		if err := debit(ctx, tx, accountRow{ID: player}, gone[player]); err != nil {
			return err
		}
	}
	return credit(ctx, tx, []accountRow{out}, unpaced)
}

// PostponePayout stores why a leased payout could not be paid, and makes it due again after a delay. It changes nothing if the lease
// of the caller has ended.
func (l *Ledger) PostponePayout(ctx context.Context, payout game.Payout, problem string, delay time.Duration) error {
	return l.noteUnpaid(ctx, payout, game.PayoutPending, problem, delay)
}

// FailPayout marks a leased payout as failed: it is not tried again until the host resends it. It changes nothing if the lease of the
// caller has ended.
func (l *Ledger) FailPayout(ctx context.Context, payout game.Payout, problem string) error {
	return l.noteUnpaid(ctx, payout, game.PayoutFailed, problem, 0)
}

// maxPayoutProblem bounds what is kept of a problem, in bytes; a fourth of the column's characters.
const maxPayoutProblem = 250

func (l *Ledger) noteUnpaid(ctx context.Context, payout game.Payout, state game.PayoutState, problem string, delay time.Duration) error {
	_, err := l.write.NewUpdate().Model((*payoutRow)(nil)).Set("state = ?", state).Set("holder = ''").
		Set("problem = ?", strings.ToValidUTF8(problem[:min(len(problem), maxPayoutProblem)], "")).Set("due_at = ?", l.now().Add(delay).UnixMilli()).
		Where("round = ?", payout.Round).Where("number = ?", payout.Number).Where("state = ?", game.PayoutPending).
		Where("holder = ?", payout.Holder).Exec(ctx)
	return wrapError(err, "note "+payout.ID()+" as "+string(state))
}

// Payouts returns up to limit payouts of a round with a number above after, in the order of their numbers, without their
// claims. Those of a plan are created in batches, so more may follow.
func (l *Ledger) Payouts(ctx context.Context, round string, after, limit int) ([]game.Payout, error) {
	of, err := readRound(ctx, l.read, round)
	if err != nil {
		return nil, wrapError(err, "read payouts of round "+round)
	}
	var rows []payoutRow
	err = l.read.NewSelect().Model(&rows).Where("round = ?", round).Where("number > ?", after).Order("number").Limit(int64(limit)).Scan(ctx)
	if err != nil {
		return nil, wrapError(err, "read payouts of round "+round)
	}
	payouts := make([]game.Payout, len(rows))
	for i := range rows {
		payouts[i] = rows[i].payout(of.Room)
	}
	return payouts, nil
}

// PayoutSums sums a round's claims by the state of their payouts.
func (l *Ledger) PayoutSums(ctx context.Context, round string) (game.PayoutSums, error) {
	var sums game.PayoutSums
	var rows []struct {
		State  game.PayoutState
		Claims int
		Cents  int64
	}
	err := l.read.NewSelect().Model((*payoutRow)(nil)).Column("state").ColumnExpr("SUM(claims) AS claims, SUM(cents) AS cents").
		Where("round = ?", round).Where("state <> ?", game.PayoutPending).Group("state").Scan(ctx, &rows)
	if err != nil {
		return sums, wrapError(err, "sum payouts of round "+round)
	}
	for _, row := range rows {
		left := game.Total{Packets: row.Claims, Cents: game.Cents(row.Cents)}
		if row.State == game.PayoutPaid {
			sums.Paid = left
		} else {
			sums.Failed = left
		}
	}
	plan, books := new(payoutPlanRow), new(booksRow)
	err = l.read.NewSelect().Model(plan).Where("round = ?", round).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return sums, nil
	}
	if err == nil {
		err = l.read.NewSelect().Model(books).Where("round = ?", round).Scan(ctx)
	}
	sums.Planned = true
	sums.Pending.Packets = books.Claims - sums.Paid.Packets - sums.Failed.Packets
	sums.Pending.Cents = game.Cents(books.ClaimedCents) - sums.Paid.Cents - sums.Failed.Cents
	return sums, wrapError(err, "sum payouts of round "+round)
}

// ResendPayouts makes the payouts of a settled round due now that failed or wait for their next attempt, and counts their attempts
// from 0 again. A round that was settled without payouts gets them. It returns how many of the existing payouts are due now.
// game.ErrWrongPhase: the round is not settled, or a rehearsal. game.ErrOff: payouts are not configured. game.ErrNotFound.
func (l *Ledger) ResendPayouts(ctx context.Context, id string) (again int, err error) {
	err = l.inTx(ctx, func(ctx context.Context, tx bun.Tx) error {
		round, err := lockRound(ctx, tx, id)
		switch {
		case err != nil:
			return err
		case round.Phase != game.Settled || round.Rehearsal:
			return game.ErrWrongPhase
		case l.payouts == 0:
			return game.ErrOff
		}
		if err := l.insertPlan(ctx, tx, id); err != nil {
			return err
		}
		result, err := tx.NewUpdate().Model((*payoutRow)(nil)).Set("state = ?", game.PayoutPending).Set("attempts = 0").
			Set("tried_at = 0").Set("due_at = ?", l.now().UnixMilli()).Where("round = ?", id).
			Where("state <> ?", game.PayoutPaid).Where("holder = ''").Exec(ctx)
		if err != nil {
			return err
		}
		count, err := result.RowsAffected()
		again = int(count)
		return err
	})
	return again, wrapError(err, "send payouts of round "+id+" again")
}
