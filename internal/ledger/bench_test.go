package ledger_test

import (
	"fmt"
	"testing"

	"github.com/google/uuid"

	"redrain/internal/game"
	"redrain/internal/ledger"
)

// BenchmarkBook books a storm's claims, 256 an entry and 5,120 a transaction, each by another player of 20,000, as one
// settler does; claims/s is what it is about.
func BenchmarkBook(b *testing.B) {
	for name, newDatabase := range databases {
		b.Run(name, func(b *testing.B) {
			l := openLedger(b, newDatabase(b))
			round := begunRound(b, l, game.MaxPackets, 10*game.MaxPackets)
			const entries, each = 20, 256
			players := make([]string, 20_000)
			for i := range players {
				players[i] = uuid.NewString()
			}
			number := 0
			b.ResetTimer()
			for b.Loop() {
				batch := make([]game.Entry, entries)
				for i := range batch {
					batch[i] = game.Entry{ID: fmt.Sprint(number, "-0"), At: game.Moment(number)}
					for range each {
						number++
						claim := game.Claim{Player: players[number*7919%len(players)], Drop: game.DropID(number), Cents: 7, Number: number}
						batch[i].Claims = append(batch[i].Claims, claim)
					}
				}
				if booked, err := l.Book(b.Context(), round.ID, batch); err != nil || booked.Claims != entries*each {
					b.Fatal(booked, err)
				}
			}
			b.ReportMetric(float64(number)/b.Elapsed().Seconds(), "claims/s")
		})
	}
}

// begunRound is a round of so many packets and cents in its countdown.
func begunRound(t testing.TB, l *ledger.Ledger, packets int, total game.Cents) game.Round {
	t.Helper()
	settings := game.DefaultSettings()
	settings.Packets, settings.Total = packets, total
	draft := must[game.Round](t)(l.CreateRound(t.Context(), newRoom(t, l), settings, false))
	return must[game.Round](t)(l.Begin(t.Context(), draft.ID, game.NewSecret()))
}
