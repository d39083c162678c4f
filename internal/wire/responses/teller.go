package responses

import "github.com/gatehouse-gateway/gatehouse/internal/sse"

// teller writes the events of items as the API does, one after the other.
type teller struct {
	at       int64 // output_index of the next item
	number   int64 // sequence_number of the next event
	numbered bool  // events have numbers
}

func (t *teller) event(out []byte, kind string, data fields) []byte {
	if data["type"] = kind; t.numbered {
		data["sequence_number"] = t.number
		t.number++
	}
	return sse.Append(out, kind, string(encode(data)))
}

// begin writes what stands before the first item.
func (t *teller) begin(out []byte, a answer) []byte {
	a.Status, a.Usage, a.Incomplete = "in_progress", nil, nil
	out = t.event(out, "response.created", fields{"response": a})
	return t.event(out, "response.in_progress", fields{"response": a})
}

// end writes what stands behind the last item.
func (t *teller) end(out []byte, a answer) []byte {
	return t.event(out, "response.completed", fields{"response": a})
}

// message writes a message of one piece.
func (t *teller) message(out []byte, id string, c content) []byte {
	in := func(data fields) fields {
		data["item_id"], data["output_index"], data["content_index"] = id, t.at, 0
		return data
	}
	out = t.event(out, "response.output_item.added", fields{"output_index": t.at, "item": newMessage(id, "in_progress")})
	out = t.event(out, "response.content_part.added", in(fields{"part": c.bare()}))
	if c.Refusal != nil {
		out = t.event(out, "response.refusal.delta", in(fields{"delta": c.Refusal}))
		out = t.event(out, "response.refusal.done", in(fields{"refusal": c.Refusal}))
	} else {
		out = t.event(out, "response.output_text.delta", in(fields{"delta": c.Text, "logprobs": c.Logprobs}))
		out = t.event(out, "response.output_text.done", in(fields{"text": c.Text, "logprobs": c.Logprobs}))
	}
	out = t.event(out, "response.content_part.done", in(fields{"part": c}))
	out = t.event(out, "response.output_item.done", fields{"output_index": t.at, "item": newMessage(id, "completed", c)})
	t.at++
	return out
}

// call writes an item whose arguments, if they come in pieces, stand in the member that is named.
func (t *teller) call(out []byte, c call) []byte {
	id := c.item["id"]
	out = t.event(out, "response.output_item.added", fields{"output_index": t.at, "item": c.begun()})
	if c.pieces != "" {
		at := func(data fields) fields {
			data["item_id"], data["output_index"] = id, t.at
			return data
		}
		out = t.event(out, c.pieces+".delta", at(fields{"delta": c.item[c.member]}))
		out = t.event(out, c.pieces+".done", at(fields{c.member: c.item[c.member]}))
	}
	out = t.event(out, "response.output_item.done", fields{"output_index": t.at, "item": c.item})
	t.at++
	return out
}
