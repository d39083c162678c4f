package fake

// sendResponse streams a response as the API does: the response, each item with its pieces, and the response again.
func sendResponse(done response, send func(any) error) {
	s := &numbered{send: send}
	begun := done
	begun.Status, begun.Output, begun.Usage = "in_progress", []any{}, nil
	s.event("response.created", map[string]any{"response": begun})
	s.event("response.in_progress", map[string]any{"response": begun})
	for i, item := range done.Output {
		s.index = i
		switch item := item.(type) {
		case reasoningItem:
			s.reasoning(item)
		case outputMessage:
			s.message(item)
		case functionCall:
			s.call(item)
		}
	}
	s.event("response.completed", map[string]any{"response": done})
}

// numbered counts the events, and sends none behind one that failed.
type numbered struct {
	send   func(any) error
	number int
	index  int // of the item
	failed error
}

func (s *numbered) event(kind string, data map[string]any) {
	data["type"], data["sequence_number"] = kind, s.number
	if s.number++; s.failed == nil {
		s.failed = s.send(event{kind, data})
	}
}

func (s *numbered) item(kind string, item any) {
	s.event("response.output_item."+kind, map[string]any{"output_index": s.index, "item": item})
}

// in is what an event about a piece of an item says.
func (s *numbered) in(id, list string, more map[string]any) map[string]any {
	more["item_id"], more["output_index"] = id, s.index
	if list != "" {
		more[list] = 0
	}
	return more
}

func (s *numbered) reasoning(item reasoningItem) {
	begun, said := item, item.Summary[0]
	begun.Summary = []summaryText{}
	s.item("added", begun)
	s.event("response.reasoning_summary_part.added", s.in(item.ID, "summary_index", map[string]any{"part": summaryText{Type: said.Type}}))
	for _, piece := range deltas(said.Text) {
		s.event("response.reasoning_summary_text.delta", s.in(item.ID, "summary_index", map[string]any{"delta": piece}))
	}
	s.event("response.reasoning_summary_text.done", s.in(item.ID, "summary_index", map[string]any{"text": said.Text}))
	s.event("response.reasoning_summary_part.done", s.in(item.ID, "summary_index", map[string]any{"part": said}))
	s.item("done", item)
}

func (s *numbered) message(item outputMessage) {
	begun, said := item, item.Content[0]
	begun.Status, begun.Content = "in_progress", []outputText{}
	s.item("added", begun)
	bare := said
	bare.Text = ""
	s.event("response.content_part.added", s.in(item.ID, "content_index", map[string]any{"part": bare}))
	for _, piece := range deltas(said.Text) {
		s.event("response.output_text.delta", s.in(item.ID, "content_index", map[string]any{"delta": piece, "logprobs": []string{}}))
	}
	s.event("response.output_text.done", s.in(item.ID, "content_index", map[string]any{"text": said.Text, "logprobs": []string{}}))
	s.event("response.content_part.done", s.in(item.ID, "content_index", map[string]any{"part": said}))
	s.item("done", item)
}

func (s *numbered) call(item functionCall) {
	begun := item
	begun.Status, begun.Arguments = "in_progress", ""
	s.item("added", begun)
	for _, piece := range deltas(item.Arguments) {
		s.event("response.function_call_arguments.delta", s.in(item.ID, "", map[string]any{"delta": piece}))
	}
	s.event("response.function_call_arguments.done", s.in(item.ID, "", map[string]any{"arguments": item.Arguments, "name": item.Name}))
	s.item("done", item)
}
