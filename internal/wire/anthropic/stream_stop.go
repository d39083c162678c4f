package anthropic

import "slices"

// Stop implements [wire.Incremental]: blocks that are open end, one with the text follows, and the stop reason is refusal.
func (s *stream) Stop(text string) []byte {
	var out []byte
	next, left := int64(0), []int64(nil)
	for _, f := range s.flows {
		if f.start >= s.sent {
			continue
		}
		if next = max(next, f.index+1); f.stop == 0 || f.stop >= s.sent {
			left = append(left, f.index)
		}
	}
	if s.begun < 0 || s.begun >= s.sent {
		out = appendEvent(out, "message_start", fields{"message": message{ID: "msg_", Type: "message", Role: "assistant", Content: []textBlock{}}})
	}
	slices.Sort(left)
	for _, index := range left {
		out = appendEvent(out, "content_block_stop", fields{"index": index})
	}
	out = appendEvent(out, "content_block_start", fields{"index": next, "content_block": textBlock{Type: "text"}})
	out = appendEvent(out, "content_block_delta", fields{"index": next, "delta": textBlock{"text_delta", text}})
	out = appendEvent(out, "content_block_stop", fields{"index": next})
	out = appendEvent(out, "message_delta", fields{"delta": fields{"stop_reason": refusal, "stop_sequence": nil}, "usage": usage{int(s.usage.Input), int(s.usage.Output)}})
	return appendEvent(out, "message_stop", fields{})
}

// Comments implements [wire.Incremental].
func (*stream) Comments() bool { return true }
