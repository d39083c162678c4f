package session

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/keep"
)

// Memory is what a process remembers of the transcripts of conversations, so that one that is sent again, and longer, is not
// written again from its beginning. What it remembers is what would be worked out anew: all of it may vanish at any time.
type Memory struct {
	kept *keep.Memory[*transcript]
}

// NewMemory makes a memory of at most limit bytes; with 0 it remembers nothing.
func NewMemory(limit int) *Memory { return &Memory{keep.New[*transcript](limit)} }

// Limit changes the bound, now.
func (m *Memory) Limit(limit int) { m.kept.Limit(limit) }

// transcriptSize is about what a transcript takes in memory, in bytes, without the ids of calls.
const transcriptSize = 768

// progress is what has been worked out of an exchange on the way. It is long in a long conversation, and asked for twice.
type progress struct {
	texts []noted     // of the parts of the request; see Resolver.notes
	t     *transcript // of the old parts of the request, as they were sent; nil: not known
	agent string      // whose it is
	end   int         // how many these are
}

// noted is a text and a keyed hash of it alone. That it is still the text of its part costs no look at it while it is the same
// piece of memory.
type noted struct {
	text   string
	digest Digest
}

func progressOf(x *gatehouse.Exchange) *progress {
	if p, ok := x.Memo.(*progress); ok {
		return p
	}
	p := &progress{}
	x.Memo = p
	return p
}

// notes are the texts of a request as they were sent, each with its hash, which is worked out once for an exchange: of all that
// old text costs it is the most. It is SHA-256 behind a secret prefix, which is cheaper than an HMAC for short texts, and enough for what
// stays in the process: nobody sees a hash, so that nobody can lengthen one. Those of parts that nobody can read are left out.
func (r *Resolver) notes(x *gatehouse.Exchange) []noted {
	p := progressOf(x)
	var (
		w      *fields
		secret string
	)
	for i := range x.Request {
		part := &x.Request[i]
		text := part.Original()
		if i == len(p.texts) {
			p.texts = append(slices.Grow(p.texts, len(x.Request)-i), noted{})
		} else if p.texts[i].text == text {
			continue
		}
		p.texts[i] = noted{text: text}
		if text == "" || part.Kind == gatehouse.Opaque {
			continue
		}
		if w == nil {
			key := r.keyed("text alone")
			w, secret = &fields{Hash: sha256.New()}, string(key[:])
		}
		w.Reset()
		w.field(secret)
		w.field(text)
		p.texts[i].digest = w.sum()
	}
	return p.texts
}

// TextKeys are what a process may remember the texts of a request by: keyed hashes of all that a [Resolver.TextDigest] is one of, for
// each part. They are cheaper, and not to be stored: who sees several can tell which are of the same text.
func (r *Resolver) TextKeys(policy string, x *gatehouse.Exchange) []Digest {
	type place struct {
		role gatehouse.Role
		kind gatehouse.Kind
		key  Digest
	}
	var places []place // there are few
	notes := r.notes(x)
	out := make([]Digest, len(x.Request))
	for i := range x.Request {
		p := &x.Request[i]
		at := slices.IndexFunc(places, func(l place) bool { return l.role == p.Role && l.kind == p.Kind })
		if at < 0 {
			at = len(places)
			places = append(places, place{p.Role, p.Kind, r.keyed("text of", policy, string(p.Role), string(p.Kind))})
		}
		subtle.XORBytes(out[i][:], notes[i].digest[:], places[at].key[:])
	}
	return out
}

// begin is the transcript of the first parts of a request, as they were sent. It goes on from the longest beginning that was
// known, and is itself known from then on.
func (r *Resolver) begin(x *gatehouse.Exchange, end int) *transcript {
	for end > 0 && !counts(&x.Request[end-1]) {
		end--
	}
	if r.Memory == nil || x.Agent == "" || end == 0 {
		return r.transcript(x.Agent).with(x.Request[:end])
	}
	marks := r.marks(x, end)
	t, from := r.longest(marks)
	switch {
	case t == nil:
		t = r.transcript(x.Agent)
	case from == end:
		return t.clone()
	default:
		t = t.clone()
	}
	return r.known(x, marks[end-1], t.with(x.Request[from:end]))
}

// longest is the transcript of the longest of these beginnings that is known, and how many parts that one has; nil where none is.
func (r *Resolver) longest(marks []keep.Key) (t *transcript, from int) {
	for from := len(marks); from > 0; from-- {
		if mark := marks[from-1]; mark != (keep.Key{}) {
			if t, ok := r.Memory.kept.Get(mark); ok {
				return t, from
			}
		}
	}
	return nil, 0
}

// known remembers a transcript.
func (r *Resolver) known(x *gatehouse.Exchange, mark keep.Key, t *transcript) *transcript {
	o := keep.Owner{Member: x.Agent}
	if x.Known {
		o.Party = x.AgentCredential
	}
	kept, size := t.clone(), transcriptSize
	for i, id := range t.calls {
		kept.calls[i] = strings.Clone(id) // without the request that it came in
		size += len(id)
	}
	r.Memory.kept.Put(o, mark, kept, size)
	return t
}

// marks name beginnings of a request by all that their transcripts follow from: whose it is, and in order the parts that count
// in it. They follow from keyed hashes, so that nobody can make two that meet. Those that end with an assistant's turn have one, and
// all of it; the others have none.
func (r *Resolver) marks(x *gatehouse.Exchange, end int) []keep.Key {
	mark := keep.Key(r.keyed("beginning", x.Agent))
	notes := r.notes(x)
	out := make([]keep.Key, end)
	line := slices.Clone(mark[:])
	for i := range out {
		p := &x.Request[i]
		if counts(p) {
			line = append(line, notes[i].digest[:]...)
			for _, field := range [...]string{string(p.Role), string(p.Kind), p.CallID, p.Tool} {
				line = append(binary.AppendUvarint(line, uint64(len(field))), field...)
			}
		}
		if i+1 == end || p.Role == gatehouse.Assistant && x.Request[i+1].Role != gatehouse.Assistant {
			mark = sha256.Sum256(line)
			line = append(line[:0], mark[:]...)
			out[i] = mark
		}
	}
	return out
}
