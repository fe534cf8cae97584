package live

import "sync"

// subscribers are the clients in a room. Players are divided into shards, which are sent broadcasts one after the other. Nothing here
// waits for a client. Safe for concurrent use.
type subscribers struct {
	mu        sync.RWMutex
	players   [shardCount]map[Client]struct{}
	watchers  map[Client]struct{} // hosts and screens
	hosts     map[Client]struct{} // of the watchers
	lastShard int                 // the shard of the last player who was added
}

func (s *subscribers) addPlayer(client Client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastShard = (s.lastShard + 1) % shardCount
	if s.players[s.lastShard] == nil {
		s.players[s.lastShard] = make(map[Client]struct{})
	}
	s.players[s.lastShard][client] = struct{}{}
}

func (s *subscribers) addWatcher(client Client, isHost bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watchers == nil {
		s.watchers, s.hosts = make(map[Client]struct{}), make(map[Client]struct{})
	}
	s.watchers[client] = struct{}{}
	if isHost {
		s.hosts[client] = struct{}{}
	}
}

func (s *subscribers) remove(client Client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.watchers, client)
	delete(s.hosts, client)
	for _, shard := range s.players {
		delete(shard, client)
	}
}

// sendEach calls send, which is Client.Send or Client.SendLatest, for each client of a set.
func (s *subscribers) sendEach(clients *map[Client]struct{}, send func(Client, []byte), frame []byte) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for client := range *clients {
		send(client, frame)
	}
}

// sendToAll sends everybody a frame that must arrive.
func (s *subscribers) sendToAll(frame []byte) {
	s.sendToWatchers(frame)
	for i := range shardCount {
		s.sendToShard(i, [][]byte{frame}, nil)
	}
}

// sendToWatchers sends hosts and screens a frame that must arrive.
func (s *subscribers) sendToWatchers(frame []byte) { s.sendEach(&s.watchers, Client.Send, frame) }

// sendToHosts sends hosts a frame that must arrive.
func (s *subscribers) sendToHosts(frame []byte) { s.sendEach(&s.hosts, Client.Send, frame) }

// sendLatestToWatchers sends hosts and screens a frame of which only the latest matters.
func (s *subscribers) sendLatestToWatchers(frame []byte) {
	s.sendEach(&s.watchers, Client.SendLatest, frame)
}

// sendToShard sends one shard of the players frames that must arrive, and a latest frame unless that is nil. Each player is sent all of
// them at once, so that they become one write.
func (s *subscribers) sendToShard(i int, frames [][]byte, latest []byte) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for client := range s.players[i] {
		for _, frame := range frames {
			client.Send(frame)
		}
		if latest != nil {
			client.SendLatest(latest)
		}
	}
}
