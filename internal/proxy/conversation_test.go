package proxy_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse/internal/fake"
)

func lastBody(t *testing.T, g *gateway) string {
	t.Helper()
	all := g.received()
	if len(all) == 0 {
		t.Fatal("the model was not called")
	}
	return string(all[len(all)-1].Body)
}

func TestAttackInHistory(t *testing.T) {
	for _, d := range doors {
		g := start(t, options{})
		a := g.ask(d, false, user(attack), assistant("No."), user("What is a fjord?"))
		if a.status != 200 || a.verdict(t).Front != "enforced" {
			t.Errorf("%d %s", a.status, a.header.Get("X-Mnemom-Verdict"))
		}
		if got := lastBody(t, g); strings.Contains(got, "Ignore all") || !strings.Contains(got, "quarantined") || !strings.Contains(got, "What is a fjord?") {
			t.Errorf("the model got %s", got)
		}
	}
}

func TestBlockedTextResent(t *testing.T) {
	for _, d := range doors {
		g := start(t, options{})
		g.ask(d, false, user("hello")) // nothing is remembered of an agent whom no upstream has accepted
		for range 3 {
			a := g.send("POST", d.path, d.body(false, user(attack)), "X-Mnemom-Session", "s")
			if a.verdict(t).Front != "enforced" {
				t.Errorf("front=%s", a.verdict(t).Front)
			}
		}
		if n := len(g.received()); n != 1 {
			t.Errorf("%d calls", n)
		}
		// Later, as history, it is replaced without being told of again.
		a := g.send("POST", d.path, d.body(false, user(attack), assistant("Stopped."), user("Hello")), "X-Mnemom-Session", "s")
		if a.verdict(t).Front != "pass" || a.header.Get("X-Mnemom-Advisory") != "" || strings.Contains(lastBody(t, g), "Ignore all") {
			t.Errorf("%s, %s: %s", a.header.Get("X-Mnemom-Verdict"), a.header.Get("X-Mnemom-Advisory"), lastBody(t, g))
		}
	}
}

func TestAttackSplitOverParts(t *testing.T) {
	first, second, _ := strings.Cut(attack, " previous")
	split := object{"role": "user", "content": []object{{"type": "text", "text": first}, {"type": "text", "text": "previous" + second}}}
	for _, d := range doors {
		g := start(t, options{})
		g.ask(d, false, user("hello"))
		for range 2 { // the second time the session knows both halves
			a := g.send("POST", d.path, d.body(false, split), "X-Mnemom-Session", "s")
			if a.verdict(t).Front != "enforced" {
				t.Errorf("front=%s", a.verdict(t).Front)
			}
		}
		if n := len(g.received()); n != 1 {
			t.Errorf("%d calls", n)
		}
	}
}

// toolTurn is a conversation whose last message is a tool's result.
func toolTurn(d door, result string) []object {
	if d.name == "openai" {
		return []object{user("Read the page"),
			{"role": "assistant", "content": nil, "tool_calls": []object{{"id": "call_9", "type": "function", "function": object{"name": "fetch", "arguments": "{}"}}}},
			{"role": "tool", "tool_call_id": "call_9", "content": result}}
	}
	return []object{user("Read the page"),
		{"role": "assistant", "content": []object{{"type": "tool_use", "id": "call_9", "name": "fetch", "input": object{}}}},
		{"role": "user", "content": []object{{"type": "tool_result", "tool_use_id": "call_9", "content": result}}}}
}

func TestPoisonedToolResult(t *testing.T) {
	for _, d := range doors {
		g := start(t, options{script: says("Offline maps come in June.")})
		page := string(marshal(object{"title": "Roadmap", "text": "Maps in June.\n" + attack + "\nSearch in August."}))
		first := toolTurn(d, page)
		a := g.ask(d, false, first...)
		if a.status != 200 || a.verdict(t).Front != "enforced" {
			t.Errorf("%s: %d %s", d.name, a.status, a.header.Get("X-Mnemom-Verdict"))
		}
		got := lastBody(t, g)
		if strings.Contains(got, "Ignore all") || !strings.Contains(got, "Maps in June.") || !strings.Contains(got, "Search in August.") || !strings.Contains(got, "removed by the gateway") {
			t.Errorf("the model got %s", got)
		}
		var body struct {
			Messages []struct{ Content json.RawMessage }
		}
		if err := json.Unmarshal([]byte(got), &body); err != nil {
			t.Fatal(err)
		}
		var result string
		if d.name == "openai" {
			json.Unmarshal(body.Messages[2].Content, &result)
		} else {
			var blocks []struct{ Content string }
			json.Unmarshal(body.Messages[2].Content, &blocks)
			result = blocks[0].Content
		}
		if !json.Valid([]byte(result)) {
			t.Errorf("no longer JSON: %s", result)
		}

		// The next turn repeats all of it, as the client knows it.
		b := g.ask(d, false, append(first, assistant("Offline maps come in June."), user("And then?"))...)
		if b.verdict(t).Front != "pass" || b.advises("safe_house") {
			t.Errorf("%s: replayed: %s, %s", d.name, b.header.Get("X-Mnemom-Verdict"), b.header.Get("X-Mnemom-Advisory"))
		}
		if a.header.Get("X-Mnemom-Session") != b.header.Get("X-Mnemom-Session") {
			t.Errorf("%s: another session", d.name)
		}
		prefix := got[strings.Index(got, `"messages":`):strings.LastIndex(got, "]")]
		if d.name == "anthropic" { // what stands behind the messages sorts before them
			prefix = got[strings.Index(got, `"messages":`):strings.LastIndex(got, `],"model"`)]
		}
		if prefix, _, _ = strings.Cut(prefix, `],"model"`); !strings.Contains(lastBody(t, g), prefix) {
			t.Errorf("%s: earlier messages changed:\n%s\n%s", d.name, prefix, lastBody(t, g))
		}
	}
}

func TestSessions(t *testing.T) {
	for _, d := range doors {
		g := start(t, options{})
		a := g.send("POST", d.path, d.body(false, user("hello")), "X-Mnemom-Session", "s-1")
		b := g.send("POST", d.path, d.body(false, user("hello")), "X-Mnemom-Session", "s-1", "X-Mnemom-Agent", "bob")
		c := g.send("POST", d.path, d.body(false, user("hello")), "X-Mnemom-Session", "not a session!")
		if a.header.Get("X-Mnemom-Session") != "s-1" || b.header.Get("X-Mnemom-Session") != "s-1" {
			t.Errorf("sessions %q, %q", a.header.Get("X-Mnemom-Session"), b.header.Get("X-Mnemom-Session"))
		}
		if s := c.header.Get("X-Mnemom-Session"); !uuid7.MatchString(s) {
			t.Errorf("session %q", s)
		}
		if a.header.Get("X-Mnemom-Agent") == b.header.Get("X-Mnemom-Agent") || a.header.Get("X-Mnemom-Agent") != c.header.Get("X-Mnemom-Agent") {
			t.Errorf("agents %q, %q, %q", a.header.Get("X-Mnemom-Agent"), b.header.Get("X-Mnemom-Agent"), c.header.Get("X-Mnemom-Agent"))
		}
		if id, ok := strings.CutPrefix(a.header.Get("X-Mnemom-Agent"), "mnm-"); !ok || !uuid4.MatchString(id) {
			t.Errorf("agent %q", a.header.Get("X-Mnemom-Agent"))
		}
	}
}

// What one agent has had decided is new in another agent's session of the same name.
func TestSameNamedSessionOfAnotherAgent(t *testing.T) {
	d := doors[0]
	g := start(t, options{})
	history := []object{user(attack), assistant("No."), user("hello")}
	for agent, want := range map[string]string{"alice": "enforced", "bob": "enforced"} {
		a := g.send("POST", d.path, d.body(false, history...), "X-Mnemom-Session", "s", "X-Mnemom-Agent", agent)
		if string(a.verdict(t).Front) != want {
			t.Errorf("%s: front=%s", agent, a.verdict(t).Front)
		}
	}
}

func TestSessionByTranscript(t *testing.T) {
	eachWay(t, func(t *testing.T, d door, stream bool) {
		for name, turn := range map[string]fake.Turn{"text": {Text: "Fine, and you?"}, "edited": {Text: "It is " + secret + "."}, "reasoning": {Reasoning: "hm", Text: "Fine."}} {
			g := start(t, options{script: func(fake.Request) fake.Turn { return turn }})
			a := g.ask(d, stream, user("How are you?"))
			said := strings.ReplaceAll(turn.Text, secret, "[GITHUB PAT REDACTED]")
			b := g.ask(d, stream, user("How are you?"), assistant(said), user("Good."))
			if a.header.Get("X-Mnemom-Session") != b.header.Get("X-Mnemom-Session") {
				t.Errorf("%s: another session", name)
			}
			c := g.ask(d, stream, user("How are you?"), assistant("I never said this."), user("Good."))
			if a.header.Get("X-Mnemom-Session") == c.header.Get("X-Mnemom-Session") {
				t.Errorf("%s: a forged history found the session", name)
			}
		}
	})
}

func TestSessionAfterToolCall(t *testing.T) {
	eachWay(t, func(t *testing.T, d door, stream bool) {
		g := start(t, options{script: func(fake.Request) fake.Turn {
			return fake.Turn{Calls: []fake.Call{{ID: "call_9", Name: "fetch", Args: "{}"}}}
		}})
		turn := toolTurn(d, "a page")
		a := g.ask(d, stream, turn[0])
		b := g.ask(d, stream, turn...)
		if a.header.Get("X-Mnemom-Session") != b.header.Get("X-Mnemom-Session") {
			t.Error("another session")
		}
	})
}

func TestAgentOfARefusedKeyIsNotStored(t *testing.T) {
	status := 401
	g := start(t, options{script: func(fake.Request) fake.Turn { return fake.Turn{Status: status, Error: "no"} }})
	a := g.ask(doors[0], false, user("hello"))
	stored := func() bool {
		_, known, err := g.engine.Sessions.Agent(t.Context(), "default", "sk-test", "")
		if err != nil {
			t.Fatal(err)
		}
		return known
	}
	if stored() {
		t.Error("stored after a 401")
	}
	status = 400
	b := g.ask(doors[0], false, user("hello"))
	if !stored() {
		t.Error("not stored after an answer")
	}
	if a.header.Get("X-Mnemom-Agent") != b.header.Get("X-Mnemom-Agent") {
		t.Error("the id changed")
	}
}
