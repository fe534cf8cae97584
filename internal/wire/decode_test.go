package wire

import (
	"errors"
	"math"
	"strings"
	"testing"

	"redrain/internal/game"
)

const round = "11111111-2222-4333-8444-555555555555"

func TestDecodeTakesBothMessagesInAnyLayout(t *testing.T) {
	tap := Tap{Round: round, Drop: 17}
	for frame, want := range map[string]any{
		`{"type":"tap","round":"` + round + `","drop":17}`:                  tap,
		`{"drop":17,"type":"tap","round":"` + round + `"}`:                  tap,
		" {\n\"type\" : \"tap\", \"round\":\"" + round + "\", \"drop\":17}": tap,
		`{"type":"t\u0061p","round":"` + round + `","drop":17}`:             tap,
		`{"type":"tap","round":"` + round + `","drop":1000000}`:             Tap{Round: round, Drop: MaxDrop},
		`{"type":"ping","sent":0}`:                                          Ping{},
		`{"type":"ping","sent":9007199254740991}`:                           Ping{Sent: MaxSent},
	} {
		got, err := Decode([]byte(frame))
		if err != nil || got != want {
			t.Errorf("%s: got %#v, %v; want %#v", frame, got, err, want)
		}
	}
}

// badFrames are frames that must be refused, each with what its message must say.
var badFrames = map[string]string{
	``:                                       "ends too early",
	`{`:                                      "ends too early",
	`null`:                                   "must be a JSON object",
	`17`:                                     "must be a JSON object",
	`[{"type":"ping","sent":1}]`:             "must be a JSON object",
	`{}`:                                     `field "type" is missing`,
	`{"type":null}`:                          `field "type" must not be null`,
	`{"type":7}`:                             `field "type" must be a text`,
	`{"type":"dance"}`:                       `unknown type "dance"`,
	`{"type":"tap","drop":17}`:               `field "round" is missing`,
	`{"type":"tap","round":"` + round + `"}`: `field "drop" is missing`,
	`{"type":"tap","round":"` + round + `","drop":null}`:                            `field "drop" must not be null`,
	`{"type":"tap","round":"` + round + `","drop":"17"}`:                            `field "drop" must be a whole number`,
	`{"type":"tap","round":"` + round + `","drop":17.0}`:                            `field "drop" must be a whole number`,
	`{"type":"tap","round":"` + round + `","drop":1.5}`:                             `field "drop" must be a whole number`,
	`{"type":"tap","round":"` + round + `","drop":1e3}`:                             `field "drop" must be a whole number`,
	`{"type":"tap","round":"` + round + `","drop":17E0}`:                            `field "drop" must be a whole number`,
	`{"type":"tap","round":"` + round + `","drop":true}`:                            `field "drop" must be a whole number`,
	`{"type":"tap","round":"` + round + `","drop":[17]}`:                            `field "drop" must be a whole number`,
	`{"type":"tap","round":"` + round + `","drop":0}`:                               "drop must be between 1 and 1000000",
	`{"type":"tap","round":"` + round + `","drop":-1}`:                              "drop must be between 1 and 1000000",
	`{"type":"tap","round":"` + round + `","drop":1000001}`:                         "drop must be between 1 and 1000000",
	`{"type":"tap","round":"` + round + `","drop":99999999999999999999}`:            `field "drop" is out of range`,
	`{"type":"tap","round":"` + round + `","drop":017}`:                             "not valid JSON at byte",
	`{"type":"tap","round":"` + round + `","drop":17,"drop":17}`:                    `field "drop" comes twice`,
	`{"type":"tap","round":"` + round + `","drop":17,"dr\u006fp":18}`:               `field "drop" comes twice`,
	`{"type":"tap","round":"` + round + `","Drop":17}`:                              `unknown field "Drop"`,
	`{"type":"tap","round":"` + round + `","drop":17,"DROP":17}`:                    `unknown field "DROP"`,
	`{"type":"tap","round":"` + round + `","drop":17,"cents":1}`:                    `unknown field "cents"`,
	`{"type":"tap","round":"` + round + `","drop":17}{}`:                            "not valid JSON at byte",
	`{"type":"tap","round":"` + round + `","drop":17} x`:                            "not valid JSON at byte",
	`{"type":"tap","round":"` + round + `","drop":17,}`:                             "not valid JSON at byte",
	`{"type":"tap","round":"` + strings.ToUpper("a"+round[1:]) + `","drop":17}`:     "round must be a UUID in lower case",
	`{"type":"tap","round":"{` + round + `}","drop":17}`:                            "round must be a UUID in lower case",
	`{"type":"tap","round":"` + strings.ReplaceAll(round, "-", "") + `","drop":17}`: "round must be a UUID in lower case",
	`{"type":"tap","round":17,"drop":17}`:                                           `field "round" must be a text`,
	"{\"type\":\"ping\xff\",\"sent\":1}":                                            "not valid UTF-8",
	`{"type":"ping"}`:                                                               `field "sent" is missing`,
	`{"type":"ping","sent":-1}`:                                                     "sent must be between 0 and 9007199254740991",
	`{"type":"ping","sent":9007199254740992}`:                                       "sent must be between 0 and 9007199254740991",
	`{"type":"ping","sent":1,"drop":1}`:                                             `unknown field "drop"`,
	`{"type":"ping","sent":1` + strings.Repeat(" ", MaxFrame) + `}`:                 "at most 1024 bytes",
	`{"type":"` + strings.Repeat("包", 100) + `"}`:                                   "unknown type \"" + strings.Repeat("包", 13) + "…\"",
}

func TestDecodeRefusesWithOneClearSentence(t *testing.T) {
	for frame, want := range badFrames {
		got, err := Decode([]byte(frame))
		refused, ok := errors.AsType[*BadFrame](err)
		if !ok {
			t.Errorf("%.80q: got %#v, %v; want a *BadFrame", frame, got, err)
			continue
		}
		if refused.Code != CodeBadFrame || !strings.Contains(refused.Message, want) {
			t.Errorf("%.80q: got %s %q, want it to say %q", frame, refused.Code, refused.Message, want)
		}
		for _, inside := range []string{"json:", "wire.", "int64", "Go "} {
			if strings.Contains(refused.Message, inside) {
				t.Errorf("%.80q: message %q shows the server's inside", frame, refused.Message)
			}
		}
	}
}

type testBody struct {
	Name  *string    `json:"name"`
	Count int        `json:"count"`
	Open  bool       `json:"open"`
	Parts []testPart `json:"parts"`
}

type testPart struct {
	Cents *game.Cents `json:"cents"`
}

func TestDecodeBodyKeepsWhatIsNotThere(t *testing.T) {
	body := testBody{Count: 8, Open: true}
	if err := DecodeBody(strings.NewReader(`{"name":"a","open":false}`), 100, &body); err != nil {
		t.Fatal(err)
	}
	if *body.Name != "a" || body.Count != 8 || body.Open {
		t.Errorf("got %+v, want the count kept and open replaced", body)
	}
}

func TestDecodeBodyRefuses(t *testing.T) {
	tests := []struct{ body, code, field, says string }{
		{``, CodeBadBody, "", "ends too early"},
		{`[]`, CodeBadBody, "", "must be a JSON object"},
		{`{}`, CodeBadBody, "name", `field "name" is missing`},
		{`{"name":null}`, CodeBadBody, "name", "must not be null"},
		{`{"name":"a","count":null}`, CodeBadBody, "count", "must not be null"},
		{`{"name":"a","parts":null}`, CodeBadBody, "parts", "must not be null"},
		{`{"name":"a","parts":[null]}`, CodeBadBody, "parts[0]", "must not be null"},
		{`{"name":"a","parts":{}}`, CodeBadBody, "parts", "must be a list"},
		{`{"name":"a","parts":[7]}`, CodeBadBody, "parts[0]", "must be an object"},
		{`{"name":"a","parts":[{"cents":1},{}]}`, CodeBadBody, "parts[1].cents", "is missing"},
		{`{"name":"a","parts":[{"cents":1.5}]}`, CodeBadBody, "parts[0].cents", "must be a whole number"},
		{`{"name":"a","parts":[{"Cents":1}]}`, CodeBadBody, "parts[0].Cents", "unknown field"},
		{`{"name":"a","open":1}`, CodeBadBody, "open", "true or false"},
		{`{"name":"a","count":1e2}`, CodeBadBody, "count", "must be a whole number"},
		{`{"name":"a","name":"b"}`, CodeBadBody, "name", "comes twice"},
		{`{"NAME":"a"}`, CodeBadBody, "NAME", "unknown field"},
		{`{"name":"a"}}`, CodeBadBody, "", "not valid JSON at byte"},
		{"{\"name\":\"\xc0\"}", CodeBadBody, "", "not valid UTF-8"},
		{`{"name":"\ud800"}`, CodeBadBody, "", "not valid JSON at byte"},
		{`{"name":"` + strings.Repeat("a", 200) + `"}`, CodeTooLarge, "", "at most 100 bytes"},
	}
	for _, tt := range tests {
		err := DecodeBody(strings.NewReader(tt.body), 100, &testBody{})
		refused, ok := errors.AsType[*BadFrame](err)
		if !ok {
			t.Errorf("%s: got %v, want a *BadFrame", tt.body, err)
			continue
		}
		if refused.Code != tt.code || refused.Field != tt.field || !strings.Contains(refused.Message, tt.says) {
			t.Errorf("%s: got %+v, want %s, field %q, %q", tt.body, refused, tt.code, tt.field, tt.says)
		}
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errors.New("reset by peer") }

func TestDecodeBodyOfABrokenConnection(t *testing.T) {
	err := DecodeBody(brokenReader{}, 100, &testBody{})
	if refused, ok := errors.AsType[*BadFrame](err); !ok || refused.Code != CodeBadBody {
		t.Errorf("got %v, want a *BadFrame with %s", err, CodeBadBody)
	}
}

// FuzzDecode holds that the quick path for taps takes nothing that the strict decoder refuses, gives the same, and that
// nothing out of range comes through.
func FuzzDecode(f *testing.F) {
	for frame := range badFrames {
		f.Add([]byte(frame))
	}
	f.Add([]byte(`{"type":"tap","round":"` + round + `","drop":17}`))
	f.Add([]byte(`{"type":"tap","round":"` + round + `","drop":1000000}`))
	f.Add([]byte(`{"type":"tap","round":"` + round + `","drop":9999999}`))
	f.Add([]byte(`{"type":"ping","sent":1234567}`))
	f.Fuzz(func(t *testing.T, frame []byte) {
		quick, took := UsualTap(frame, "")
		general, err := decodeAny(frame)
		if took && (err != nil || general != any(quick)) {
			t.Fatalf("%q: quickly %v, strictly %v, %v", frame, quick, general, err)
		}
		checkDecoded(t, general, err)
	})
}

func checkDecoded(t *testing.T, message any, err error) {
	switch m := message.(type) {
	case Tap:
		if !IsUUID(m.Round) || m.Drop < 1 || m.Drop > MaxDrop {
			t.Fatalf("took %+v", m)
		}
	case Ping:
		if m.Sent < 0 || m.Sent > math.MaxInt64>>10 {
			t.Fatalf("took %+v", m)
		}
	case nil:
		if _, ok := errors.AsType[*BadFrame](err); !ok {
			t.Fatalf("refused with %v, want a *BadFrame", err)
		}
	default:
		t.Fatalf("decoded into %T", m)
	}
}

func BenchmarkDecodeTap(b *testing.B) {
	frame := []byte(`{"type":"tap","round":"` + round + `","drop":17}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Decode(frame); err != nil {
			b.Fatal(err)
		}
	}
}
