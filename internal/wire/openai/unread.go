package openai

import (
	"strings"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// unread tells the sink what of an answer, or of a chunk, may be a text and is in no part. own is the name of the messages.
func (r reader) unread(shape wire.Shape, root rawjson.Value, choices []choice, own string, to wire.Sink) {
	shape.Unread(root, r.doc, nil, func(path string) { to.Unread(path) })
	if provider := root.Get("provider"); provider.Exists() && (provider.Kind != rawjson.String || !isProvider(provider.Text(r.doc))) {
		to.Unread("provider")
	}
	for i := range choices {
		m := &choices[i].message
		var opaque map[string]bool
		messageShape.Unread(m.value, r.doc, nil, func(path string) {
			if opaque == nil {
				opaque = m.opaques()
			}
			if !opaque[first(path)] {
				to.Unread("choices[]." + own + "." + path)
			}
		})
		if content := m.value.Get("content"); content.Kind == rawjson.Array {
			itemShape.Unread(content, r.doc, nil, func(path string) { to.Unread("choices[]." + own + ".content" + path) })
		}
	}
}

// opaques are the members, as paths name them, that are opaque parts.
func (m *message) opaques() map[string]bool {
	out := map[string]bool{}
	for _, i := range m.items {
		if i.kind == gatehouse.Opaque && i.member != "content" { // of a content its items are
			out[wire.PathName(i.member)] = true
		}
	}
	return out
}

// first is the first name of a path.
func first(path string) string {
	if end := strings.IndexAny(path, ".["); end >= 0 {
		return path[:end]
	}
	return path
}

// logprobs tells the sink where the log probabilities of a choice tell another text than its own, and reports whether they do.
func (r reader) logprobs(c *choice, to wire.Sink) (strange bool) {
	logprobs := c.value.Get("logprobs")
	if !logprobs.Exists() {
		return false
	}
	if logprobs.Kind != rawjson.Object {
		to.Unread("choices[].logprobs")
		return true
	}
	for i := range logprobs.Members {
		m := &logprobs.Members[i]
		switch m.Key {
		case "content", "refusal", "reasoning_content":
		default:
			strange = strange || m.Value.Kind >= rawjson.String // its shape names it
			continue
		}
		if len(m.Value.Elems) == 0 && m.Value.Kind != rawjson.Object {
			strange = strange || m.Value.Kind == rawjson.String // its shape names it
			continue
		}
		spelled, others := wire.Logprobs(m.Value, r.doc, c.message.said(m.Key, r.doc))
		if !spelled {
			strange = true
			to.Unread("choices[].logprobs." + m.Key)
		}
		if others {
			to.Unread("choices[].logprobs." + m.Key + "[].top_logprobs")
		}
	}
	return strange
}

// said is the text of a member.
func (m *message) said(member string, doc []byte) string {
	var text strings.Builder
	for _, i := range m.items {
		if i.kind != gatehouse.Opaque && i.member == member {
			text.WriteString(i.at.Text(doc))
		}
	}
	return text.String()
}
