package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
)

// Model is a model server that answers at once: prose that is different every time, as one completion or as a stream. To a
// request that declares tools it answers with a secret in the text and a call of one of the tools, which every other time is
// one that a gateway shall hold back. As the model of a [Conversation] it calls a tool when it is asked, and answers when it has
// the result.
type Model struct{}

// conversing is the name of the model that conversations ask.
const conversing = "gpt-4o-conversing"

// answerSize is the text of one answer, in bytes.
const answerSize = 400

// pieceSize is the text of one event of a stream, in bytes: a few tokens.
const pieceSize = 16

func (Model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, "the body broke off", http.StatusBadRequest)
		return
	}
	a := answer{text: prose(answerSize)}
	// What the load generator writes is known to the byte; parsing it would only take CPU from the measured process.
	switch {
	case bytes.HasPrefix(body, []byte(`{"model":"`+conversing)):
		if bytes.LastIndex(body, []byte(`{"role":"user"`)) > bytes.LastIndex(body, []byte(`{"role":"tool"`)) {
			a.call = &call{ID: "call_" + token(24), Type: "function", Function: function{Name: "lookup", Arguments: `{"name":"notes/` + token(8) + `"}`}}
		}
	case bytes.Contains(body, []byte(`"tools":[`)):
		a.text = prose(answerSize/2) + "The token was " + secret() + ". " + prose(answerSize/2)
		a.call = &call{ID: "call_" + token(24), Type: "function", Function: function{Name: "read_file", Arguments: `{"path":"notes/` + token(8) + `.txt"}`}}
		if draw(2) == 0 {
			a.call.Function = function{Name: "send_email", Arguments: `{"to":"` + token(8) + `@example.com","body":"as agreed"}`}
		}
	}
	if bytes.Contains(body, []byte(`"stream":true`)) {
		w.Header().Set("Content-Type", "text/event-stream")
		a.stream(w)
		return
	}
	whole := a.completion()
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(whole)))
	w.Write(whole) //nolint:errcheck // a client that has left is no failure of ours
}

// answer is one answer of the model.
type answer struct {
	text string
	call *call
}

func (a answer) finish() string {
	if a.call != nil {
		return "tool_calls"
	}
	return "stop"
}

const answerHead = `{"id":"chatcmpl-bench","object":%q,"created":1750000000,"model":"gpt-4o-mini","choices":[{"index":0,`

func (a answer) completion() []byte {
	m := message{Role: "assistant", Content: a.text}
	if a.call != nil {
		m.Calls = []call{*a.call}
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, answerHead+`"message":%s,"finish_reason":%q}],"usage":{"prompt_tokens":250,"completion_tokens":100,"total_tokens":350}}`,
		"chat.completion", quoted(m), a.finish())
	return b.Bytes()
}

// stream writes the answer as events, each sent by itself.
func (a answer) stream(w http.ResponseWriter) {
	c := http.NewResponseController(w)
	send := func(format string, args ...any) {
		fmt.Fprintf(w, "data: "+answerHead+format+"}]}\n\n", append([]any{"chat.completion.chunk"}, args...)...)
		c.Flush() //nolint:errcheck // a client that has left is no failure of ours
	}
	send(`"delta":{"role":"assistant","content":""},"finish_reason":null`)
	runes := []rune(a.text)
	for at := 0; at < len(runes); at += pieceSize {
		send(`"delta":{"content":%s},"finish_reason":null`, quoted(string(runes[at:min(at+pieceSize, len(runes))])))
	}
	if a.call != nil {
		send(`"delta":{"tool_calls":[{"index":0,"id":%q,"type":"function","function":{"name":%q,"arguments":%s}}]},"finish_reason":null`,
			a.call.ID, a.call.Function.Name, quoted(a.call.Function.Arguments))
	}
	send(`"delta":{},"finish_reason":%q`, a.finish())
	io.WriteString(w, "data: [DONE]\n\n") //nolint:errcheck // as above
}

func quoted(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings always marshal
	}
	return raw
}
