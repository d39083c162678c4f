package main

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"log"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/gatehouse-gateway/gatehouse/internal/detect"
)

// steps is how many steps a weight of one byte has to either side.
const steps = 127

// export trains all outputs on all texts and writes the weights.
func export(folder string, all []*bag, features *vocabulary, heads [outputs]curve) error {
	all = slices.DeleteFunc(slices.Clone(all), func(b *bag) bool { return b.Hand == "made" })
	written := map[string]detect.Head{}
	var table []byte
	for o, name := range names {
		m := learn(all, len(features.hashes), o, chosen)
		weights, unit := m.round(features.hashes)
		written[name] = detect.Head{Bias: m.bias, Unit: unit, Penalty: heads[o].penalty, Knots: heads[o].knots}
		for _, b := range weights {
			table = binary.LittleEndian.AppendUint32(table, b)
		}
	}
	head, err := json.MarshalIndent(written, "", " ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "linear.json"), append(head, '\n'), 0o644); err != nil { //nolint:gosec // no secret
		return err
	}
	return os.WriteFile(filepath.Join(folder, "linear.bin"), table, 0o644) //nolint:gosec // no secret
}

// round makes the table of weights, the largest first, so that what finds no room is small.
func (m *model) round(hashes []uint32) (*detect.Weights, float64) {
	var order []int
	for f, known := range m.known {
		if known {
			order = append(order, f)
		}
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(math.Abs(m.weights[b]), math.Abs(m.weights[a])), cmp.Compare(hashes[a], hashes[b]))
	})
	// One weight in ten thousand may be cut off: the rest keep finer steps.
	unit := math.Abs(m.weights[order[len(order)/10_000]]) / steps
	table, lost := new(detect.Weights), 0
	for _, f := range order {
		w := int8(max(-steps, min(steps, math.Round(m.weights[f]/unit)))) //nolint:gosec // bounded
		if w != 0 && !table.Put(hashes[f], w) {
			lost++
		}
	}
	log.Printf("%d features kept, %d found no room", len(order), lost)
	return table, unit
}
