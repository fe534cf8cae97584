package main

import "time"

// settleLag returns a function that reads the lag of this instance's settler when it last booked something; nil without a settler.
func (a *app) settleLag() func() time.Duration {
	if a.settler == nil {
		return nil
	}
	return func() time.Duration { return time.Duration(a.settler.Counts().Lag) * time.Millisecond }
}
