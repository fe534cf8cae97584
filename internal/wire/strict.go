package wire

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The codes of a *BadFrame about an HTTP body.
const (
	CodeBadBody  = "bad_body"
	CodeTooLarge = "too_large"
)

// DecodeBody reads one JSON object of at most limit bytes into the struct that into points at, as strictly as a frame:
// unknown fields, fields that come twice or in another case of letters, null, fractions, exponents, wrong types and
// anything after the object are refused with a *BadFrame. A pointer field must be there, other fields keep the value that
// they had when they are not; inside of lists too.
func DecodeBody(r io.Reader, limit int64, into any) error {
	body, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return &BadFrame{Code: CodeBadBody, Message: "the body could not be read"}
	}
	if int64(len(body)) > limit {
		return &BadFrame{Code: CodeTooLarge, Message: fmt.Sprintf("the body must have at most %d bytes", limit)}
	}
	if refused := unmarshal(body, into, refuseUnknown); refused != nil {
		refused.Code = CodeBadBody
		return refused
	}
	return nil
}

var errNull = errors.New("null")

// refuseNull runs before every value: null would otherwise mean zero to the decoder.
var refuseNull = json.WithUnmarshalers(json.UnmarshalFromFunc(func(d *jsontext.Decoder, _ any) error {
	if d.PeekKind() == jsontext.KindNull {
		return errNull
	}
	return errors.ErrUnsupported // go on as usual
}))

var (
	ignoreUnknown = refuseNull
	refuseUnknown = json.JoinOptions(refuseNull, json.RejectUnknownMembers(true))
)

func unmarshal(text []byte, into any, options json.Options) *BadFrame {
	if !utf8.Valid(text) {
		return badFrame("", "not valid UTF-8")
	}
	if err := json.Unmarshal(text, into, options); err != nil {
		return describe(err)
	}
	if field := missing(reflect.ValueOf(into).Elem()); field != "" {
		return badFrame(field, "field "+quoted(field)+" is missing")
	}
	return nil
}

// describe puts the decoder's error into words that name no Go type.
func describe(err error) *BadFrame {
	if meaning, ok := errors.AsType[*json.SemanticError](err); ok {
		return describeMeaning(meaning)
	}
	syntax, ok := errors.AsType[*jsontext.SyntacticError](err)
	switch {
	case ok && errors.Is(err, jsontext.ErrDuplicateName):
		field := fieldAt(syntax.JSONPointer)
		return badFrame(field, "field "+quoted(field)+" comes twice")
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		return badFrame("", "not valid JSON: it ends too early")
	case ok:
		return badFrame("", fmt.Sprintf("not valid JSON at byte %d", syntax.ByteOffset))
	}
	return badFrame("", "not valid JSON")
}

func describeMeaning(err *json.SemanticError) *BadFrame {
	field := fieldAt(err.JSONPointer)
	switch {
	case errors.Is(err, json.ErrUnknownName):
		return badFrame(field, "unknown field "+quoted(field))
	case field == "":
		return badFrame("", "must be a JSON object")
	case errors.Is(err, errNull):
		return badFrame(field, "field "+quoted(field)+" must not be null")
	case errors.Is(err, strconv.ErrRange):
		return badFrame(field, "field "+quoted(field)+" is out of range")
	}
	return badFrame(field, "field "+quoted(field)+" must be "+expected(err.GoType))
}

// fieldAt writes a place in a document the way people do: tiers[0].cents.
func fieldAt(pointer jsontext.Pointer) string {
	var field strings.Builder
	for token := range pointer.Tokens() {
		switch _, err := strconv.Atoi(token); {
		case field.Len() == 0:
			field.WriteString(token)
		case err == nil:
			field.WriteString("[" + token + "]")
		default:
			field.WriteString("." + token)
		}
	}
	return field.String()
}

func expected(t reflect.Type) string {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil {
		return "something else"
	}
	switch t.Kind() {
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list"
	case reflect.Struct:
		return "an object"
	default:
		return "a whole number, without fraction or exponent"
	}
}

// missing names the first pointer field that nothing was read into, or nothing.
func missing(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Slice:
		for i := range v.Len() {
			if field := missing(v.Index(i)); field != "" {
				return fmt.Sprintf("[%d].%s", i, field)
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			name := v.Type().Field(i).Tag.Get("json")
			if v.Field(i).Kind() == reflect.Pointer && v.Field(i).IsNil() {
				return name
			}
			if field := missing(v.Field(i)); field != "" {
				return name + field // of a list: only lists hold further structs in this API
			}
		}
	}
	return ""
}
