package bots

import (
	"context"
	"net/http"

	"redrain/internal/game"
	"redrain/internal/wire"
)

// Freeze stops grants and refunds of a round; it may be repeated.
func (h *Host) Freeze(ctx context.Context, round string) (wire.Round, error) {
	return h.round(ctx, http.MethodPost, "/api/rounds/"+round+"/freeze", nil)
}

// Release lets a frozen round go on, its books accepted as they are.
func (h *Host) Release(ctx context.Context, round string) (wire.Round, error) {
	return h.round(ctx, http.MethodPost, "/api/rounds/"+round+"/release", nil)
}

// Reconciliation compares a round with its books.
func (h *Host) Reconciliation(ctx context.Context, round string) (game.Reconciliation, error) {
	var answer struct {
		Reconciliation game.Reconciliation `json:"reconciliation"`
	}
	err := h.call(ctx, http.MethodGet, "/api/rounds/"+round+"/reconciliation", nil, &answer)
	return answer.Reconciliation, err
}
