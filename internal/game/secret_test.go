package game

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"testing"
)

// knownSecret is the one of the golden values, which were computed from the documented formats by another program.
const knownSecret = Secret("0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef")

func TestDrawsAreAsDocumented(t *testing.T) {
	want := []uint64{
		2743459910104195, 616587192924794, 3689857076296827, 1520141117885754, 2233486994103420, 8471335241011, 971281109731507,
	}
	draws := knownSecret.Draws("live")
	for _, n := range []int{0, 1, 2, 3, 4, 5, 6, 0, 6, 2} { // in order, and back
		if got := draws.At(n); got != want[n] {
			t.Errorf("draw %d is %d, want %d", n, got, want[n])
		}
	}
}

func TestLabelsHaveTheirOwnDraws(t *testing.T) {
	seen := make(map[uint64]string)
	for _, label := range []string{"live", "dealt", "shuffle", "drop"} {
		for n := range 30 {
			u := knownSecret.Draws(label).At(n)
			if other := seen[u]; other != "" || u >= 1<<52 {
				t.Errorf("draw %d of %s is %d, as of %q", n, label, u, other)
			}
			seen[u] = label
		}
	}
}

func TestSecretsAreNew(t *testing.T) {
	form := regexp.MustCompile(`^[0-9a-f]{64}$`)
	a, b := NewSecret(), NewSecret()
	if a == b || !form.MatchString(string(a)) || !form.MatchString(string(b)) {
		t.Error("two secrets are the same, or not 64 lower-case hex digits")
	}
}

// A secret that gets into a log tells every amount of a round in advance.
func TestSecretIsNeverPrinted(t *testing.T) {
	round := Round{ID: "a", Secret: knownSecret}
	printed := new(bytes.Buffer)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%10s", "%T %[1]v"} {
		for _, value := range []any{
			knownSecret, &round.Secret, round, &round, []Secret{knownSecret}, map[string]Secret{"a": knownSecret},
			map[Secret]int{knownSecret: 1}, []Round{round}, knownSecret.Draws("live"), fmt.Errorf("wrapped: %v", round),
		} {
			fmt.Fprintf(printed, verb+"\n", value)
		}
	}
	fmt.Fprintln(printed, knownSecret, round, fmt.Sprint(round.Secret))
	for _, handler := range []slog.Handler{slog.NewTextHandler(printed, nil), slog.NewJSONHandler(printed, nil)} {
		slog.New(handler).Info("started", "secret", knownSecret, "round", round, "rounds", []Round{round}, "pointer", &round,
			slog.Group("a", "b", knownSecret))
	}
	if err := json.NewEncoder(printed).Encode([]any{round, knownSecret, map[string]Secret{"a": knownSecret}}); err != nil {
		t.Fatal(err)
	}
	if text := strings.ToLower(printed.String()); strings.Contains(text, "abcdef") || strings.Contains(text, "616263646566") {
		t.Errorf("the secret was printed: %s", text)
	}
	if !strings.Contains(printed.String(), redacted) {
		t.Error("nothing was printed")
	}
}
