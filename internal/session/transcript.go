package session

import (
	"crypto/hmac"
	"crypto/sha256"
	"hash"
	"io"
	"unicode"
	"unicode/utf8"

	"github.com/gatehouse-gateway/gatehouse"
)

// TextDigest is the keyed hash that a decided text is remembered by. Role and kind are part of it: a text that was harmless
// as a tool's result has not been decided as a user's word. So is the policy it was decided under.
func (r *Resolver) TextDigest(policy string, p gatehouse.Part) Digest {
	m := hmac.New(sha256.New, r.Key)
	for _, field := range [...]string{"text", policy, string(p.Role), string(p.Kind), p.Original()} {
		writeField(m, field)
	}
	return Digest(m.Sum(nil))
}

// AnchorDigest is the keyed hash that a session remembers an anchor by: a thing that an injection has named, such as an address
// or an account. The same thing has another hash in another session.
func (r *Resolver) AnchorDigest(session, kind, value string) Digest {
	m := hmac.New(sha256.New, r.Key)
	for _, field := range [...]string{"anchor", session, kind, value} {
		writeField(m, field)
	}
	return Digest(m.Sum(nil))
}

// Transcripts are the keyed hashes of the conversation as the client will send it back: the request's turns and then the
// answer, one for each choice. What clients drop or reformat (reasoning, white space, system prompts) does not count.
func (r *Resolver) Transcripts(x *gatehouse.Exchange) []Digest {
	choices := 1
	for _, p := range x.Response {
		choices = max(choices, p.Choice+1)
	}
	const most = 8 // more alternatives of one answer are not worth remembering
	out := make([]Digest, 0, 1)
	for c := range min(choices, most) {
		t := r.transcript(x.Agent)
		for _, p := range x.Request {
			t.add(p, p.Original())
		}
		if notice := x.Notice(); notice != "" {
			t.add(gatehouse.Part{Role: gatehouse.Assistant, Kind: gatehouse.Text}, notice)
		}
		for _, p := range x.Response {
			switch {
			case p.Choice != c:
			case p.Removed:
				t.add(gatehouse.Part{Role: gatehouse.Assistant, Kind: gatehouse.Text}, p.Notice)
			default:
				p.Role = gatehouse.Assistant
				t.add(p, p.Text)
			}
		}
		out = append(out, t.sum())
	}
	return out
}

// lastTurn is the transcript up to and including the last assistant turn; later is false when there is none.
func (r *Resolver) lastTurn(agentID string, request []gatehouse.Part) (d Digest, later bool) {
	end := 0
	for ; end < len(request) && !request[end].Latest; end++ {
		later = later || request[end].Role == gatehouse.Assistant
	}
	if !later {
		return d, false
	}
	t := r.transcript(agentID)
	for _, p := range request[:end] {
		t.add(p, p.Text)
	}
	return t.sum(), true
}

type transcript struct {
	mac   hash.Hash
	role  gatehouse.Role
	dense []byte   // the last text without its white space
	calls []string // ids of the calls of the present turn
}

func (r *Resolver) transcript(agentID string) *transcript {
	t := &transcript{mac: hmac.New(sha256.New, r.Key)}
	writeField(t.mac, "transcript")
	writeField(t.mac, agentID)
	return t
}

func (t *transcript) add(p gatehouse.Part, text string) {
	if p.Role == gatehouse.System || p.Inserted && p.Role != gatehouse.Assistant {
		return
	}
	switch p.Kind {
	case gatehouse.Text, gatehouse.ToolResult, gatehouse.ToolCall:
	default:
		return
	}
	if p.Role != t.role {
		t.end()
		t.role = p.Role
		writeField(t.mac, "\x00"+string(p.Role))
	}
	if p.Kind == gatehouse.ToolCall {
		t.calls = append(t.calls, p.CallID)
		return
	}
	// Texts of one turn run together: clients join and split them as they like.
	t.dense = appendDense(t.dense[:0], text)
	t.mac.Write(t.dense) //nolint:errcheck // a hash does not fail
}

// end writes what counts at the end of a turn: its calls. Where among its texts they stood does not, because formats that have one
// text for all of a turn put it before them.
func (t *transcript) end() {
	for _, id := range t.calls {
		t.dense = appendDense(t.dense[:0], id)
		t.mac.Write(t.dense) //nolint:errcheck // a hash does not fail
	}
	t.calls = t.calls[:0]
}

func (t *transcript) sum() Digest {
	t.end()
	return Digest(t.mac.Sum(nil))
}

// appendDense appends a text without its white space.
func appendDense(dst []byte, text string) []byte {
	for i := 0; i < len(text); {
		if c := text[i]; c < utf8.RuneSelf {
			if c != ' ' && (c < '\t' || c > '\r') {
				dst = append(dst, c)
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if !unicode.IsSpace(r) {
			dst = utf8.AppendRune(dst, r)
		}
		i += size
	}
	return dst
}

// writeField writes a text that the next one cannot run into.
func writeField(w io.Writer, text string) {
	n := len(text)
	w.Write([]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}) //nolint:errcheck // a hash does not fail
	io.WriteString(w, text)                                              //nolint:errcheck // a hash does not fail
}
