package game

// Event is one message about a room that an instance receives from Redis by pub/sub. One of the fields after Room is set.
type Event struct {
	Room   string
	Claims *Claimed
	Round  string // the round with this id was opened or closed
	Tally  []byte // a wire.Tally in JSON, from the holder of the room's lease
	Notice []byte // a wire.Notice in JSON
	// ForHosts is the code of a notice for the pages of hosts alone.
	ForHosts string
	// AccessChanged: a player was blocked, or unblocked.
	AccessChanged bool
	// Missed: messages may have been missed, so everything known of the room must be read again.
	Missed bool
}

// Claimed is one batch of winning grabs: claims with ascending numbers without a gap, and what is left after them.
type Claimed struct {
	Round  string
	Left   Total
	Claims []Claim
}

// NoticeCode says what a notice is about; the pages have the words for it.
type NoticeCode string

// The notices. Those that say that something changed are for hosts only: their pages fetch it again.
const (
	NoticeAnnouncement      NoticeCode = "announcement" // the host's own words
	NoticeRoundFrozen       NoticeCode = "round_frozen"
	NoticeClaimsLost        NoticeCode = "claims_lost"     // Redis lost claims that players were told of
	NoticePlayersChanged    NoticeCode = "players_changed" // somebody joined: fetching the newest players is enough
	NoticePlayersEdited     NoticeCode = "players_edited"  // somebody was renamed or blocked, anywhere in the list
	NoticeRoundsChanged     NoticeCode = "rounds_changed"
	NoticeRoomChanged       NoticeCode = "room_changed"
	NoticeRehearsalsChanged NoticeCode = "rehearsals_changed"
)

// Notice is a sentence for everybody in a room. Text is empty where the pages have the words.
type Notice struct {
	Code NoticeCode
	Text string
}
