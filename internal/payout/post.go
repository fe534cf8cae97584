package payout

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"redrain/internal/game"
)

// message is the body of a POST. It is the same for every attempt.
type message struct {
	Type      string  `json:"type"`
	Timestamp string  `json:"timestamp"` // when the payout was made
	Data      content `json:"data"`
}

type content struct {
	Room   string     `json:"room"`
	Round  string     `json:"round"`
	Cents  game.Cents `json:"cents"`
	Claims []claim    `json:"claims"`
}

// claim names whom to credit. Subject is the player's id in the host's own system, empty for players who joined by themselves.
type claim struct {
	Number  int        `json:"number"`
	Player  string     `json:"player"`
	Subject string     `json:"subject"`
	Cents   game.Cents `json:"cents"`
}

func encodeBody(payout game.Payout) ([]byte, error) {
	m := message{
		Type: "payout", Timestamp: time.UnixMilli(int64(payout.MadeAt)).UTC().Format("2006-01-02T15:04:05.000Z"),
		Data: content{Room: payout.Room, Round: payout.Round, Cents: payout.Total.Cents, Claims: make([]claim, len(payout.Claims))},
	}
	for i, c := range payout.Claims {
		m.Data.Claims[i] = claim{c.Number, c.Player, c.Subject, c.Cents}
	}
	body, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("write the body: %w", err)
	}
	return body, nil
}

// maxResponseBytes bounds how many bytes of a response are read, which is needed to reuse its connection.
const maxResponseBytes = 64 << 10

// post returns nil if the receiver has accepted the payout. Errors do not contain the address, which may be secret.
func (s *Sender) post(ctx context.Context, payout game.Payout) error {
	body, err := encodeBody(payout)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.options.Target.address, bytes.NewReader(body))
	if err != nil {
		return errors.New("the address is no address")
	}
	at := s.options.Now().Unix()
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "redrain")
	request.Header.Set("Webhook-Id", payout.ID())
	request.Header.Set("Webhook-Timestamp", strconv.FormatInt(at, 10))
	request.Header.Set("Webhook-Signature", s.options.Secret.sign(payout.ID(), at, body))
	response, err := s.client.Do(request)
	if err != nil {
		var failed *url.Error
		if errors.As(err, &failed) {
			err = failed.Err
		}
		return fmt.Errorf("no answer: %w", err)
	}
	defer response.Body.Close()
	_, _ = io.CopyN(io.Discard, response.Body, maxResponseBytes) // only the status matters
	switch code := response.StatusCode; {
	case code >= 200 && code <= 299:
		return nil
	case code >= 300 && code <= 399:
		return fmt.Errorf("answered %d: redirects are not followed", code)
	default:
		return fmt.Errorf("answered %d", code)
	}
}
