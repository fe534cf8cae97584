package live

import (
	"sync"
	"time"
)

const (
	// nicknameLifetime is how long a nickname is used before it is read again. So a new one is shown after that time even if the event
	// of its change was lost.
	nicknameLifetime = 30 * time.Second
	// maxNicknames is how many nicknames a room keeps before it drops those that were not shown for nicknameLifetime.
	maxNicknames = 4096
	// nicknamesPerQuery is the most nicknames in one query.
	nicknamesPerQuery = 256
)

// nicknameCache has the nicknames that a room's tallies show. The Redis sync loop requests nicknames, and the SQL sync loop reads them.
// A known nickname is shown until SQL returns another one, even if queries fail. Safe for concurrent use.
type nicknameCache struct {
	mu            sync.Mutex
	known         map[string]cachedNickname // by player
	requested     map[string]bool           // players whose nicknames are to be read
	waitingSince  time.Time                 // since when SQL has not answered a request; zero: there is none
	invalidatedAt time.Time                 // what was read before is read again
}

type cachedNickname struct {
	text            string
	readAt, shownAt time.Time
}

// request requests those nicknames that are unknown or too old, and reports whether there is one that was not requested before.
func (c *nicknameCache) request(players []string) (added bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	for _, player := range players {
		nickname, known := c.known[player]
		if known {
			nickname.shownAt = now
			c.known[player] = nickname
		}
		isFresh := known && nickname.readAt.After(c.invalidatedAt) && now.Sub(nickname.readAt) <= nicknameLifetime
		if isFresh || c.requested[player] {
			continue
		}
		if c.requested == nil {
			c.requested = make(map[string]bool)
		}
		if c.waitingSince.IsZero() {
			c.waitingSince = now
		}
		c.requested[player], added = true, true
	}
	return added
}

// shouldWait reports whether one of the players has no nickname yet, and SQL is likely to answer soon.
func (c *nicknameCache) shouldWait(players []string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waitingSince.IsZero() || time.Since(c.waitingSince) >= activeInterval {
		return false
	}
	for _, player := range players {
		if _, known := c.known[player]; !known {
			return true
		}
	}
	return false
}

func (c *nicknameCache) get(player string) (text string, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	nickname, known := c.known[player]
	return nickname.text, known
}

// invalidate has every nickname read again before long: a player may have been renamed.
func (c *nicknameCache) invalidate() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.invalidatedAt = time.Now()
}

// nextQuery returns the players whose nicknames are to be read, at most nicknamesPerQuery.
func (c *nicknameCache) nextQuery() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var players []string
	for player := range c.requested {
		if players = append(players, player); len(players) == nicknamesPerQuery {
			break
		}
	}
	return players
}

// store stores the result of a query for players that was made at queriedAt. A player who is not in it has no nickname.
func (c *nicknameCache) store(queriedAt time.Time, players []string, found map[string]string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil {
		c.known = make(map[string]cachedNickname)
	}
	now := time.Now()
	for _, player := range players {
		c.known[player] = cachedNickname{text: found[player], readAt: queriedAt, shownAt: now}
		delete(c.requested, player)
	}
	c.waitingSince = time.Time{}
	if len(c.requested) > 0 {
		c.waitingSince = now
	}
	c.prune(now)
}

// prune needs mu.
func (c *nicknameCache) prune(now time.Time) {
	if len(c.known) <= maxNicknames {
		return
	}
	for player, nickname := range c.known {
		if now.Sub(nickname.shownAt) > nicknameLifetime {
			delete(c.known, player)
		}
	}
}
