package live

import (
	"testing"
	"testing/synctest"
	"time"

	"redrain/internal/game"
	"redrain/internal/wire"
)

// The rooms' lock was held while leases were given back: whatever was heard from Redis waited for that.
func TestHearDoesNotWaitForClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		synctest.Wait()
		held, let := make(chan struct{}), make(chan struct{})
		r.world.set(func(w *world) {
			w.before = func(what string) {
				if what == "report" {
					w.set(func(w *world) { w.before = nil })
					close(held)
					<-let
				}
			}
		})
		closed := make(chan struct{})
		go func() { r.rooms.Close(); close(closed) }()
		<-held
		heard := make(chan struct{})
		go func() {
			r.rooms.Hear(game.Heard{Room: code, Notice: wire.Encode(wire.Notice{Code: "x"})})
			close(heard)
		}()
		time.Sleep(10 * time.Second) // with the mutex held the bubble could not even move its clock
		select {
		case <-heard:
		default:
			t.Error("Hear waits")
		}
		close(let)
		<-closed
	})
}
