package main

import "time"

// settleLag reads by how much this instance's settling was behind when it booked last; nil if others settle.
func (a *app) settleLag() func() time.Duration {
	if a.settler == nil {
		return nil
	}
	return func() time.Duration { return time.Duration(a.settler.Counts().Lag) * time.Millisecond }
}
