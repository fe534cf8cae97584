package ledger

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"redrain/internal/game"
)

type rehearsalRow struct {
	bun.BaseModel `bun:"table:rehearsals"`

	Round   string  `bun:"round,pk"`
	Room    string  `bun:"room"`
	Players int     `bun:"players"`
	Rate    float64 `bun:"rate"`
	State   string  `bun:"state"`
	Report  string  `bun:"report"`
	Problem string  `bun:"problem"`
	BegunAt int64   `bun:"begun_at"`
}

func (r *rehearsalRow) rehearsal() game.Rehearsal {
	rehearsal := game.Rehearsal{
		Round: r.Round, Room: r.Room, Players: r.Players, Rate: r.Rate, State: game.RehearsalState(r.State),
		Problem: r.Problem, BegunAt: time.UnixMilli(r.BegunAt),
	}
	if r.Report != "" {
		rehearsal.Report = []byte(r.Report)
	}
	return rehearsal
}

// NoteRehearsal writes down that a rehearsal runs.
func (l *Ledger) NoteRehearsal(ctx context.Context, r game.Rehearsal) (game.Rehearsal, error) {
	row := rehearsalRow{
		Round: r.Round, Room: r.Room, Players: r.Players, Rate: r.Rate, State: string(game.RehearsalRunning), BegunAt: l.now().UnixMilli(),
	}
	if _, err := l.write.NewInsert().Model(&row).Exec(ctx); err != nil {
		return game.Rehearsal{}, fmt.Errorf("note rehearsal: %w", err)
	}
	return row.rehearsal(), nil
}

// maxRehearsalProblem bounds what is kept of why a rehearsal failed, in bytes.
const maxRehearsalProblem = 500

// EndRehearsal writes down what a rehearsal came to: its report in JSON, or the problem that it failed of.
func (l *Ledger) EndRehearsal(ctx context.Context, round string, report []byte, problem string) error {
	state := game.RehearsalDone
	if problem != "" {
		state = game.RehearsalFailed
	}
	problem = strings.ToValidUTF8(problem[:min(len(problem), maxRehearsalProblem)], "") // it may be cut within a letter
	_, err := l.write.NewUpdate().Model((*rehearsalRow)(nil)).Set("state = ?", state).Set("report = ?", string(report)).
		Set("problem = ?", problem).Where("round = ?", round).Where("state = ?", game.RehearsalRunning).Exec(ctx)
	if err != nil {
		return fmt.Errorf("end rehearsal: %w", err)
	}
	return nil
}

// Rehearsals returns up to limit rehearsals of a room, the newest first.
func (l *Ledger) Rehearsals(ctx context.Context, room string, limit int) ([]game.Rehearsal, error) {
	var rows []rehearsalRow
	err := l.read.NewSelect().Model(&rows).Where("room = ?", room).Order("begun_at DESC", "round DESC").Limit(int64(limit)).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read rehearsals of room %s: %w", room, err)
	}
	rehearsals := make([]game.Rehearsal, len(rows))
	for i := range rows {
		rehearsals[i] = rows[i].rehearsal()
	}
	return rehearsals, nil
}
