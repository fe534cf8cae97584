package bots

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"redrain/internal/game"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeBooks keep rehearsals of one room in memory.
type fakeBooks struct {
	mu     sync.Mutex
	list   []game.Rehearsal // the newest first
	rounds []game.Round
}

func (b *fakeBooks) Stage(_ context.Context, room string) (game.Room, error) {
	return game.Room{Code: "STAGE2", StageOf: room}, nil
}

func (b *fakeBooks) CreateRound(_ context.Context, room string, settings game.Settings, rehearsal bool) (game.Round, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rounds = append(b.rounds, game.Round{ID: strings.Repeat("r", len(b.rounds)+1), Room: room, Settings: settings, Rehearsal: rehearsal})
	return b.rounds[len(b.rounds)-1], nil
}

func (b *fakeBooks) AddSubject(_ context.Context, room, subject, nickname string) (game.Player, error) {
	return game.Player{ID: subject, Room: room, Nickname: nickname, Subject: subject}, nil
}

func (b *fakeBooks) NoteRehearsal(_ context.Context, r game.Rehearsal) (game.Rehearsal, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r.State, r.BegunAt = game.RehearsalRunning, time.Now()
	b.list = append([]game.Rehearsal{r}, b.list...)
	return r, nil
}

func (b *fakeBooks) EndRehearsal(_ context.Context, round string, report []byte, problem string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range b.list {
		if b.list[i].Round == round {
			b.list[i].State, b.list[i].Report, b.list[i].Problem = game.RehearsalDone, report, problem
			if problem != "" {
				b.list[i].State = game.RehearsalFailed
			}
		}
	}
	return nil
}

func (b *fakeBooks) Rehearsals(_ context.Context, _ string, limit int) ([]game.Rehearsal, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]game.Rehearsal(nil), b.list[:min(limit, len(b.list))]...), nil
}

type fakeSessions struct{}

func (fakeSessions) NewHostToken() (string, error)              { return "host", nil }
func (fakeSessions) NewPlayerToken(_, _ string) (string, error) { return "player", nil }

// rehearsals are over these books, on an instance at this address; over is told of each end.
func rehearsals(books *fakeBooks, address string) (r *Rehearsals, over chan string) {
	over = make(chan string, 10)
	changed := func(_ context.Context, room string) { over <- room }
	return NewRehearsals(books, fakeSessions{}, func() string { return address }, changed, slog.New(slog.DiscardHandler)), over
}

// closedAddress is one at which nobody listens.
func closedAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return "http://" + listener.Addr().String()
}

func begin(t *testing.T, r *Rehearsals) {
	t.Helper()
	if _, err := r.Rehearse(t.Context(), "RAXN88", game.DefaultSettings(), 3, 1); err != nil {
		t.Fatal(err)
	}
}

func TestFailedRehearsalRecordsWhy(t *testing.T) {
	books := &fakeBooks{}
	r, over := rehearsals(books, closedAddress(t))
	defer r.Close()
	begin(t, r)
	if room := <-over; room != "RAXN88" {
		t.Errorf("the hosts of %s were told", room)
	}
	list, err := r.Rehearsals(t.Context(), "RAXN88")
	if err != nil || len(list) != 1 || list[0].State != game.RehearsalFailed || !strings.Contains(list[0].Problem, "refused") {
		t.Errorf("got %+v, %v", list, err)
	}
	if round := books.rounds[0]; round.Room != "STAGE2" || !round.Rehearsal {
		t.Errorf("the round was made as %+v", round)
	}
	begin(t, r) // one that has failed is in nobody's way
	<-over
}

func TestOneRehearsalOfARoomAtATime(t *testing.T) {
	arrived, leave := make(chan struct{}, 10), make(chan struct{})
	instance := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		arrived <- struct{}{}
		<-leave
		http.Error(w, "{}", http.StatusServiceUnavailable)
	}))
	defer instance.Close()
	books := &fakeBooks{}
	r, over := rehearsals(books, instance.URL)
	begin(t, r)
	select {
	case <-arrived:
	case <-over:
		t.Fatalf("the bots did not come in: %+v", books.list)
	}
	if _, err := r.Rehearse(t.Context(), "RAXN88", game.DefaultSettings(), 3, 1); !errors.Is(err, game.ErrRoomBusy) {
		t.Errorf("a second one: %v", err)
	}
	close(leave)
	<-over
	r.Close()
}

// An instance that stops does not wait until its bots have played to the end, and records why there is no report.
func TestCloseCancelsARehearsal(t *testing.T) {
	leave := make(chan struct{})
	arrived := make(chan struct{}, 10)
	instance := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		arrived <- struct{}{}
		select {
		case <-leave:
		case <-q.Context().Done():
		}
	}))
	defer instance.Close()
	defer close(leave)
	books := &fakeBooks{}
	r, _ := rehearsals(books, instance.URL)
	begin(t, r)
	<-arrived
	r.Close()
	r.Close()
	if got := books.list[0]; got.State != game.RehearsalFailed || got.Problem != "the server was stopped meanwhile" {
		t.Errorf("got %+v", got)
	}
}

// A rehearsal whose instance died does not block the room for ever.
func TestARehearsalOfADeadInstanceIsOver(t *testing.T) {
	books := &fakeBooks{list: []game.Rehearsal{{Round: "old", State: game.RehearsalRunning, BegunAt: time.Now().Add(-rehearsalLimit - time.Second)}}}
	r, over := rehearsals(books, closedAddress(t))
	defer r.Close()
	list, err := r.Rehearsals(t.Context(), "RAXN88")
	if err != nil || list[0].State != game.RehearsalFailed || list[0].Problem == "" {
		t.Errorf("got %+v, %v", list, err)
	}
	begin(t, r)
	<-over
}

// slowBooks hangs for one room until its caller's context ends.
type slowBooks struct {
	*fakeBooks
	asked chan string
}

func (b *slowBooks) Rehearsals(ctx context.Context, room string, _ int) ([]game.Rehearsal, error) {
	b.asked <- room
	if room != "SLOWXX" {
		return nil, game.ErrNotFound
	}
	<-ctx.Done()
	return nil, ctx.Err()
}

// While the database hangs for one room, rehearsals of other rooms can start.
func TestRehearsalsOfOtherRoomsDoNotWait(t *testing.T) {
	books := &slowBooks{fakeBooks: &fakeBooks{}, asked: make(chan string, 3)}
	r := NewRehearsals(books, fakeSessions{}, nil, nil, slog.New(slog.DiscardHandler))
	defer r.Close()
	rehearse := func(ctx context.Context, room string) error {
		_, err := r.Rehearse(ctx, room, game.DefaultSettings(), 3, 1)
		return err
	}
	ctx, leave := context.WithCancel(t.Context())
	slow := make(chan error)
	go func() { slow <- rehearse(ctx, "SLOWXX") }()
	<-books.asked
	if err := rehearse(t.Context(), "SLOWXX"); !errors.Is(err, game.ErrRoomBusy) {
		t.Errorf("the same room: %v", err)
	}
	if err := rehearse(t.Context(), "OTHERX"); !errors.Is(err, game.ErrNotFound) {
		t.Errorf("another room: %v", err)
	}
	leave()
	if err := <-slow; !errors.Is(err, context.Canceled) {
		t.Errorf("who left: %v", err)
	}
}
