package audit

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
)

// Entry is a record in its place in the chain.
//
//	Hash = SHA-256(Prev || Seq as 8 bytes, big-endian || Record)
//	Leaf = SHA-256(0x00 || Record), the leaf hash of RFC 6962, section 2.1
//
// Prev is the Hash of the entry before; for the first entry, whose Seq is 1, it is 32 zero bytes.
type Entry struct {
	Seq    int64           // counted from 1, without gaps
	Record json.RawMessage // the exact bytes that are hashed; never marshal them again
	Prev   [32]byte
	Hash   [32]byte
	Leaf   [32]byte
}

// Head is the end of a chain. The zero Head is that of an empty chain.
type Head struct {
	Seq   int64    // of the last entry
	Hash  [32]byte // of the last entry
	Count int64    // entries in the chain
}

// Seal makes the entry that stands at seq, after the entry whose hash is prev. It keeps record, it does not copy it.
func Seal(seq int64, prev [32]byte, record []byte) Entry {
	return Entry{Seq: seq, Record: record, Prev: prev, Hash: chainHash(seq, prev, record), Leaf: leafHash(record)}
}

// Next is the head of the chain once the entry has been added.
func (h Head) Next(e Entry) Head { return Head{Seq: e.Seq, Hash: e.Hash, Count: h.Count + 1} }

func chainHash(seq int64, prev [32]byte, record []byte) (sum [32]byte) {
	h := sha256.New()
	h.Write(prev[:])
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(seq)))
	h.Write(record)
	h.Sum(sum[:0])
	return sum
}

func leafHash(record []byte) (sum [32]byte) {
	h := sha256.New()
	h.Write([]byte{0})
	h.Write(record)
	h.Sum(sum[:0])
	return sum
}

// Encode is the record as it is hashed and kept: one line of JSON. It is called once for a record; whoever needs the
// bytes again takes those that were kept.
func (r Record) Encode() ([]byte, error) {
	raw, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encode audit record: %w", err)
	}
	return raw, nil
}

// Decode reads the entry's record.
func (e Entry) Decode() (Record, error) {
	var r Record
	if err := json.Unmarshal(e.Record, &r); err != nil {
		// What encoding/json says may quote the record.
		return Record{}, &Broken{Seq: e.Seq, Reason: "the record cannot be decoded"}
	}
	return r, nil
}

// ID is the id that the record itself bears; empty when it cannot be read.
func (e Entry) ID() string {
	// Encode writes it first. Ids have no character that JSON escapes.
	if rest, first := bytes.CutPrefix(e.Record, []byte(`{"id":"`)); first {
		if id, _, ends := bytes.Cut(rest, []byte(`"`)); ends && bytes.IndexByte(id, '\\') < 0 {
			return string(id)
		}
	}
	var r struct {
		ID string `json:"id"`
	}
	if json.Unmarshal(e.Record, &r) != nil {
		return ""
	}
	return r.ID
}

// ContentHMAC stands for a text in a record: HMAC-SHA-256 of its bytes (RFC 2104).
func ContentHMAC(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}
