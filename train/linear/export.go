package main

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/gatehouse-gateway/gatehouse/internal/detect"
)

// steps is how many steps a weight of one byte has to either side.
const steps = 127

// tableSize is the size of one output's weights, in bytes.
const tableSize = 4 * len(detect.Weights{})

// export trains outputs on all texts and writes their weights beside those that the folder has of the others.
func export(folder string, all []*bag, features *vocabulary, heads [outputs]curve, wanted []int) error {
	all = slices.DeleteFunc(slices.Clone(all), func(b *bag) bool { return b.Hand == "made" })
	header, body := filepath.Join(folder, "linear.json"), filepath.Join(folder, "linear.bin")
	written, table := map[string]detect.Head{}, make([]byte, outputs*tableSize)
	if len(wanted) < outputs {
		if err := reread(header, body, &written, table); err != nil {
			return err
		}
	}
	for _, o := range wanted {
		m := learn(all, len(features.hashes), o, chosen)
		weights, unit := m.round(features.hashes)
		written[names[o]] = detect.Head{Bias: m.bias, Unit: unit, Penalty: heads[o].penalty, Knots: heads[o].knots}
		for i, b := range weights {
			binary.LittleEndian.PutUint32(table[o*tableSize+4*i:], b)
		}
	}
	head, err := json.MarshalIndent(written, "", " ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(header, append(head, '\n'), 0o644); err != nil { //nolint:gosec // no secret
		return err
	}
	return os.WriteFile(body, table, 0o644) //nolint:gosec // no secret
}

// reread reads the weights of all outputs as they are.
func reread(header, body string, into *map[string]detect.Head, table []byte) error {
	head, err := os.ReadFile(header) //nolint:gosec // the folder that the user named
	if err != nil {
		return err
	}
	if err := json.Unmarshal(head, into); err != nil {
		return fmt.Errorf("%s: %w", header, err)
	}
	old, err := os.ReadFile(body) //nolint:gosec // as above
	if err != nil {
		return err
	}
	if len(old) != len(table) {
		return fmt.Errorf("%s: %d bytes, want %d", body, len(old), len(table))
	}
	copy(table, old)
	return nil
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
