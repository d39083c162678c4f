package fake

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// shelf is what a server of the Responses API stores.
type shelf struct {
	mu   sync.Mutex
	kept map[string]stored // by id
	said map[string]string // the texts of messages, by their ids
}

// stored is a response and how it came to be.
type stored struct {
	response
	input    any
	messages []Message // the conversation up to and including the response
}

func (s *shelf) put(req Request, turn Turn, r response) {
	if !r.Store {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept == nil {
		s.kept, s.said = map[string]stored{}, map[string]string{}
	}
	for _, item := range r.Output {
		if m, ok := item.(outputMessage); ok {
			s.said[m.ID] = turn.Text
		}
	}
	messages := append(slices.Clone(req.Messages), Message{Role: "assistant", Text: turn.Text})
	s.kept[r.ID] = stored{response: r, input: req.Body["input"], messages: messages}
}

func (s *shelf) get(id string) (stored, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept, ok := s.kept[id]
	return kept, ok
}

func (s *shelf) history(id string) []Message {
	kept, _ := s.get(id)
	return kept.messages
}

// unanswered says why a request cannot continue the response that it names.
func (s *shelf) unanswered(body map[string]any) string {
	id := str(body["previous_response_id"])
	if id == "" {
		return ""
	}
	kept, ok := s.get(id)
	if !ok {
		return fmt.Sprintf("Previous response with id '%s' not found.", id)
	}
	given := s.answered(body)
	for _, call := range calls(kept.Output) {
		if !slices.Contains(given, call) {
			return "No tool output found for function call " + call + "."
		}
	}
	return ""
}

// unknown says which message a request names that nobody has kept.
func (s *shelf) unknown(body map[string]any) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, item := range maps(body["input"]) {
		id := str(item["id"])
		if _, ok := s.said[id]; !ok && item["type"] == "item_reference" {
			return "Item with id '" + id + "' not found."
		}
	}
	return ""
}

// message is what a message that is kept says.
func (s *shelf) message(id string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.said[id]
}

// stored answers for what is on the shelf: GET, DELETE, cancel and input_items.
func (o *OpenAI) stored(w http.ResponseWriter, r *http.Request) {
	n := o.next()
	for name, values := range (openAI{}).headers(n) {
		w.Header()[name] = values
	}
	if o.record(r) != nil {
		return // the client has gone
	}
	id, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v1/responses/"), "/")
	kept, ok := o.shelf.get(id)
	switch {
	case !bearer(r.Header):
		writeJSON(w, http.StatusUnauthorized, openAI{}.failure(http.StatusUnauthorized, "You didn't provide an API key.", n))
	case !ok:
		writeJSON(w, http.StatusNotFound, openAI{}.failure(http.StatusNotFound, "Response with id '"+id+"' not found.", n))
	case r.Method == http.MethodGet && rest == "" && r.URL.Query().Get("stream") == "true":
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		sendResponse(kept.response, func(e any) error { return sendEvent(w, e) })
	case r.Method == http.MethodGet && rest == "":
		writeJSON(w, http.StatusOK, kept.response)
	case r.Method == http.MethodGet && rest == "input_items":
		writeJSON(w, http.StatusOK, inputItems(kept.input))
	case r.Method == http.MethodPost && rest == "cancel":
		kept.Status = "cancelled"
		writeJSON(w, http.StatusOK, kept.response)
	case r.Method == http.MethodDelete && rest == "":
		o.shelf.drop(id)
		writeJSON(w, http.StatusOK, map[string]any{"id": id, "object": "response", "deleted": true})
	default:
		writeJSON(w, http.StatusNotFound, openAI{}.failure(http.StatusNotFound, "Not found", n))
	}
}

func (s *shelf) drop(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.kept, id)
}

// inputItems are the items of an input, as a list of the API.
func inputItems(input any) any {
	items := []any{}
	if said, ok := input.(string); ok {
		items = append(items, map[string]any{"id": "msg_input", "type": "message", "role": "user", "status": "completed",
			"content": []any{map[string]any{"type": "input_text", "text": said}}})
	} else if list, ok := input.([]any); ok {
		items = append(items, list...)
	}
	return map[string]any{"object": "list", "data": items, "first_id": "first", "last_id": "last", "has_more": false}
}
