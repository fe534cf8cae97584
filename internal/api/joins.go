package api

import (
	"context"
	"time"

	"github.com/hashicorp/golang-lru/v2/expirable"

	"redrain/internal/game"
)

// Limits of the joins of one address: joins per second and burst. They are generous, since all players of a company may share one address and join
// within the minute in which the QR code is shown: 2,000 players in a minute. Options.JoinsPerHour bounds what comes of that in an hour.
const joinRate, joinBurst = 30, 300

// countedRooms bounds the rooms whose players are counted, and countAge is how long a count holds. Other instances let players in
// meanwhile, so a room may get a few more than its bound.
const (
	countedRooms = 1000
	countAge     = time.Second
)

// joinLimits bound who may become a player. Safe for concurrent use.
type joinLimits struct {
	seconds, hours *limiter // hours is nil without a bound
	perRoom        int      // 0: no bound
	count          func(ctx context.Context, room string) (int, error)
	counts         *expirable.LRU[string, playerCount]
	now            func() time.Time
}

// playerCount is how many players a room had when they were counted.
type playerCount struct {
	players int
	at      time.Time
}

func (s *Server) newJoinLimits() *joinLimits {
	limits := &joinLimits{
		seconds: newLimiter(joinRate, joinBurst, s.Now), perRoom: s.PlayersPerRoom, now: s.Now,
		counts: newCache[string, playerCount](countedRooms),
		count: func(ctx context.Context, room string) (int, error) {
			count, err := s.Guests.CountGuests(ctx, room, 0)
			return count.Total, err
		},
	}
	if s.JoinsPerHour > 0 {
		limits.hours = newLimiter(float64(s.JoinsPerHour)/time.Hour.Seconds(), s.JoinsPerHour, s.Now)
	}
	return limits
}

// allowSession reports whether an address may have one more session, whether of a new player or of one who comes back.
func (j *joinLimits) allowSession(ip string) bool { return j.seconds.allow(ip) }

// allowPlayer returns why an address may not have one more player in a room, or nil.
func (j *joinLimits) allowPlayer(ctx context.Context, ip, room string) error {
	if j.perRoom > 0 {
		counted, known := j.counts.Get(room)
		if !known || j.now().Sub(counted.at) >= countAge {
			players, err := j.count(ctx, room)
			if err != nil {
				return err
			}
			counted = playerCount{players, j.now()}
		}
		if counted.players >= j.perRoom {
			return errRoomFull
		}
		counted.players++
		j.counts.Add(room, counted)
	}
	if j.hours != nil && !j.hours.allow(ip) {
		return game.ErrTooMany
	}
	return nil
}
