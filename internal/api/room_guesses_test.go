package api

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// guessRooms tries many codes of no room at one moment, and returns how many were answered that there is none.
func guessRooms(r *testServer, tries int, address string) int {
	answers := make(chan int, tries)
	for n := range tries {
		go func() {
			code := fmt.Sprintf("AAA%c%c%c", 'A'+n/100%10, "BCDEFGHJKM"[n/10%10], "BCDEFGHJKM"[n%10])
			answers <- r.call("GET", "/api/rooms/"+code, "", withRemoteAddr(address)).Code
		}()
	}
	found := 0
	for range tries {
		if got := <-answers; got == 404 {
			found++
		}
	}
	return found
}

// A program tried all codes, as fast as the server answered.
func TestGuessingRoomsIsLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestServer(t, func(o *Options) { o.Now = time.Now })
		began := time.Now()
		most := guessBurst + int(guessRate*maxGuessDelay.Seconds())
		if got := guessRooms(r, 500, "203.0.113.7:1"); got != most || time.Since(began) > maxGuessDelay {
			t.Errorf("%d guesses were answered, want %d", got, most)
		}
	})
}

// Guests of a hall come in while somebody beside them guesses: the first has found the room before.
func TestGuestsDoNotWaitBesideWhoGuesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTestServer(t, func(o *Options) { o.Now = time.Now })
		const hall = "203.0.113.7:1"
		if got := r.call("GET", "/api/rooms/RAXN88", "", withRemoteAddr(hall)).Code; got != 200 {
			t.Fatalf("the first guest: %d", got)
		}
		go guessRooms(r, 500, hall)
		synctest.Wait()
		began := time.Now()
		for range 200 {
			if got := r.call("POST", "/api/rooms/RAXN88/players", `{"nickname":"a"}`, withRemoteAddr(hall)).Code; got != 201 {
				t.Fatalf("a guest: %d", got)
			}
		}
		if got := r.call("GET", "/api/rooms/NRNE22", "", withRemoteAddr(hall), asHost).Code; got != 404 {
			t.Errorf("the host: %d", got)
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("they waited for %v", took)
		}
		if got := r.call("GET", "/api/rooms/NRNE22", "", withRemoteAddr(hall)).Code; got != 429 {
			t.Errorf("a room that nobody there knows: %d, so a guess that is right shows", got)
		}
		time.Sleep(time.Minute) //nolint:forbidigo // the bubble's clock
	})
}

// 1,000 guests of one hall join in the first minute. Somebody who goes on for an hour does not become 100,000 players.
func TestJoinsOfAnHourAreBounded(t *testing.T) {
	r := newTestServer(t, func(o *Options) { o.JoinsPerHour = 5000 })
	joined := 0
	for second := range 3600 {
		for range joinRate + 1 {
			switch got := r.call("POST", "/api/rooms/RAXN88/players", `{"nickname":"a"}`).Code; got {
			case 201:
				joined++
			case 429:
			default:
				t.Fatalf("got %d", got)
			}
			if joined == 10_000 {
				break
			}
		}
		if second == 59 && joined < 1000 {
			t.Errorf("%d players in the first minute", joined)
		}
		r.clock.advance(time.Second)
	}
	if joined < 5000 || joined > 10_000 {
		t.Errorf("%d players of one address in an hour", joined)
	}
}

func TestAFullRoomTakesNobodyElse(t *testing.T) {
	r := newTestServer(t)
	r.server.joins.perRoom = len(r.store.players) + 2
	for n := range 4 {
		answer := r.call("POST", "/api/rooms/RAXN88/players", `{"nickname":"a"}`)
		if n < 2 && answer.Code != 201 {
			t.Errorf("player %d: got %d", 1+n, answer.Code)
		}
		if n >= 2 {
			wantRefused(t, answer, 403, "room_full")
		}
	}
	token, err := r.server.Sessions.NewPlayerToken(code, playerA)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.call("POST", "/api/rooms/RAXN88/players", `{"nickname":"a"}`, withBearerToken(token)).Code; got != 201 {
		t.Errorf("one who comes back: got %d", got)
	}
}
