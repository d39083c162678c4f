package gemini

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/sse"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// maxCandidates bounds the candidates that are written; the API allows as many (candidateCount).
const maxCandidates = 8

type content struct {
	Role  string `json:"role"`
	Parts []any  `json:"parts"`
}

type words struct {
	Text string `json:"text"`
}

type alternative struct {
	Content       content `json:"content"`
	FinishReason  string  `json:"finishReason,omitempty"`
	FinishMessage string  `json:"finishMessage,omitempty"`
	Index         int     `json:"index"`
}

type tokens struct {
	Prompt     int `json:"promptTokenCount"`
	Candidates int `json:"candidatesTokenCount"`
	Total      int `json:"totalTokenCount"`
}

type feedback struct {
	Reason  string `json:"blockReason"`
	Message string `json:"blockReasonMessage"`
}

type generated struct {
	Candidates []alternative `json:"candidates"`
	Feedback   *feedback     `json:"promptFeedback,omitempty"`
	Usage      tokens        `json:"usageMetadata"`
	Version    string        `json:"modelVersion"`
	ID         string        `json:"responseId"`
}

// Stopped writes the model's turn with finishReason SAFETY, once for each candidate that was asked for. Where an answer by a
// schema was asked for the notice is the finishMessage, and that of the prompt's block, which all SDKs show: clients parse every
// text.
func (Codec) Stopped(req wire.Request, n wire.Notice) (body []byte, contentType string) {
	q := asRequest(req)
	g := generated{Version: req.Model(), ID: n.RequestID}
	for i := range min(max(q.candidates, 1), maxCandidates) {
		c := alternative{Content: content{"model", []any{}}, FinishReason: "SAFETY", Index: i}
		if q.structured {
			c.FinishMessage, g.Feedback = n.Text, &feedback{"SAFETY", n.Text}
		} else {
			c.Content.Parts = append(c.Content.Parts, words{n.Text})
		}
		g.Candidates = append(g.Candidates, c)
	}
	return q.send(encode(g))
}

func asRequest(req wire.Request) *request {
	if q, ok := req.(*request); ok {
		return q
	}
	return &request{stream: req.Stream()}
}

// send puts a document into the shape that the request asked for.
func (q *request) send(doc []byte) (body []byte, contentType string) {
	switch {
	case !q.stream:
		return doc, "application/json"
	case q.array:
		return append(append([]byte{'['}, doc...), ']'), "application/json"
	}
	return sse.Append(nil, "", string(doc)), "text/event-stream"
}

type callPart struct {
	Call      functionCall `json:"functionCall"`
	Signature string       `json:"thoughtSignature,omitempty"`
}

type functionCall struct {
	ID   string   `json:"id,omitempty"`
	Name string   `json:"name"`
	Args struct{} `json:"args"` // empty here: encoding would write the arguments in its own way
}

// unsigned is what the API takes in place of the signature of a call that it has not made itself
// (https://ai.google.dev/gemini-api/docs/thought-signatures): the bytes skip_thought_signature_validator, read as the base64 that
// they are and written in the alphabet that all clients decode.
const unsigned = "skip/thought/signature/validator"

// Released writes a turn of one functionCall for each call. Arguments are one JSON object, as the API has no others, and the
// tool is one that the client runs. The signatures that the calls came with are not kept, so the first one says so.
func (Codec) Released(req wire.Request, calls []wire.Call, id string) (body []byte, contentType string, err error) {
	if len(calls) == 0 {
		return nil, "", errors.New("no call to release")
	}
	g := generated{Version: req.Model(), ID: id}
	turn := content{Role: "model"}
	for i, call := range calls {
		switch _, bad := wire.ParseObject(object(call), wire.MaxDepth); {
		case call.Freeform || bad != nil:
			return nil, "", fmt.Errorf("call %d: the format has no room for arguments that are not one JSON object", i)
		case gatehouse.Part{Tool: call.Tool}.Hosted():
			return nil, "", fmt.Errorf("call %d: the provider runs the tool", i)
		}
		part := callPart{Call: functionCall{ID: call.ID, Name: call.Tool}}
		if i == 0 {
			part.Signature = unsigned
		}
		turn.Parts = append(turn.Parts, part)
	}
	g.Candidates = []alternative{{Content: turn, FinishReason: "STOP"}}
	body, contentType = asRequest(req).send(withArguments(encode(g), calls))
	return body, contentType, nil
}

// object is the arguments of a call; none at all are an empty object.
func object(call wire.Call) []byte {
	if strings.TrimSpace(call.Arguments) == "" {
		return []byte("{}")
	}
	return []byte(call.Arguments)
}

// withArguments puts the arguments into the bytes of a turn of this package's making.
func withArguments(doc []byte, calls []wire.Call) []byte {
	root, err := rawjson.Parse(doc, wire.MaxDepth)
	if err != nil {
		panic("gemini: " + err.Error()) // encode made it
	}
	var patches []rawjson.Patch
	for i, part := range root.Get("candidates").Elems[0].Get("content").Get("parts").Elems {
		at := part.Get("functionCall").Get("args")
		patches = append(patches, rawjson.Patch{Start: at.Start, End: at.End, With: object(calls[i])})
	}
	return rawjson.Splice(doc, patches)
}
