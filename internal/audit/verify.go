package audit

import (
	"encoding/json"
	"fmt"
	"iter"
)

// Broken is the first record at which a chain does not hold.
type Broken struct {
	Seq    int64
	ID     string // as far as it can still be read
	Reason string // never quotes the record
}

func (b *Broken) Error() string {
	id := b.ID
	if id == "" {
		id = "unknown"
	}
	return fmt.Sprintf("record %d (id %s): %s", b.Seq, id, b.Reason)
}

// Report is what a verification has seen.
type Report struct {
	Records int64 // that hold; when the chain is broken, those before the break
	Head    Head  // computed from the records, not believed
}

// Verify computes every hash again and compares. It returns a [*Broken] for the first record that does not hold: edited,
// out of order, undecodable or missing, at the end too, where the head says that there is more. An error that
// comes out of entries is returned as it is.
//
// The head is believed: who can rewrite the records, all hashes behind them and the head is not found out. That takes a
// head that was signed or kept elsewhere.
func Verify(entries iter.Seq2[Entry, error], head Head) (Report, error) {
	var c check
	for e, err := range entries {
		if err != nil {
			return c.report(), err
		}
		if err := c.next(e); err != nil {
			return c.report(), err
		}
	}
	return c.report(), c.end(head)
}

// check walks along a chain.
type check struct {
	head Head
	last Entry
}

func (c *check) report() Report { return Report{Records: c.head.Count, Head: c.head} }

func (c *check) next(e Entry) error {
	if c.resealed(e) {
		return &Broken{Seq: c.last.Seq, ID: c.last.ID(), Reason: fmt.Sprintf("it was replaced: record %d follows another", e.Seq)}
	}
	if reason := c.breach(e); reason != "" {
		return &Broken{Seq: e.Seq, ID: e.ID(), Reason: reason}
	}
	if want := c.head.Seq + 1; e.Seq > want {
		return &Broken{Seq: want, Reason: fmt.Sprintf("missing: record %d follows record %d", e.Seq, c.head.Seq)}
	}
	// The hashes hold, so whoever wrote the chain wrote this.
	if !json.Valid(e.Record) {
		return &Broken{Seq: e.Seq, Reason: "the record cannot be decoded"}
	}
	c.head, c.last = c.head.Next(e), e
	return nil
}

// resealed reports whether the entry before was edited and given new hashes: this one is whole, in its place, and names
// another hash as the one before.
func (c *check) resealed(e Entry) bool {
	return e.Seq == c.head.Seq+1 && e.Seq > 1 && e.Prev != c.head.Hash &&
		chainHash(e.Seq, e.Prev, e.Record) == e.Hash && leafHash(e.Record) == e.Leaf
}

// breach says what is wrong with an entry that is there. What the entry says of itself comes first, so that an edited
// record is called edited, then how it stands to the one before.
func (c *check) breach(e Entry) string {
	hash, leaf := chainHash(e.Seq, e.Prev, e.Record) == e.Hash, leafHash(e.Record) == e.Leaf
	switch {
	case e.Seq <= c.head.Seq:
		return fmt.Sprintf("out of order: it stands after record %d", c.head.Seq)
	case e.Seq > c.head.Seq+1:
		return ""
	case !hash && !leaf:
		return "the record was edited: its bytes do not give its hashes"
	case !leaf:
		return "the leaf hash was edited"
	case e.Prev != c.head.Hash:
		return fmt.Sprintf("it does not follow record %d: it was moved, or its link was edited", c.head.Seq)
	case !hash:
		return "its hash does not fit: the hash was edited, or the record and its leaf hash"
	}
	return ""
}

func (c *check) end(head Head) error {
	switch {
	case head.Seq > c.head.Seq:
		return &Broken{Seq: c.head.Seq + 1, Reason: fmt.Sprintf("missing: the head says %d records, the chain ends at %d", head.Count, c.head.Seq)}
	case head.Seq < c.head.Seq:
		return &Broken{Seq: head.Seq + 1, Reason: fmt.Sprintf("it stands behind the end: the head says %d records", head.Count)}
	case head.Hash != c.head.Hash || head.Count != c.head.Count:
		return &Broken{Seq: c.head.Seq, ID: c.last.ID(), Reason: "it is not the record that the head names: it was replaced, or the head was edited"}
	}
	return nil
}
