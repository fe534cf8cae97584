package api

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"

	"redrain/internal/game"
)

func (b *fakeStore) BookedClaims(_ context.Context, _ string, after, limit int) ([]game.BookedClaim, error) {
	names := map[string]string{playerA: "=HYPERLINK(\"http://x\",\"小明\")", playerB: "Bob, \"B\""}
	var booked []game.BookedClaim
	for _, claim := range b.claims {
		if claim.Number > after && len(booked) < limit {
			booked = append(booked, game.BookedClaim{Claim: claim, At: 1_800_000_000_123, Nickname: names[claim.Player]})
		}
	}
	return booked, b.record()
}

func (b *fakeStore) RoomBooks(_ context.Context, _, after string, limit int) ([]game.RoundBooks, error) {
	round := b.rounds[1]
	round.ID, round.Phase, round.Reason = unknown, game.Settled, game.Stopped
	all := []game.RoundBooks{
		{Round: b.rounds[1], Booked: game.Total{Packets: 3, Cents: 1505}, Held: 87_295},
		{Round: round, Booked: game.Total{Packets: 2, Cents: 800}, Refunded: 88_000, PaidOut: 300},
	}
	all = all[1+slices.IndexFunc(all, func(books game.RoundBooks) bool { return books.Round.ID == after }):]
	return all[:min(limit, len(all))], b.record()
}

func (b *fakeStore) RoomSum(context.Context, string) (game.RoomSum, error) {
	return game.RoomSum{Budget: 177_600, Booked: game.Total{Packets: 5, Cents: 2305}, Refunded: 88_000, Held: 87_295, PaidOut: 300}, b.record()
}

func (b *fakeStore) Statement(_ context.Context, _ string, yield func([]game.StatementLine) error) error {
	for _, line := range []game.StatementLine{
		{At: 1_800_000_000_000, Round: roundA, Title: "+1 年会", Purpose: "escrow", Cents: -88_800, Balance: -88_800},
		{At: 1_800_000_060_000, Round: roundA, Title: "+1 年会", Purpose: "refund", Cents: 88_000, Balance: -800},
	} {
		if err := yield([]game.StatementLine{line}); err != nil {
			return err
		}
	}
	return b.record()
}

func (b *fakeStore) HostBalance(context.Context, string) (game.Cents, error) {
	return -89_600, b.record()
}

func (b *fakeStore) Payouts(_ context.Context, round string, after, limit int) ([]game.Payout, error) {
	all := []game.Payout{
		{Round: round, Number: 1, Total: game.Total{Packets: 2, Cents: 893}, State: game.PayoutPaid, Attempts: 1, PaidAt: 7},
		{Round: round, Number: 3, Total: game.Total{Packets: 1, Cents: 612}, State: game.PayoutFailed, Attempts: 9, Problem: "answered 500"},
	}
	all = slices.DeleteFunc(all, func(p game.Payout) bool { return p.Number <= after })
	return all[:min(limit, len(all))], b.record()
}

func (b *fakeStore) PayoutSums(context.Context, string) (game.PayoutSums, error) {
	return game.PayoutSums{Planned: true, Paid: game.Total{Packets: 2, Cents: 893}, Failed: game.Total{Packets: 1, Cents: 612}}, b.record()
}

func (b *fakeStore) ResendPayouts(_ context.Context, round string) (int, error) {
	b.changed++
	if _, err := b.Round(context.Background(), round); err != nil {
		return 0, err
	}
	return 1, b.record()
}

func TestClaimsFileIsCSVForSpreadsheets(t *testing.T) {
	r := newTestServer(t)
	response := r.call("GET", "/api/rounds/"+roundA+"/claims.csv", "", asHost)
	want := "\xEF\xBB\xBFnumber,player,nickname,subject,drop,cents,amount,claimed_at\r\n" +
		"1," + playerA + `,"=""=HYPERLINK(""""http://x"""",""""小明"""")""",,9,888,8.88,2027-01-15T08:00:00.123Z` + "\r\n" +
		"2," + playerB + `,"Bob, ""B""",,9,5,0.05,2027-01-15T08:00:00.123Z` + "\r\n" +
		"3," + playerA + `,"=""=HYPERLINK(""""http://x"""",""""小明"""")""",,17,612,6.12,2027-01-15T08:00:00.123Z` + "\r\n"
	if response.Code != 200 || response.Body.String() != want {
		t.Errorf("got %d\n%s\nwant\n%s", response.Code, response.Body, want)
	}
	if got := response.Header(); got.Get("Content-Type") != "text/csv; charset=utf-8" || got.Get("Cache-Control") != "no-store" ||
		got.Get("Content-Disposition") != `attachment; filename="claims-`+roundA+`.csv"` {
		t.Errorf("headers are %v", got)
	}
}

// generatedClaims generates a round's claims, so that they are not in memory.
type generatedClaims struct {
	*fakeStore
	count int
	after func(number int) error
}

func (m generatedClaims) BookedClaims(_ context.Context, _ string, after, limit int) ([]game.BookedClaim, error) {
	page := make([]game.BookedClaim, min(limit, m.count-after))
	for i := range page {
		page[i] = game.BookedClaim{
			Claim: game.Claim{Number: after + i + 1, Player: playerA, Drop: 7, Cents: 100}, At: 1_800_000_000_000, Nickname: strings.Repeat("雨", 24),
		}
	}
	return page, m.after(after)
}

// A million claims make a file of 150 MB, of which the server must hold only a few pages in memory.
func TestMillionClaimsAreStreamedWithConstantMemory(t *testing.T) {
	const count, most = 1_000_000, 24 << 20
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	highest := uint64(0)
	many := generatedClaims{fakeStore: newFakeStore(), count: count, after: func(number int) error {
		if number%50_000 == 0 {
			runtime.ReadMemStats(&now)
			highest = max(highest, now.HeapAlloc)
		}
		return nil
	}}
	r := newTestServer(t, func(o *Options) { o.Exports = many })
	server := httptest.NewServer(r.server)
	defer server.Close()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/api/rounds/"+roundA+"/claims.csv", nil)
	if err != nil {
		t.Fatal(err)
	}
	asHost(r, request)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer http.DefaultClient.CloseIdleConnections()
	defer response.Body.Close()
	rows := csv.NewReader(response.Body)
	rows.ReuseRecord = true
	lines := 0
	for ; ; lines++ {
		if _, err = rows.Read(); err != nil {
			break
		}
	}
	if !errors.Is(err, io.EOF) || lines != count+1 {
		t.Errorf("read %d lines, then %v", lines, err)
	}
	if grown := int64(highest) - int64(before.HeapAlloc); grown > most {
		t.Errorf("the heap grew by %d MB", grown>>20)
	}
}

// If the ledger fails in the middle of a file, the client must not take it for a complete one.
func TestConnectionIsClosedWhenAFileCannotBeCompleted(t *testing.T) {
	many := generatedClaims{fakeStore: newFakeStore(), count: 50_000, after: func(number int) error {
		if number > 20_000 {
			return errors.New("database went away")
		}
		return nil
	}}
	r := newTestServer(t, func(o *Options) { o.Exports = many })
	server := httptest.NewServer(r.server)
	defer server.Close()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/api/rounds/"+roundA+"/claims.csv", nil)
	if err != nil {
		t.Fatal(err)
	}
	asHost(r, request)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if text, err := io.ReadAll(response.Body); err == nil {
		t.Errorf("%d bytes look like a whole file", len(text))
	}
}

func TestFileErrorBeforeTheFirstRowIsARefusal(t *testing.T) {
	r := newTestServer(t)
	r.store.fail = errors.New("database went away")
	wantRefused(t, r.call("GET", "/api/rounds/"+roundA+"/claims.csv", "", asHost), 500, "fault")
}

func TestRoomBooksAddUp(t *testing.T) {
	r := newTestServer(t)
	var shown roomBooksPage
	if err := json.Unmarshal(r.call("GET", "/api/rooms/raxn88/books", "", asHost).Body.Bytes(), &shown); err != nil {
		t.Fatal(err)
	}
	want := booksSum{BudgetCents: 177_600, Claims: 5, ClaimedCents: 2305, RefundedCents: 88_000, HeldCents: 87_295, PaidOutCents: 300}
	if shown.Sum != want || len(shown.Rounds) != 2 || shown.Rounds[1].Books.RefundedCents != 88_000 || shown.BalanceCents != -89_600 {
		t.Errorf("got %+v", shown)
	}
	if s := shown.Sum; s.ClaimedCents+s.RefundedCents+s.HeldCents != s.BudgetCents || -shown.BalanceCents != s.ClaimedCents+s.HeldCents {
		t.Errorf("%+v does not add up", shown)
	}
}

func TestRoomBooksArePaged(t *testing.T) {
	r := newTestServer(t)
	for query, want := range map[string]struct {
		rounds []string
		next   string
	}{
		"": {[]string{roundA, unknown}, ""}, "?limit=1": {[]string{roundA}, roundA}, "?limit=1&after=" + roundA: {[]string{unknown}, unknown},
		"?limit=1&after=" + unknown: {nil, ""},
	} {
		var shown roomBooksPage
		if err := json.Unmarshal(r.call("GET", "/api/rooms/RAXN88/books"+query, "", asHost).Body.Bytes(), &shown); err != nil {
			t.Fatal(err)
		}
		var rounds []string
		for _, round := range shown.Rounds {
			rounds = append(rounds, round.Round)
		}
		if !slices.Equal(rounds, want.rounds) || shown.Next != want.next || shown.Sum.Claims != 5 {
			t.Errorf("%s: got %+v", query, shown)
		}
	}
	wantRefused(t, r.call("GET", "/api/rooms/RAXN88/books?after=x", "", asHost), 404, "round_not_found")
}

func TestLongStatementShowsItsLastLinesAndExportsAll(t *testing.T) {
	many := generatedStatement{newFakeStore(), 3 * maxStatementLines}
	r := newTestServer(t, func(o *Options) { o.Exports = many })
	var shown statementAnswer
	if err := json.Unmarshal(r.call("GET", "/api/rooms/RAXN88/statement", "", asHost).Body.Bytes(), &shown); err != nil {
		t.Fatal(err)
	}
	if len(shown.Lines) != maxStatementLines || shown.Lines[0].BalanceCents != 2*maxStatementLines+1 || shown.BalanceCents != 3*maxStatementLines {
		t.Errorf("%d lines, from %+v to a balance of %d", len(shown.Lines), shown.Lines[0], shown.BalanceCents)
	}
	if lines := strings.Count(r.call("GET", "/api/rooms/RAXN88/statement.csv", "", asHost).Body.String(), "\r\n"); lines != 1+3*maxStatementLines {
		t.Errorf("the file has %d lines", lines)
	}
	many.fail = errors.New("database went away")
	wantRefused(t, r.call("GET", "/api/rooms/RAXN88/statement.csv", "", asHost), 500, "fault")
}

// generatedStatement is a long statement.
type generatedStatement struct {
	*fakeStore
	count int
}

func (m generatedStatement) Statement(_ context.Context, _ string, yield func([]game.StatementLine) error) error {
	if err := m.record(); err != nil {
		return err
	}
	for i := range m.count {
		if err := yield([]game.StatementLine{{At: game.Moment(i), Round: roundA, Cents: 1, Balance: game.Cents(i + 1)}}); err != nil {
			return err
		}
	}
	return nil
}

func TestStatement(t *testing.T) {
	r := newTestServer(t)
	line := func(at, purpose string, cents, balance int) string {
		return fmt.Sprintf(`{"at":%s,"round":%q,"title":"+1 年会","purpose":%q,"cents":%d,"balance_cents":%d}`, at, roundA, purpose, cents, balance)
	}
	wantJSON(t, r.call("GET", "/api/rooms/RAXN88/statement", "", asHost), 200, `{"lines":[`+line("1800000000000", "escrow", -88800, -88800)+`,`+
		line("1800000060000", "refund", 88000, -800)+`],"balance_cents":-800}`)
	want := "\xEF\xBB\xBFat,round,title,purpose,cents,amount,balance_cents,balance\r\n" +
		"2027-01-15T08:00:00.000Z," + roundA + ",\"=\"\"+1 年会\"\"\",escrow,-88800,-888.00,-88800,-888.00\r\n" +
		"2027-01-15T08:01:00.000Z," + roundA + ",\"=\"\"+1 年会\"\"\",refund,88000,880.00,-800,-8.00\r\n"
	if got := r.call("GET", "/api/rooms/RAXN88/statement.csv", "", asHost).Body.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestPayoutsAreShownAndResent(t *testing.T) {
	r := newTestServer(t)
	path := "/api/rounds/" + roundA + "/payouts"
	paid := `{"id":"payout_` + roundA + `_1","number":1,"claims":2,"cents":893,"state":"paid","attempts":1,"problem":"","due_at":0,"paid_at":7}`
	failed := `{"id":"payout_` + roundA + `_3","number":3,"claims":1,"cents":612,"state":"failed","attempts":9,"problem":"answered 500","due_at":0,"paid_at":0}`
	sums := `"sums":{"planned":true,"pending":{"claims":0,"cents":0},"paid":{"claims":2,"cents":893},"failed":{"claims":1,"cents":612}}`
	wantJSON(t, r.call("GET", path, "", asHost), 200, `{"payouts":[`+paid+`,`+failed+`],"next":0,`+sums+`}`)
	wantJSON(t, r.call("GET", path+"?limit=1", "", asHost), 200, `{"payouts":[`+paid+`],"next":1,`+sums+`}`)
	wantJSON(t, r.call("GET", path+"?after=1&limit=2", "", asHost), 200, `{"payouts":[`+failed+`],"next":0,`+sums+`}`)
	wantRefused(t, r.call("GET", path+"?limit=0", "", asHost), 400, "bad_request")
	if r.store.changed != 0 {
		t.Errorf("reading changed %d things", r.store.changed)
	}
	wantJSON(t, r.call("POST", path+"/resend", "", asHost), 200, `{"payouts":1}`)
	wantRefused(t, r.call("POST", path+"/resend", `{"all":true}`, asHost), 400, "bad_body")
	wantRefused(t, r.call("POST", "/api/rounds/"+unknown+"/payouts/resend", "", asHost), 404, "round_not_found")
	r.store.fail = fmt.Errorf("send: %w", game.ErrOff)
	wantRefused(t, r.call("POST", path+"/resend", "", asHost), 409, "payouts_off")
}

func TestExportsAreOnlyForHosts(t *testing.T) {
	r := newTestServer(t)
	for _, path := range []string{
		"rounds/" + roundA + "/claims.csv", "rounds/" + roundA + "/claims.xlsx", "rooms/RAXN88/statement.xlsx", "rounds/" + roundA + "/payouts", "rooms/RAXN88/books", "rooms/RAXN88/statement", "rooms/RAXN88/statement.csv",
	} {
		wantRefused(t, r.call("GET", "/api/"+path, ""), 401, "unauthorized")
		wantRefused(t, r.call("GET", "/api/"+path, "", asPlayer(code, playerA)), 401, "unauthorized")
		for _, none := range []string{"7", "..%2F..%2Fetc", unknown, "NRNE22"} {
			missing := strings.NewReplacer(roundA, none, code, none).Replace(path)
			kind, _, _ := strings.Cut(strings.TrimSuffix(path, "s"), "s/")
			wantRefused(t, r.call("GET", "/api/"+missing, "", asHost), 404, kind+"_not_found")
		}
	}
	wantRefused(t, r.call("POST", "/api/rounds/"+roundA+"/payouts/resend", "", asPlayer(code, playerA)), 401, "unauthorized")
	if r.store.changed != 0 {
		t.Errorf("changed %d things", r.store.changed)
	}
}
