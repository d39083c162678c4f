// Package findings remembers what detectors have seen in texts, so that the same text is not read twice: a system prompt, the
// descriptions of tools, a page that was fetched again. It promises that an answer from memory is the one that the detectors
// gave, and that nobody can learn from it, or from the time it takes, what others have sent: what an agent's texts were
// found to be is known to that agent alone. Texts are not kept, only hashes of them under a key of this process.
package findings

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"io"
	"slices"
	"sync/atomic"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/detect"
	"github.com/gatehouse-gateway/gatehouse/internal/keep"
)

// Scanner finds things in texts; *detect.Set is one.
type Scanner interface {
	Scan(ctx context.Context, t detect.Text) detect.Result
}

// Memory is safe for concurrent use.
type Memory struct {
	kept         *keep.Memory[detect.Result]
	secret       [sha256.Size]byte
	hits, misses atomic.Uint64
}

// New makes a memory of at most limit bytes; with 0 it remembers nothing.
func New(limit int) *Memory {
	m := &Memory{kept: keep.New[detect.Result](limit)}
	rand.Read(m.secret[:]) // never fails: crypto/rand ends the program instead
	return m
}

// Limit changes the bound, now.
func (m *Memory) Limit(limit int) { m.kept.Limit(limit) }

// Stats are what a memory holds, and how often it knew.
type Stats struct {
	keep.Stats
	Hits, Misses uint64
}

// Stats are those of now.
func (m *Memory) Stats() Stats { return Stats{m.kept.Stats(), m.hits.Load(), m.misses.Load()} }

// For is a scanner with the memory of one agent. The version is that of the scanner: what another version has seen is not known.
func (m *Memory) For(o keep.Owner, version string, scanner Scanner) *Remembering {
	return &Remembering{m, o, version, scanner}
}

// Remembering is a [Scanner] that asks another one about texts that it does not know.
type Remembering struct {
	memory  *Memory
	owner   keep.Owner
	version string
	next    Scanner
}

// Scan returns what is known of a text, or what the other scanner says of it. Only what no detector was in a hurry for is
// remembered: another time there may be more time.
func (r *Remembering) Scan(ctx context.Context, t detect.Text) detect.Result {
	key := r.key(t)
	if known, ok := r.memory.kept.Get(key); ok {
		r.memory.hits.Add(1)
		known.Findings = slices.Clone(known.Findings) // the caller's own
		return known
	}
	r.memory.misses.Add(1)
	out := r.next.Scan(ctx, t)
	if out.Complete && !slices.ContainsFunc(out.Partial, gatehouse.Partial.Hurried) {
		kept := out
		kept.Findings = slices.Clip(slices.Clone(out.Findings))
		r.memory.kept.Put(r.owner, key, kept, size(kept))
	}
	return out
}

// sieves is a [Scanner] that can look at a text while it grows; *detect.Set is one.
type sieves interface {
	Sieve(eager bool, found func([]gatehouse.Finding)) *detect.Sieve
}

// Sieve is the other scanner's, nil where it has none. A text that grows is new.
func (r *Remembering) Sieve(eager bool, found func([]gatehouse.Finding)) *detect.Sieve {
	if s, ok := r.next.(sieves); ok {
		return s.Sieve(eager, found)
	}
	return nil
}

// key is a hash of everything that findings depend on. Its secret keeps others from making two texts that have the same one.
func (r *Remembering) key(t detect.Text) (k keep.Key) {
	h := sha256.New()
	h.Write(r.memory.secret[:])
	for _, field := range [...]string{r.version, r.owner.Member, string(t.Channel), t.Tool, t.Text} {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(field)))
		h.Write(n[:])
		io.WriteString(h, field) //nolint:errcheck // a hash does not fail
	}
	h.Sum(k[:0])
	return k
}

// Bytes of a result, of a finding and of what a detector has not read, without texts.
const resultSize, findingSize, partialSize = 104, 128, 48

// size is what a result takes in memory. The list of detectors' names is taken for its own.
func size(r detect.Result) int {
	n := resultSize
	for _, name := range r.Detectors {
		n += 16 + len(name)
	}
	n += partialSize * len(r.Partial)
	for _, f := range r.Findings {
		n += findingSize + len(f.Type) + len(f.Detector)
	}
	return n
}
