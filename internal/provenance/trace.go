package provenance

import (
	"encoding/binary"
	"hash/maphash"

	"github.com/dchest/siphash"

	"github.com/gatehouse-gateway/gatehouse/internal/deed"
)

// Key is what the words of a kept text are hashed under: SipHash-2-4 wants 128 bits. Nobody without it can test a guess.
type Key [16]byte

// MaxTrace bounds the trace of one text, in bytes: there are about two to each byte of a text.
const MaxTrace = 1 << 20

const (
	traceVersion = 1
	traceHead    = 9 // bytes: the version, and how many tokens and wholes there are
	traceEntry   = 8 // bytes of a token, of a whole's hash, and of a passage
	tracePlace   = 4 // bytes of a whole's place
)

// Trace is a text as hashes of its words: enough to find a value in it, and not to read it. All traces of one conversation
// are made under one key. It is nil for a text that is longer than [MaxTrace] allows.
//
// It is, all little-endian: a version (1 byte), the numbers of tokens and of wholes (4 bytes each), the tokens (8 bytes each; the
// lowest four bits say what ties one to the one before), the wholes, which are the numbers and accounts in other writings (8
// bytes each, and 4 for the token at which it begins), and the passages (the token at which one begins in 4 bytes, its deeds in
// 2, and its signs in 2).
func Trace(key Key, text string) []byte {
	if len(text) > MaxTrace {
		return nil
	}
	t := tokens{hasher: hasher{key: &key}}
	out := make([]byte, traceHead, traceHead+traceEntry*len(text)/bytesPerToken)
	out[0] = traceVersion
	var other, passages []byte
	list, shown := readings(text)
	for i, r := range list {
		begin := int32((len(out) - traceHead) / traceEntry) //nolint:gosec // bounded by MaxTrace
		t.read(r)
		t.said(func(w token) { out = binary.LittleEndian.AppendUint64(out, w.hash|uint64(w.before)) })
		t.wholes(func(w whole) {
			p := t.placed(w)
			other = binary.LittleEndian.AppendUint64(other, p.hash)
			other = binary.LittleEndian.AppendUint32(other, uint32(p.place+begin)) //nolint:gosec // no place is negative
		})
		t.passages(i >= shown, func(s span) {
			passages = binary.LittleEndian.AppendUint32(passages, uint32(s.place+begin)) //nolint:gosec // no place is negative
			passages = binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16(passages, uint16(s.deeds)), uint16(s.signs))
		})
		if len(out)+len(other)+len(passages) > MaxTrace {
			return nil
		}
	}
	binary.LittleEndian.PutUint32(out[1:], uint32((len(out)-traceHead)/traceEntry))    //nolint:gosec // bounded by MaxTrace
	binary.LittleEndian.PutUint32(out[5:], uint32(len(other)/(traceEntry+tracePlace))) //nolint:gosec // bounded by MaxTrace
	return append(append(out, other...), passages...)
}

// traced calls out what a trace holds; ok is false when it is none.
func traced(trace []byte, token func(token), whole func(placed), passage func(span)) (ok bool) {
	if len(trace) < traceHead || trace[0] != traceVersion {
		return false
	}
	tokens, rest := int(binary.LittleEndian.Uint32(trace[1:])), trace[traceHead:]
	wholes := int(binary.LittleEndian.Uint32(trace[5:]))
	if tokens > len(rest)/traceEntry || wholes > (len(rest)-tokens*traceEntry)/(traceEntry+tracePlace) {
		return false
	}
	if left := len(rest) - tokens*traceEntry - wholes*(traceEntry+tracePlace); left%traceEntry != 0 {
		return false
	}
	place := func(entry []byte) (int32, bool) {
		at := binary.LittleEndian.Uint32(entry)
		return int32(at), int(at) < max(tokens, 1) //nolint:gosec // less than the number of tokens
	}
	for range tokens {
		token(unpacked(binary.LittleEndian.Uint64(rest)))
		rest = rest[traceEntry:]
	}
	for ; wholes > 0; wholes, rest = wholes-1, rest[traceEntry+tracePlace:] {
		at, inside := place(rest[traceEntry:])
		if !inside {
			return false
		}
		whole(placed{binary.LittleEndian.Uint64(rest), at})
	}
	for ; len(rest) > 0; rest = rest[traceEntry:] {
		at, inside := place(rest)
		if !inside {
			return false
		}
		passage(span{at, deed.Set(binary.LittleEndian.Uint16(rest[4:])), deed.Sign(binary.LittleEndian.Uint16(rest[6:]))})
	}
	return true
}

func unpacked(entry uint64) token {
	return token{hash: entry &^ tied, before: bounds(entry & tied)}
}

// tied are the bits of a packed token that are its bounds; no hash has them.
const tied = 1<<4 - 1

// hasher hashes words: under a key where the hashes are kept, and else, which is faster, under the seed of one exchange.
type hasher struct {
	key  *Key
	seed maphash.Seed
}

func (h *hasher) word(w []byte) uint64 {
	if h.key == nil {
		return maphash.Bytes(h.seed, w) &^ tied
	}
	return siphash.Hash(binary.LittleEndian.Uint64(h.key[:8]), binary.LittleEndian.Uint64(h.key[8:]), w) &^ tied
}
