package fake

import "encoding/json"

// events streams as the API does: a role chunk for each choice, then deltas with the choices taking turns, a finish chunk
// each, the usage if it is asked for, and [DONE].
func (openAI) events(req Request, turn Turn, id int, send func(any) error) {
	options, _ := req.Body["stream_options"].(map[string]any)
	withUsage, _ := options["include_usage"].(bool)
	emit := func(c choice) error {
		chunk := newCompletion("chat.completion.chunk", req, id)
		chunk.Choices = append(chunk.Choices, c)
		if withUsage {
			chunk.Usage = json.RawMessage("null")
		}
		return send(chunk)
	}
	queues := make([][]any, req.N)
	for i := range queues {
		queues[i] = chatDeltas(turn.choice(i), id, i)
	}
	for busy := true; busy; {
		busy = false
		for i, queue := range queues {
			if len(queue) == 0 {
				continue
			}
			if emit(choice{Index: i, Delta: queue[0]}) != nil {
				return
			}
			queues[i], busy = queue[1:], true
		}
	}
	for i := range req.N {
		if emit(choice{Index: i, Delta: struct{}{}, FinishReason: finish(turn.choice(i))}) != nil {
			return
		}
	}
	if withUsage {
		last := newCompletion("chat.completion.chunk", req, id)
		last.Usage = chatUsage(req, turn)
		if send(last) != nil {
			return
		}
	}
	_ = send(event{data: "[DONE]"}) // nothing follows that an error could stop
}

// chatDeltas are the deltas of one choice, the role first.
func chatDeltas(t Turn, id, choice int) []any {
	empty := any("")
	if t.Text == "" && len(t.Calls) > 0 {
		empty = nil
	}
	list := []any{map[string]any{"role": "assistant", "content": empty, "refusal": nil}}
	for _, piece := range deltas(t.Reasoning) {
		list = append(list, map[string]string{"reasoning_content": piece})
	}
	for _, piece := range deltas(t.Text) {
		list = append(list, map[string]string{"content": piece})
	}
	for k, call := range t.Calls {
		list = append(list, callDelta(chatCall{
			Index: &k, ID: call.id("call", id, choice, k), Type: "function", Function: chatFunction{Name: call.Name},
		}))
		for _, piece := range deltas(call.Args) {
			list = append(list, callDelta(chatCall{Index: &k, Function: chatFunction{Arguments: piece}}))
		}
	}
	return list
}

func callDelta(c chatCall) any { return map[string][]chatCall{"tool_calls": {c}} }
