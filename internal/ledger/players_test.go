package ledger_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"redrain/internal/game"
	"redrain/internal/ledger"
)

// guests are all players of a room that match, the newest first, read in pages.
func guests(t *testing.T, l *ledger.Ledger, room, name string, limit int) []game.Player {
	t.Helper()
	var all []game.Player
	query := game.GuestQuery{Name: name, Limit: limit}
	for {
		page := must[game.GuestPage](t)(l.Guests(t.Context(), room, query))
		if len(page.Players) > limit {
			t.Fatalf("a page of %d has %d players", limit, len(page.Players))
		}
		all = append(all, page.Players...)
		if page.Next == (game.GuestPlace{}) {
			return all
		}
		query.Below = page.Next
	}
}

// A new player is in the host's list as soon as joining has returned.
func TestPlayersAreListedAtOnce(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l, host := open(ledger.WithClock(newTickingClock())), open()
		room, other := newRoom(t, l), newRoom(t, l)
		var joined []game.Player
		for _, name := range []string{"小明", "Ann", "小明"} {
			joined = slices.Insert(joined, 0, must[game.Player](t)(l.AddPlayer(t.Context(), room, name)))
			if got := guests(t, host, room, "", 50); !slices.Equal(got, joined) {
				t.Fatalf("the host sees %v of %v", got, joined)
			}
		}
		must[game.Player](t)(l.AddPlayer(t.Context(), other, "elsewhere"))
		for limit := 1; limit <= 4; limit++ {
			if got := guests(t, host, room, "", limit); !slices.Equal(got, joined) {
				t.Errorf("in pages of %d the host sees %v of %v", limit, got, joined)
			}
		}
		if got := must[game.Player](t)(host.Player(t.Context(), joined[1].ID)); got != joined[1] {
			t.Errorf("added %v, read %v", joined[1], got)
		}
	})
}

// addPlayers adds n players with nicknames from name to a room, each joined a ms after the one before.
func addPlayers(t testing.TB, l *ledger.Ledger, room string, n int, name func(i int) string) {
	t.Helper()
	for numbers := range slices.Chunk(slices.Collect(upTo(n)), 500) {
		rows := make([]string, len(numbers))
		for i, number := range numbers {
			rows[i] = fmt.Sprintf("('%s', '%s', '%s', %d)", uuid.NewString(), room, name(number), 1_800_000_000_000+number)
		}
		statement := "INSERT INTO players (id, room, nickname, joined_at) VALUES " + strings.Join(rows, ", ")
		if _, err := ledger.Pools(l)["write"].ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
}

func upTo(n int) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for i := 0; i < n && yield(i); i++ {
		}
	}
}

func TestPlayersAreFoundByName(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l := open(ledger.WithClock(newTickingClock()))
		room := newRoom(t, l)
		for _, name := range []string{"Ann", "ＢＯＢ", "100%", "a_b", "Élodie", "Straße", "小明", "小红", "bobby"} {
			must[game.Player](t)(l.AddPlayer(t.Context(), room, name))
		}
		for sought, want := range map[string]string{
			"ANN": "Ann", "bob": "bobby ＢＯＢ", " Ｂｏｂ ": "bobby ＢＯＢ", "%": "100%", "_": "a_b", "élo": "Élodie", "STRASSE": "Straße",
			"小": "小红 小明", "nobody": "", "' OR 1=1": "",
		} {
			var found []string
			for _, player := range guests(t, l, room, sought, 1) {
				found = append(found, player.Nickname)
			}
			if got := strings.Join(found, " "); got != want {
				t.Errorf("%q finds %q, want %q", sought, got, want)
			}
		}
	})
}

// A search looks at 20,000 players at once, however many there are, and the next page goes on from there.
func TestASearchIsBounded(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l := open()
		room := newRoom(t, l)
		addPlayers(t, l, room, 25_000, func(i int) string {
			if i == 3 {
				return "the oldest Ann"
			}
			return fmt.Sprint("guest ", i)
		})
		query := game.GuestQuery{Name: "ann", Limit: 10}
		page := must[game.GuestPage](t)(l.Guests(t.Context(), room, query))
		if len(page.Players) != 0 || page.Next.JoinedAt != 1_800_000_000_000+5000 {
			t.Errorf("one search finds %v and goes on at %+v", page.Players, page.Next)
		}
		if found := guests(t, l, room, "ann", 10); len(found) != 1 || found[0].Nickname != "the oldest Ann" {
			t.Errorf("all searches find %v", found)
		}
	})
}

func TestCountsOfPlayersTellWhetherAMarkIsGood(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		now := time.UnixMilli(1_800_000_000_000)
		l := open(ledger.WithClock(func() time.Time { return now }))
		room := newRoom(t, l)
		join := func(at time.Duration) game.GuestCount {
			t.Helper()
			before := must[game.GuestCount](t)(l.CountGuests(t.Context(), room, 0)).Latest
			now = time.UnixMilli(1_800_000_000_000).Add(at)
			must[game.Player](t)(l.AddPlayer(t.Context(), room, "Ann"))
			count := must[game.GuestCount](t)(l.CountGuests(t.Context(), room, before.At))
			count.Older -= before.Older
			return count
		}
		if empty := must[game.GuestCount](t)(l.CountGuests(t.Context(), room, 0)); empty != (game.GuestCount{Latest: game.GuestMark{At: 1}}) {
			t.Errorf("an empty room counts %+v", empty)
		}
		for i, step := range []struct {
			at    time.Duration
			older int
		}{{0, 0}, {time.Minute, 0}, {time.Minute, 0}, {time.Minute - 2*time.Second, 0}, {time.Minute - 3*time.Second, 1}, {time.Hour, 0}} {
			if count := join(step.at); count.Total != i+1 || count.Older != step.older {
				t.Errorf("after %d joined at %v the count is %+v, want %d older", i+1, step.at, count, step.older)
			}
		}
	})
}

// BenchmarkGuests reads the list of 10,000 guests: its first page, what is new, and a search that finds nobody.
func BenchmarkGuests(b *testing.B) {
	for name, newDatabase := range databases {
		b.Run(name, func(b *testing.B) {
			l := openLedger(b, newDatabase(b))
			room := newRoom(b, l)
			addPlayers(b, l, room, 10_000, func(i int) string { return fmt.Sprint("客人 ", i) })
			for part, query := range map[string]game.GuestQuery{
				"page": {Limit: 50}, "news": {Limit: 200, Since: 1_800_000_009_900}, "search": {Limit: 50, Name: "nobody"},
			} {
				b.Run(part, func(b *testing.B) {
					for b.Loop() {
						if _, err := l.Guests(b.Context(), room, query); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
			b.Run("count", func(b *testing.B) {
				for b.Loop() {
					if _, err := l.CountGuests(b.Context(), room, 1_800_000_005_000); err != nil {
						b.Fatal(err)
					}
				}
			})
		})
	}
}
