package game

// The split of a budget into packets. Everything here is recomputed by outsiders from a settled round's secret, and by
// grab.lua draw for draw: the formats are final.

// LiveAmount is the amount of the next packet when rest cents are left for left packets (left ≥ 1), each at least low and,
// where high > 0, at most high cents; u is the draw. Every position's expected amount is rest/left exactly: the amount is
// uniform on an interval that is symmetric around the mean (double-mean, kept within what the others still need).
func LiveAmount(rest Cents, left int, low, high Cents, u uint64) Cents {
	if left == 1 {
		return rest
	}
	n := Cents(left)
	lowest, highest := low, rest-(n-1)*low
	if high > 0 {
		lowest, highest = max(low, rest-(n-1)*high), min(high, highest)
	}
	mean := rest / n
	if u%uint64(n) < uint64(rest%n) {
		mean++
	}
	width := min(mean-lowest, highest-mean)
	return mean - width + Cents(u/uint64(n)%uint64(2*width+1))
}

// DealtAmounts cuts the whole budget beforehand, in the order in which packets will be handed out. The settings must be valid.
func DealtAmounts(s Settings, secret Secret) []Cents {
	switch s.Deal {
	case DealEqual:
		return shuffle(equalAmounts(s.Total, s.Packets), secret)
	case DealTiers:
		return shuffle(tierAmounts(s.Tiers), secret)
	default:
		return shuffle(drawnAmounts(s, secret.Draws("dealt")), secret)
	}
}

func drawnAmounts(s Settings, draws *Draws) []Cents {
	amounts := make([]Cents, s.Packets)
	rest := s.Total
	for i := range amounts {
		amounts[i] = LiveAmount(rest, s.Packets-i, s.Min, s.Max, draws.At(i))
		rest -= amounts[i]
	}
	return amounts
}

// equalAmounts spreads the remainder, a cent each, over the first packets.
func equalAmounts(total Cents, packets int) []Cents {
	amounts := make([]Cents, packets)
	each, extra := total/Cents(packets), int(total%Cents(packets))
	for i := range amounts {
		amounts[i] = each
		if i < extra {
			amounts[i]++
		}
	}
	return amounts
}

func tierAmounts(tiers []Tier) []Cents {
	var amounts []Cents
	for _, tier := range tiers {
		for range tier.Packets {
			amounts = append(amounts, tier.Cents)
		}
	}
	return amounts
}

// shuffle is Fisher and Yates' from the last place down, with draws under the label "shuffle".
func shuffle(amounts []Cents, secret Secret) []Cents {
	draws := secret.Draws("shuffle")
	for i := len(amounts) - 1; i > 0; i-- {
		j := int(draws.At(len(amounts)-1-i) % uint64(i+1))
		amounts[i], amounts[j] = amounts[j], amounts[i]
	}
	return amounts
}

// Preview is an example of the amounts of such a round, in the order of their claims, from a throwaway secret.
func Preview(s Settings) []Cents {
	secret := NewSecret()
	if s.Split == SplitDealt {
		return DealtAmounts(s, secret)
	}
	return drawnAmounts(s, secret.Draws("live"))
}
