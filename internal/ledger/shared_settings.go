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

// Setting returns the text under a name that all instances share: the proposed one if nobody proposed one before, else
// the first. It is for secrets too: the text is in no error.
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
