package live

import "time"

// vacancies are seats that had no tabs at some moment, the earliest first. So it takes no look at every seat to find those that have
// had none for long. The room's lock guards them.
type vacancies []vacancy

type vacancy struct {
	seat *Seat
	at   time.Time
}

func (v *vacancies) add(seat *Seat) {
	if !seat.vacant {
		seat.vacant = true
		*v = append(*v, vacancy{seat, seat.empty})
	}
}

// sweep calls drop with the seats that have had no tabs for longer than seatFor.
func (v *vacancies) sweep(drop func(*Seat)) {
	for len(*v) > 0 && time.Since((*v)[0].at) > seatFor {
		seat := (*v)[0].seat
		*v = (*v)[1:]
		seat.vacant = false
		switch {
		case len(seat.members) > 0: // is added again when they leave
		case time.Since(seat.empty) > seatFor:
			drop(seat)
		default:
			v.add(seat)
		}
	}
}

// vacate drops a seat, unless another one is the player's by now.
func (r *Room) vacate(seat *Seat) {
	if r.seats[seat.player] == seat {
		delete(r.seats, seat.player)
	}
}
