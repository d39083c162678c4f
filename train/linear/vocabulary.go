package main

import (
	"cmp"
	"slices"
)

// vocabulary numbers the features that enough hands have, so that training can keep its sums in lists.
type vocabulary struct {
	hashes []uint32 // by number
}

// number finds the features that at least so many hands have, and puts their numbers in the place of their hashes in all texts. Others
// are taken out.
func number(all []*bag, hands int) *vocabulary {
	v := &vocabulary{}
	ids := v.gather(all, hands)
	for _, b := range all {
		for _, view := range b.views {
			for i := range view {
				f := view[i].Features
				kept := f[:0]
				for _, hash := range f {
					if id, ok := ids[hash]; ok {
						kept = append(kept, id)
					}
				}
				view[i].Features = slices.Clip(kept)
			}
		}
	}
	return v
}

// gather numbers the features. A table of hashes without their last bits sorts most of the rare ones out first.
func (v *vocabulary) gather(all []*bag, hands int) map[uint32]uint32 {
	order := slices.Clone(all)
	slices.SortStableFunc(order, func(a, b *bag) int { return cmp.Compare(a.Hand, b.Hand) })
	const drop = 6
	last, count := make([]uint16, 1<<(32-drop)), make([]uint8, 1<<(32-drop))
	hand, name := uint16(0), ""
	for _, b := range order {
		if b.Hand != name {
			hand, name = hand+1, b.Hand
		}
		for _, view := range b.views {
			for _, s := range view {
				for _, hash := range s.Features {
					if k := hash >> drop; last[k] != hand {
						last[k] = hand
						count[k] = min(count[k]+1, 255)
					}
				}
			}
		}
	}
	ids := map[uint32]uint32{}
	for _, b := range order {
		for _, view := range b.views {
			for _, s := range view {
				for _, hash := range s.Features {
					if int(count[hash>>drop]) < hands {
						continue
					}
					if _, known := ids[hash]; !known {
						ids[hash] = uint32(len(v.hashes)) //nolint:gosec // a few million
						v.hashes = append(v.hashes, hash)
					}
				}
			}
		}
	}
	return ids
}
