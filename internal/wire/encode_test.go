package wire

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"pgregory.net/rapid"

	"redrain/internal/game"
)

// A message of each type, empty, for fixtures to be read into and to be encoded as they are.
var messages = map[string]Message{
	TypeWelcome: &Welcome{}, TypeRound: &RoundChanged{}, TypeDrops: &Drops{}, TypeResult: &Result{}, TypeClaim: &ClaimMade{},
	TypeTally: &Tally{}, TypeNotice: &Notice{}, TypePong: &Pong{}, TypeError: &Error{},
}

func fixtures(t *testing.T, side string) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("fixtures", side, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures of the %s: %v", side, err)
	}
	texts := map[string][]byte{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts[strings.TrimSuffix(filepath.Base(file), ".json")] = bytes.TrimSpace(text)
	}
	return texts
}

func TestServerFixturesAreWhatEncodeWrites(t *testing.T) {
	texts := fixtures(t, "server")
	for name, message := range messages {
		text, ok := texts[name]
		if !ok {
			t.Errorf("no fixture for %s", name)
			continue
		}
		if err := json.Unmarshal(text, message, json.RejectUnknownMembers(true)); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := Encode(message); !bytes.Equal(got, text) {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, text)
		}
	}
	if len(texts) != len(messages) {
		t.Errorf("%d fixtures for %d types of message", len(texts), len(messages))
	}
}

func TestClientFixturesDecode(t *testing.T) {
	want := map[string]any{
		TypeTap:  Tap{Round: "11111111-2222-4333-8444-555555555555", Drop: 17},
		TypePing: Ping{Sent: 1234567},
	}
	for name, text := range fixtures(t, "client") {
		if got, err := Decode(text); err != nil || got != want[name] {
			t.Errorf("%s: got %#v, %v; want %#v", name, got, err, want[name])
		}
	}
}

// Pages index into these lists; null would break them.
func TestEmptyMessagesHaveTypesAndEmptyLists(t *testing.T) {
	for name, message := range map[string]Message{
		TypeWelcome: Welcome{Round: &Round{}}, TypeRound: RoundChanged{}, TypeDrops: Drops{}, TypeResult: Result{}, TypeClaim: ClaimMade{},
		TypeTally: Tally{}, TypeNotice: Notice{}, TypePong: Pong{}, TypeError: Error{},
	} {
		text := string(Encode(message))
		if !strings.HasPrefix(text, `{"type":"`+name+`"`) || strings.Contains(text, "null") {
			t.Errorf("%s: got %s", name, text)
		}
	}
	if text := string(Encode(Welcome{})); !strings.Contains(text, `"round":null`) || !strings.Contains(text, `"tally":{"type":"tally"`) {
		t.Errorf("a room without a round: got %s", text)
	}
}

func TestEncodeMendsInvalidUTF8(t *testing.T) {
	if got, want := string(Encode(Notice{Text: "a\xffb"})), "{\"type\":\"notice\",\"code\":\"\",\"text\":\"a\ufffdb\"}"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestAppendResultWritesWhatEncodeWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		result := Result{
			Round:   rapid.String().Draw(t, "round"),
			Drop:    game.DropID(rapid.Int32().Draw(t, "drop")),
			Outcome: game.Outcome(rapid.String().Draw(t, "outcome")),
			Cents:   game.Cents(rapid.Int64().Draw(t, "cents")),
			Number:  rapid.Int().Draw(t, "number"),
		}
		got := AppendResult([]byte("before"), result)
		if want := "before" + string(Encode(result)); string(got) != want {
			t.Fatalf("got %s, want %s", got, want)
		}
	})
}

func TestRoundOfShowsTheSecretOnlyWhenSettled(t *testing.T) {
	for _, phase := range []game.Phase{game.Draft, game.Countdown, game.Raining, game.Closed, game.Settled} {
		round := game.Round{ID: "id", Phase: phase, Secret: "5ec2e7", Settings: game.DefaultSettings()}
		public := RoundOf(round)
		if shown := public.Secret != ""; shown != (phase == game.Settled) {
			t.Errorf("%s: secret %q", phase, public.Secret)
		}
		if text := string(Encode(RoundChanged{Round: public})); phase != game.Settled && strings.Contains(text, "5ec2e7") {
			t.Errorf("%s: the message shows the secret: %s", phase, text)
		}
	}
}

func TestRoundOfCarriesEverySetting(t *testing.T) {
	var message RoundChanged
	text := fixtures(t, "server")[TypeRound]
	if err := json.Unmarshal(text, &message); err != nil {
		t.Fatal(err)
	}
	got := RoundOf(game.Round{
		ID: "11111111-2222-4333-8444-555555555555", Room: "HAPPY8", Phase: game.Raining, Algorithm: game.Algorithm, Commitment: message.Round.Commitment,
		Place: 1, StartsAt: 1800000010000, EndsAt: 1800000040000,
		Settings: game.Settings{
			Title: "年会第一场", Total: 88800, Packets: 100, Split: game.SplitLive, Pace: game.PaceEven, Cap: 3, Min: 1,
			Countdown: 10_000, Duration: 30_000, DropsPerSecond: 8, BombPercent: 10, CloseWhenSoldOut: true,
		},
	})
	if written := Encode(RoundChanged{Round: got}); !bytes.Equal(written, text) {
		t.Errorf("got  %s\nwant %s", written, text)
	}
}

func TestListsOfNothingAreNotNil(t *testing.T) {
	if ClaimsOf("r", nil) == nil || DropsOf(nil) == nil || RoundOf(game.Round{}).Tiers == nil {
		t.Error("a list of nothing is nil")
	}
	claim := game.Claim{Player: "p", Drop: 17, Cents: 612, Number: 2}
	if got, want := ClaimsOf("r", []game.Claim{claim})[0], (Claim{Round: "r", Number: 2, Player: "p", Drop: 17, Cents: 612}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	drop := game.Drop{ID: 18, Kind: game.KindBomb, AtMS: 2190, Lane: 33}
	if got, want := DropsOf([]game.Drop{drop})[0], (Drop{Drop: 18, Kind: game.KindBomb, AtMS: 2190, Lane: 33}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func BenchmarkAppendResult(b *testing.B) {
	result := Result{Round: "11111111-2222-4333-8444-555555555555", Drop: 17, Outcome: game.Won, Cents: 612, Number: 4321}
	buffer := make([]byte, 0, 256)
	b.ReportAllocs()
	for b.Loop() {
		buffer = AppendResult(buffer[:0], result)
	}
}
