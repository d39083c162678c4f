package proxy_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/approval"
	"github.com/gatehouse-gateway/gatehouse/internal/checkpoint"
	"github.com/gatehouse-gateway/gatehouse/internal/fake"
	"github.com/gatehouse-gateway/gatehouse/internal/proxy"
)

const (
	responsesPath = "/openai/v1/responses"
	patToken      = "gh" + "p_" + "R4nD0mW1kX9vB3nM7qT2sY5uZ8aC6dE0fGhJ" // a secret that a detector knows
)

var responseID = regexp.MustCompile(`"id":"(resp_[^"]*)"`)

// continued asks with what follows a stored response; none for an empty id.
func (g *gateway) continued(stream bool, previous string, input any) (a answer, id string) {
	g.t.Helper()
	body := object{"model": "m", "stream": stream, "input": input}
	if previous != "" {
		body["previous_response_id"] = previous
	}
	a = g.send("POST", responsesPath, marshal(body))
	if found := responseID.FindStringSubmatch(a.body); found != nil {
		id = found[1]
	}
	return a, id
}

// last is the last request that reached the OpenAI model, decoded.
func (g *gateway) last() (body object) {
	g.t.Helper()
	all := g.openai.Requests()
	if err := json.Unmarshal(all[len(all)-1].Body, &body); err != nil {
		g.t.Fatal(err)
	}
	return body
}

func bothWays(t *testing.T, test func(t *testing.T, stream bool)) {
	for _, stream := range []bool{false, true} {
		t.Run(fmt.Sprintf("stream=%v", stream), func(t *testing.T) { test(t, stream) })
	}
}

func TestStoredResponsesShareASession(t *testing.T) {
	bothWays(t, func(t *testing.T, stream bool) {
		g := start(t, options{})
		first, id := g.continued(stream, "", "Hello.")
		second, _ := g.continued(stream, id, "And now?")
		other, _ := g.continued(stream, "", "Hello.")
		session := first.header.Get("X-Mnemom-Session")
		if second.status != http.StatusOK || second.header.Get("X-Mnemom-Session") != session || other.header.Get("X-Mnemom-Session") == session {
			t.Errorf("%d, sessions %s, %s, %s", second.status, session, second.header.Get("X-Mnemom-Session"), other.header.Get("X-Mnemom-Session"))
		}
		if got := g.last()["input"]; got != "Hello." {
			t.Errorf("the model got %v", got)
		}
	})
}

// A call that did not leave waits for its result at the provider, which gets it with the next turn.
func TestWithheldCallIsAnsweredForTheProvider(t *testing.T) {
	bothWays(t, func(t *testing.T, stream bool) {
		g, _ := queued(t, options{script: func(r fake.Request) fake.Turn {
			if r.LastUser() == "Mail it" {
				return fake.Turn{Reasoning: "A mail.", Calls: []fake.Call{{ID: "call_1", Name: "send_email", Args: mailArgs}, {ID: "call_2", Name: "get_time", Args: "{}"}}}
			}
			return fake.Turn{Text: "Good."}
		}})
		a, id := g.continued(stream, "", "Mail it")
		if strings.Contains(a.body, `"call_1"`) || !strings.Contains(a.body, `"call_2"`) {
			t.Fatalf("got %s", a.body)
		}
		result := []object{{"type": "function_call_output", "call_id": "call_2", "output": "noon"}, {"role": "user", "content": "Never mind."}}
		a, id = g.continued(stream, id, result)
		if a.status != http.StatusOK {
			t.Fatalf("%d: %s", a.status, a.body)
		}
		input := g.last()["input"].([]any)
		told := input[0].(object)
		if len(input) != 3 || told["call_id"] != "call_1" || told["type"] != "function_call_output" || !strings.Contains(told["output"].(string), "waits for a human's approval") {
			t.Errorf("the model got %v", input)
		}
		if a, _ = g.continued(stream, id, "Once more."); a.status != http.StatusOK || g.last()["input"] != "Once more." {
			t.Errorf("%d: the model got %v", a.status, g.last()["input"])
		}
	})
}

// What a human has let through comes without the model, also where the provider keeps the conversation; its result goes on where
// the model made the call.
func TestReplayedApprovalOfAStoredResponse(t *testing.T) {
	bothWays(t, func(t *testing.T, stream bool) {
		script, asked := mails(mailArgs)
		g, q := queued(t, options{script: func(r fake.Request) fake.Turn {
			if r.Last().Role == "tool" && strings.Contains(r.Last().Text, "sent") {
				return fake.Turn{Text: "Done."}
			}
			return script(r)
		}, doors: func(s *proxy.Settings) { s.Replay = true }})
		_, first := g.continued(stream, "", "Mail it")
		a, second := g.continued(stream, first, "Well?")
		id := approvalID.FindString(a.body)
		if *asked != 2 || id == "" {
			t.Fatalf("asked %d times: %s", *asked, a.body)
		}
		if _, err := q.Approve(t.Context(), id, approval.Decision{By: "mk-1", From: "192.0.2.1"}); err != nil {
			t.Fatal(err)
		}
		a, made := g.continued(stream, second, "Go on")
		if *asked != 2 || a.verdict(t).Autonomy != "observed" || !strings.Contains(a.body, `"call_2"`) || !strings.Contains(a.body, "12345678901234567890") {
			t.Fatalf("asked %d times, %s: %s", *asked, a.header.Get("X-Mnemom-Verdict"), a.body)
		}
		session := a.header.Get("X-Mnemom-Session")
		a, _ = g.continued(stream, made, []object{{"type": "function_call_output", "call_id": "call_2", "output": "sent"}})
		if a.status != http.StatusOK || !strings.Contains(a.body, "Done.") || a.header.Get("X-Mnemom-Session") != session {
			t.Fatalf("%d: %s", a.status, a.body)
		}
		if got := g.last(); got["previous_response_id"] != second || len(got["input"].([]any)) != 1 {
			t.Errorf("the model got %v", got)
		}
	})
}

// The provider knows nothing of an answer that the gateway has given in its place: a conversation goes on from before it.
func TestConversationGoesOnBehindABlockedTurn(t *testing.T) {
	bothWays(t, func(t *testing.T, stream bool) {
		g := start(t, options{})
		g.continued(stream, "", "Hi.") // of an agent that no provider has accepted yet nothing is kept
		a, blocked := g.continued(stream, "", attack)
		session := a.header.Get("X-Mnemom-Session")
		if len(g.received()) > 1 || !strings.Contains(a.body, "stopped by the front checkpoint") {
			t.Fatalf("got %s", a.body)
		}
		a, id := g.continued(stream, blocked, "Hello.")
		if a.status != http.StatusOK || a.header.Get("X-Mnemom-Session") != session || g.last()["previous_response_id"] != nil {
			t.Fatalf("%d: %s; the model got %v", a.status, a.body, g.last())
		}
		_, blocked = g.continued(stream, id, attack)
		_, blocked = g.continued(stream, blocked, attack)
		a, _ = g.continued(stream, blocked, "Hello again.")
		if a.status != http.StatusOK || a.header.Get("X-Mnemom-Session") != session || g.last()["previous_response_id"] != id {
			t.Errorf("%d: %s; the model got %v", a.status, a.body, g.last())
		}
	})
}

// Clients name messages that the provider keeps in place of what they say. Those that the gateway has written it does not know.
func TestMessagesThatAreNamed(t *testing.T) {
	message := regexp.MustCompile(`"id":"(msg_[^"]*)"`)
	bothWays(t, func(t *testing.T, stream bool) {
		for said, sent := range map[string]string{"Hello.": "item_reference", "Mail it": "something was withheld", attack: "something was withheld"} {
			g, _ := queued(t, options{script: func(r fake.Request) fake.Turn {
				if r.LastUser() == "Mail it" {
					return fake.Turn{Calls: []fake.Call{{ID: "call_1", Name: "send_email", Args: mailArgs}}}
				}
				return fake.Turn{Text: "Good."}
			}})
			g.continued(stream, "", "Hi.") // of an agent that no provider has accepted yet nothing is kept
			a, _ := g.continued(stream, "", said)
			id := message.FindStringSubmatch(a.body)[1]
			b, _ := g.continued(stream, "", []object{{"role": "user", "content": said}, {"type": "item_reference", "id": id}, {"role": "user", "content": "And now?"}})
			if session := a.header.Get("X-Mnemom-Session"); b.status != http.StatusOK || b.header.Get("X-Mnemom-Session") != session {
				t.Errorf("%s: %d, sessions %s and %s: %s", said, b.status, session, b.header.Get("X-Mnemom-Session"), b.body)
			}
			if got := string(marshal(g.last()["input"])); !strings.Contains(got, sent) {
				t.Errorf("%s: the model got %s", said, got)
			}
		}
	})
}

// What is stored is checked when it is fetched, whole or in events, and so is what runs in the background.
func TestStoredResponseIsChecked(t *testing.T) {
	g, _ := queued(t, options{script: func(fake.Request) fake.Turn {
		return fake.Turn{Text: "It is " + patToken, Calls: []fake.Call{{ID: "call_1", Name: "send_email", Args: mailArgs}}}
	}})
	a := g.send("POST", responsesPath, marshal(object{"model": "m", "input": "Mail it", "background": true}))
	id := responseID.FindStringSubmatch(a.body)[1]
	session := a.header.Get("X-Mnemom-Session")
	if a.status != http.StatusOK || !strings.Contains(a.body, `"status":"queued"`) || strings.Contains(a.body, patToken) {
		t.Fatalf("%d: %s", a.status, a.body)
	}
	for _, r := range [][2]string{{"GET", ""}, {"GET", "?stream=true"}, {"POST", "/cancel"}} {
		a := g.send(r[0], responsesPath+"/"+id+r[1], nil)
		if a.status != http.StatusOK || strings.Contains(a.body, patToken) || strings.Contains(a.body, "x@example.com") || a.header.Get("X-Mnemom-Session") != session ||
			a.verdict(t).Back != "enforced" || a.verdict(t).Autonomy != "enforced" || approvalID.FindString(a.body) == "" {
			t.Errorf("%s %s: %d, %s: %s", r[0], r[1], a.status, a.header.Get("X-Mnemom-Verdict"), a.body)
		}
	}
	if got := g.approvals(); len(got) != 1 {
		t.Errorf("%d approvals of one call", len(got))
	}
	if a := g.send("GET", responsesPath+"/"+id+"?stream=true&starting_after=3", nil); a.status != http.StatusForbidden || !strings.Contains(a.body, "uninspected_endpoint") {
		t.Errorf("from the middle: %d: %s", a.status, a.body)
	}
	if a := g.send("DELETE", responsesPath+"/"+id, nil); a.status != http.StatusOK {
		t.Errorf("delete: %d: %s", a.status, a.body)
	}
	if a := g.send("GET", responsesPath+"/"+id, nil); a.status != http.StatusNotFound {
		t.Errorf("after that: %d: %s", a.status, a.body)
	}
}

// A stored chat completion is checked like one that is made now; it can be deleted.
func TestStoredCompletionIsChecked(t *testing.T) {
	var asked []string
	g, _ := queued(t, options{handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.RequestURI())
		w.Header().Set("Content-Type", "application/json")
		if r.Method == http.MethodDelete {
			fmt.Fprint(w, `{"object":"chat.completion.deleted","id":"chatcmpl-1","deleted":true}`)
			return
		}
		fmt.Fprintf(w, `{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"tool_calls","logprobs":null,`+
			`"message":{"role":"assistant","content":"It is %s","refusal":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"send_email","arguments":%q}}]}}],`+
			`"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3},"metadata":{"for":"a test"},"service_tier":"default"}`, patToken, mailArgs)
	})})
	const path = "/openai/v1/chat/completions/chatcmpl-1"
	for _, at := range []string{path, strings.TrimPrefix(path, "/openai")} {
		a := g.send("GET", at, nil)
		if a.status != http.StatusOK || strings.Contains(a.body, patToken) || strings.Contains(a.body, "x@example.com") || !strings.Contains(a.body, `"metadata":{"for":"a test"}`) ||
			a.verdict(t).Back != "enforced" || a.verdict(t).Autonomy != "enforced" || approvalID.FindString(a.body) == "" {
			t.Errorf("%s: %d, %s: %s", at, a.status, a.header.Get("X-Mnemom-Verdict"), a.body)
		}
	}
	if a := g.send("DELETE", path, nil); a.status != http.StatusOK || !strings.Contains(a.body, `"deleted":true`) {
		t.Errorf("delete: %d: %s", a.status, a.body)
	}
	if want := []string{"GET /v1/chat/completions/chatcmpl-1", "GET /v1/chat/completions/chatcmpl-1", "DELETE /v1/chat/completions/chatcmpl-1"}; !slices.Equal(asked, want) {
		t.Errorf("the provider was asked for %v", asked)
	}
}

// A call that a human has let through leaves with the response that made it, when that is fetched again.
func TestApprovedCallOfAStoredResponse(t *testing.T) {
	script, asked := mails(mailArgs)
	g, q := queued(t, options{script: func(r fake.Request) fake.Turn {
		turn := script(r)
		turn.Text = "I write."
		return turn
	}, doors: func(s *proxy.Settings) { s.Replay = true }})
	a, id := g.continued(false, "", "Mail it")
	if _, err := q.Approve(t.Context(), approvalID.FindString(a.body), approval.Decision{By: "mk-1", From: "192.0.2.1"}); err != nil {
		t.Fatal(err)
	}
	a = g.send("GET", responsesPath+"/"+id+"?stream=true", nil)
	if !strings.Contains(a.body, `"call_1"`) || !strings.Contains(a.body, "I write.") || !strings.Contains(a.body, `"`+id+`"`) || *asked != 1 || !g.record(a).Stream {
		t.Fatalf("asked %d times: %s", *asked, a.body)
	}
	// The client has the call now, and its result is the client's to give.
	a, _ = g.continued(false, id, []object{{"type": "function_call_output", "call_id": "call_1", "output": "sent"}})
	if input := g.last()["input"].([]any); a.status != http.StatusOK || len(input) != 1 {
		t.Errorf("%d: the model got %v", a.status, input)
	}
}

func TestInputItemsAreChecked(t *testing.T) {
	g := start(t, options{})
	_, id := g.continued(false, "", "My token is "+patToken)
	a := g.send("GET", responsesPath+"/"+id+"/input_items", nil)
	if a.status != http.StatusOK || strings.Contains(a.body, patToken) || a.verdict(t).Back != "enforced" {
		t.Errorf("%d, %s: %s", a.status, a.header.Get("X-Mnemom-Verdict"), a.body)
	}
}

func TestEmbeddingsAreRead(t *testing.T) {
	g := start(t, options{})
	const path = "/openai/v1/embeddings"
	if a := g.send("POST", path, marshal(object{"model": "m", "input": attack})); a.status != http.StatusForbidden || !strings.Contains(a.body, "safe_house_blocked") ||
		len(g.received()) > 0 || g.record(a).Status != http.StatusForbidden {
		t.Errorf("%d: %s", a.status, a.body)
	}
	body := []byte(`{"model":"m", "input":["Hello.", "Bread."],"dimensions":1.0}`)
	if a := g.send("POST", path, body); a.status != http.StatusOK || string(g.openai.Requests()[0].Body) != string(body) {
		t.Errorf("%d: %s", a.status, a.body)
	}
	if a := g.send("POST", path, []byte(`{"model":"m","input":[1,2]}`)); a.status != http.StatusOK || !a.advises("gatehouse.coverage") {
		t.Errorf("tokens: %d: %s", a.status, a.body)
	}
}

// What was withheld in observe mode left: nothing is to be answered for the client.
func TestCallThatLeftIsAnsweredByTheClient(t *testing.T) {
	script, _ := mails(mailArgs)
	g := start(t, options{script: script, settings: func(s *checkpoint.Settings) { s.Autonomy = gatehouse.Observe }})
	_, id := g.continued(false, "", "Mail it")
	if a, _ := g.continued(false, id, "And?"); a.status != http.StatusBadRequest || !strings.Contains(a.body, "No tool output found") {
		t.Errorf("%d: %s", a.status, a.body)
	}
}
