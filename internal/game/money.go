package game

import (
	"fmt"
)

// Cents is an amount of money in hundredths of the currency. It is the only form of money outside of pages.
type Cents int64

// Moment is a point in time in milliseconds since 1970, by Redis' clock.
type Moment int64

// String renders the amount with two decimals, for logs and command output only.
func (c Cents) String() string {
	sign := ""
	if c < 0 {
		sign, c = "-", -c
	}
	return fmt.Sprintf("%s%d.%02d", sign, c/100, c%100)
}
