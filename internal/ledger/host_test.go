package ledger_test

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"redrain/internal/game"
	"redrain/internal/ledger"
)

func ids(rounds []game.Round) []string {
	list := make([]string, len(rounds))
	for i, round := range rounds {
		list[i] = round.ID
	}
	return list
}

// drafts are a room's drafts in the order of their places.
func drafts(t *testing.T, l *ledger.Ledger, room string) []string {
	t.Helper()
	return ids(must[[]game.Round](t)(l.Drafts(t.Context(), room, 10)))
}

func TestDraftsHaveAnOrderThatTheHostCanChange(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l := open(ledger.WithClock(newTickingClock()))
		room, other := newRoom(t, l), newRoom(t, l)
		first := newRound(t, l, room).ID
		made := ids(must[[]game.Round](t)(l.CreateRounds(t.Context(), room, []game.Settings{someSettings(), someSettings()})))
		if got, want := drafts(t, l, room), append([]string{first}, made...); !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v: as they were made", got, want)
		}
		foreign := newRound(t, l, other)
		want := []string{made[1], first, made[0]}
		if err := l.OrderDrafts(t.Context(), room, append(want, foreign.ID)); err != nil {
			t.Fatal(err)
		}
		if got := drafts(t, l, room); !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		if again := must[game.Round](t)(l.Round(t.Context(), foreign.ID)); again.Place != foreign.Place {
			t.Error("ordering one room has moved another's draft")
		}
	})
}

func TestOnlyDraftsThatAreDueStartByThemselves(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l := open(ledger.WithClock(newTickingClock()))
		room := newRoom(t, l)
		byHand, due, later, begun := newRound(t, l, room), newRound(t, l, room), newRound(t, l, room), newRound(t, l, room)
		for id, on := range map[string]game.Moment{due.ID: 1000, later.ID: 1001, begun.ID: 1000} {
			if planned := must[game.Round](t)(l.PlanStart(t.Context(), id, on)); planned.StartsOn != on {
				t.Errorf("planned for %d, want %d", planned.StartsOn, on)
			}
		}
		must[game.Round](t)(l.Begin(t.Context(), begun.ID, game.NewSecret()))
		if got := ids(must[[]game.Round](t)(l.DueRounds(t.Context(), 1000))); !slices.Equal(got, []string{due.ID}) {
			t.Errorf("got %v, want %s alone; by hand: %s", got, due.ID, byHand.ID)
		}
		if _, err := l.PlanStart(t.Context(), begun.ID, 5); !errors.Is(err, game.ErrWrongPhase) {
			t.Errorf("a round that runs was planned: %v", err)
		}
		must[game.Round](t)(l.PlanStart(t.Context(), due.ID, 0))
		if got := must[[]game.Round](t)(l.DueRounds(t.Context(), 1000)); len(got) > 0 {
			t.Errorf("a plan that was taken back is still due: %v", ids(got))
		}
	})
}

func TestOnlyDraftsCanBeDropped(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l := open()
		room := newRoom(t, l)
		draft, begun := newRound(t, l, room), newRound(t, l, room)
		must[game.Round](t)(l.Begin(t.Context(), begun.ID, game.NewSecret()))
		if err := l.DropDraft(t.Context(), draft.ID); err != nil {
			t.Fatal(err)
		}
		if err := l.DropDraft(t.Context(), draft.ID); !errors.Is(err, game.ErrNotFound) {
			t.Errorf("dropped twice: %v", err)
		}
		if err := l.DropDraft(t.Context(), begun.ID); !errors.Is(err, game.ErrWrongPhase) {
			t.Errorf("a round that was begun: %v", err)
		}
		must[game.Round](t)(l.Round(t.Context(), begun.ID))
	})
}

func TestOnlyDraftsCanBeChanged(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l := open()
		room := newRoom(t, l)
		draft, begun := newRound(t, l, room), newRound(t, l, room)
		must[game.Round](t)(l.PlanStart(t.Context(), draft.ID, 1000))
		settings := game.DefaultSettings()
		settings.Title, settings.Total, settings.Packets, settings.Split, settings.Deal = "压轴", 500, 2, game.SplitDealt, game.DealTiers
		settings.Tiers = []game.Tier{{Packets: 1, Cents: 400}, {Packets: 1, Cents: 100}}
		changed := must[game.Round](t)(l.ChangeDraft(t.Context(), draft.ID, settings))
		if !reflect.DeepEqual(changed.Settings, settings) || changed.Place != draft.Place || changed.StartsOn != 1000 {
			t.Errorf("got %+v, want %+v in place %d", changed, settings, draft.Place)
		}
		must[game.Round](t)(l.Begin(t.Context(), begun.ID, game.NewSecret()))
		if _, err := l.ChangeDraft(t.Context(), begun.ID, settings); !errors.Is(err, game.ErrWrongPhase) {
			t.Errorf("a round that was begun: %v", err)
		}
		if again := must[game.Round](t)(l.Round(t.Context(), begun.ID)); !reflect.DeepEqual(again.Settings, begun.Settings) {
			t.Error("a round that was begun has other settings")
		}
		if _, err := l.ChangeDraft(t.Context(), "nobody", settings); !errors.Is(err, game.ErrNotFound) {
			t.Errorf("no round: %v", err)
		}
	})
}

func TestARoomHasOneHiddenLockedRoomForRehearsals(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l := open()
		room := newRoom(t, l)
		stage := must[game.Room](t)(l.Stage(t.Context(), room))
		if stage.StageOf != room || !stage.Locked || stage.Code == room {
			t.Errorf("got %+v", stage)
		}
		if again := must[game.Room](t)(l.Stage(t.Context(), room)); again.Code != stage.Code {
			t.Error("a room has two stages")
		}
		if summaries := must[[]game.RoomSummary](t)(l.RoomSummaries(t.Context(), "", 10)); len(summaries) != 1 || summaries[0].Room.Code != room {
			t.Errorf("got %+v", summaries)
		}
		if _, err := l.Stage(t.Context(), "NOBODY"); !errors.Is(err, game.ErrNotFound) {
			t.Errorf("the stage of no room: %v", err)
		}
	})
}

func TestPlayersAreRenamedAndBlockedInTheirRoomOnly(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l := open()
		room, other := newRoom(t, l), newRoom(t, l)
		ann := must[game.Player](t)(l.AddPlayer(t.Context(), room, "Ann"))
		if got := must[game.Player](t)(l.RenamePlayer(t.Context(), room, ann.ID, "Anna")); got.Nickname != "Anna" {
			t.Errorf("got %+v", got)
		}
		if got := must[game.Player](t)(l.BlockPlayer(t.Context(), room, ann.ID, true)); !got.Blocked {
			t.Errorf("got %+v", got)
		}
		if got := must[[]string](t)(l.Blocked(t.Context(), room)); !slices.Equal(got, []string{ann.ID}) {
			t.Errorf("blocked are %v", got)
		}
		if _, err := l.BlockPlayer(t.Context(), other, ann.ID, false); !errors.Is(err, game.ErrNotFound) {
			t.Errorf("from another room: %v", err)
		}
		if got := must[[]string](t)(l.Blocked(t.Context(), other)); len(got) > 0 {
			t.Errorf("blocked in the other room: %v", got)
		}
		must[game.Player](t)(l.BlockPlayer(t.Context(), room, ann.ID, false))
		if got := must[[]string](t)(l.Blocked(t.Context(), room)); len(got) > 0 {
			t.Errorf("blocked are %v", got)
		}
	})
}

func TestASubjectIsOnePlayerInARoom(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l := open()
		room, other := newRoom(t, l), newRoom(t, l)
		first := must[game.Player](t)(l.AddSubject(t.Context(), room, "emp-7", "王芳"))
		if again := must[game.Player](t)(l.AddSubject(t.Context(), room, "emp-7", "Wang")); again.ID != first.ID {
			t.Error("one subject is two players")
		}
		if elsewhere := must[game.Player](t)(l.AddSubject(t.Context(), other, "emp-7", "王芳")); elsewhere.ID == first.ID {
			t.Error("one player is in two rooms")
		}
		// Those who come in by themselves have no subject, and do not collide.
		must[game.Player](t)(l.AddPlayer(t.Context(), room, "a"))
		must[game.Player](t)(l.AddPlayer(t.Context(), room, "b"))
		if _, err := l.PlayerOfSubject(t.Context(), room, "emp-8"); !errors.Is(err, game.ErrNotFound) {
			t.Errorf("a subject that never came: %v", err)
		}
	})
}

func TestRehearsalsAreNotedAndEndOnce(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l := open(ledger.WithClock(newTickingClock()))
		room := newRoom(t, l)
		for _, round := range []string{"c", "a", "b"} {
			must[game.Rehearsal](t)(l.NoteRehearsal(t.Context(), game.Rehearsal{Round: round, Room: room, Players: 50, Rate: 2.5}))
		}
		if err := l.EndRehearsal(t.Context(), "a", []byte(`{"taps":1}`), ""); err != nil {
			t.Fatal(err)
		}
		if err := l.EndRehearsal(t.Context(), "a", nil, "too late"); err != nil {
			t.Fatal(err)
		}
		if err := l.EndRehearsal(t.Context(), "c", nil, strings.Repeat("坏", 1000)); err != nil {
			t.Fatal(err)
		}
		got := must[[]game.Rehearsal](t)(l.Rehearsals(t.Context(), room, 10))
		if len(got) != 3 || got[0].Round != "b" || got[0].State != game.RehearsalRunning || got[0].Report != nil || got[0].Rate != 2.5 {
			t.Fatalf("got %+v", got)
		}
		if a := got[1]; a.State != game.RehearsalDone || string(a.Report) != `{"taps":1}` || a.Problem != "" {
			t.Errorf("got %+v", a)
		}
		if c := got[2]; c.State != game.RehearsalFailed || !strings.HasPrefix(c.Problem, "坏坏") || !utf8.ValidString(c.Problem) {
			t.Errorf("got %+v", c)
		}
	})
}

// A player looks back on rounds with sums.
func TestPlayersSeeTheirPastRoundsWithSums(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, open func(...ledger.Option) *ledger.Ledger) {
		l := open(ledger.WithClock(newTickingClock()))
		room := newRoom(t, l)
		round := newRound(t, l, room)
		must[game.Round](t)(l.Begin(t.Context(), round.ID, game.NewSecret()))
		ann := must[game.Player](t)(l.AddPlayer(t.Context(), room, "ann")).ID
		claims := []game.Claim{
			{Number: 1, Player: ann, Drop: 1, Cents: 30}, {Number: 2, Player: "bob", Drop: 1, Cents: 50},
			{Number: 3, Player: ann, Drop: 2, Cents: 20}, {Number: 4, Player: "cid", Drop: 1, Cents: 51},
		}
		must[game.Booked](t)(l.Book(t.Context(), round.ID, []game.Entry{{ID: "1-0", At: 5, Claims: claims}}))
		if played := must[[]game.PlayedRound](t)(l.PlayedBy(t.Context(), ann, 10)); len(played) != 1 ||
			played[0].Packets != 2 || played[0].Cents != 50 || played[0].Round.ID != round.ID {
			t.Errorf("got %+v", played)
		}
		settle(t, l, round.ID, game.Total{Packets: 4, Cents: 151}, round.Settings.Total-151)
		if balance := must[game.Cents](t)(l.Balance(t.Context(), ann)); balance != 50 {
			t.Errorf("ann has %d cents, want 50", balance)
		}
		if balance := must[game.Cents](t)(l.Balance(t.Context(), "nobody")); balance != 0 {
			t.Errorf("nobody has %d cents", balance)
		}
		summary := must[[]game.RoomSummary](t)(l.RoomSummaries(t.Context(), "", 10))[0]
		if summary.Drafts != 0 || summary.Played != 1 || summary.Given != 151 || summary.Active != "" {
			t.Errorf("got %+v", summary)
		}
	})
}

// settle closes a round whose claims the ledger holds, and refunds the rest.
func settle(t *testing.T, l *ledger.Ledger, id string, claimed game.Total, rest game.Cents) {
	t.Helper()
	must[game.Round](t)(l.NoteClosed(t.Context(), id, game.Stopped, claimed))
	refund := &game.Refund{Reason: game.Stopped, At: 9, Claimed: claimed, Cents: rest}
	must[game.Booked](t)(l.Book(t.Context(), id, []game.Entry{{ID: "2-0", At: 9, Refund: refund}}))
	must[game.RefundStep](t)(l.ApplyRefund(t.Context(), id))
	if settled := must[game.Round](t)(l.NoteSettled(t.Context(), id)); settled.Phase != game.Settled {
		t.Fatalf("the round is %s", settled.Phase)
	}
}
