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
	return l.CurrentSetting(ctx, name)
}

// CurrentSetting returns the value under a name that all instances share. game.ErrNotFound: there is none.
func (l *Ledger) CurrentSetting(ctx context.Context, name string) (string, error) {
	kept := new(settingRow)
	if err := l.read.NewSelect().Model(kept).Where("name = ?", name).Scan(ctx); err != nil {
		return "", fmt.Errorf("read setting %s: %w", name, mapNoRows(err))
	}
	return kept.Value, nil
}

// ReplaceSetting replaces a value that all instances share, if it is still the old one.
func (l *Ledger) ReplaceSetting(ctx context.Context, name, old, replacement string) error {
	_, err := l.write.NewUpdate().Model((*settingRow)(nil)).Set("value = ?", replacement).
		Where("name = ?", name).Where("value = ?", old).Exec(ctx)
	if err != nil {
		return fmt.Errorf("replace setting %s: %w", name, err)
	}
	return nil
}
