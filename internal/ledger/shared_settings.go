package ledger

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"
)

type settingRow struct {
	bun.BaseModel `bun:"table:settings"`

	Name  string `bun:"name,pk"`
	Value string `bun:"value"`
}

// Setting returns the value under a name that all instances share: the proposed one if there is none yet, else the one that was
// proposed first. It may be a secret, so the value is in no error.
func (l *Ledger) Setting(ctx context.Context, name, proposed string) (string, error) {
	row := settingRow{Name: name, Value: proposed}
	if _, err := l.write.NewInsert().Model(&row).Ignore().Exec(ctx); err != nil {
		return "", fmt.Errorf("propose setting %s: %w", name, err)
	}
	kept := new(settingRow)
	if err := l.read.NewSelect().Model(kept).Where("name = ?", name).Scan(ctx); err != nil {
		return "", fmt.Errorf("read setting %s: %w", name, err)
	}
	return kept.Value, nil
}
