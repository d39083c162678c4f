package fake

// events streams as the API does: message_start, each content block with start, deltas and stop, a ping after the first
// start, message_delta with the stop reason and the usage, and message_stop.
func (anthropic) events(req Request, turn Turn, id int, send func(any) error) {
	list := []event{{"message_start", map[string]any{"type": "message_start", "message": newMessage(req, id)}}}
	for i, b := range blocks(turn, id) {
		list = append(list, blockEvent("start", i, "content_block", b.start))
		if i == 0 {
			list = append(list, event{"ping", map[string]string{"type": "ping"}})
		}
		for _, d := range b.deltas {
			list = append(list, blockEvent("delta", i, "delta", d))
		}
		list = append(list, event{"content_block_stop", map[string]any{"type": "content_block_stop", "index": i}})
	}
	list = append(list,
		event{"message_delta", map[string]any{
			"type":  "message_delta",
			"delta": map[string]any{"stop_reason": stop(turn), "stop_sequence": nil},
			"usage": map[string]int{"output_tokens": turn.output()},
		}},
		event{"message_stop", map[string]string{"type": "message_stop"}})
	for _, e := range list {
		if send(e) != nil {
			return
		}
	}
}

func blockEvent(what string, index int, field string, value any) event {
	name := "content_block_" + what
	return event{name, map[string]any{"type": name, "index": index, field: value}}
}

// block is one content block of a stream.
type block struct {
	start  any
	deltas []map[string]string
}

func blocks(t Turn, id int) []block {
	var list []block
	if t.Reasoning != "" {
		thinking := pieces("thinking_delta", "thinking", t.Reasoning)
		thinking = append(thinking, map[string]string{"type": "signature_delta", "signature": signature})
		list = append(list, block{thinkingBlock{Type: "thinking"}, thinking})
	}
	if t.Text != "" || len(t.Calls) == 0 {
		list = append(list, block{textBlock{Type: "text"}, pieces("text_delta", "text", t.Text)})
	}
	for k, call := range t.Calls {
		args := []map[string]string{{"type": "input_json_delta", "partial_json": ""}} // the API begins with an empty one
		args = append(args, pieces("input_json_delta", "partial_json", call.Args)...)
		list = append(list, block{toolUse{"tool_use", call.id("toolu", id, 0, k), call.Name, struct{}{}}, args})
	}
	return list
}

func pieces(kind, field, text string) []map[string]string {
	var list []map[string]string
	for _, piece := range deltas(text) {
		list = append(list, map[string]string{"type": kind, field: piece})
	}
	return list
}
