package main

import (
	"slices"
	"strings"

	"github.com/gatehouse-gateway/gatehouse/internal/fake"
)

// order is a wish within a text: [[call NAME ARGUMENTS]] or [[say TEXT]].
type order struct{ verb, rest string }

// ordered is the turn that orders ask for, anywhere in what the user has said last. Agents wrap what their user says in words
// of their own, and add some behind results of tools; an order is found all the same. A call is made once, and only where its
// tool is declared: agents also ask for titles and summaries of what was said.
func ordered(r fake.Request) (fake.Turn, bool) {
	last := newest(r.Messages)
	if i := slices.IndexFunc(last, func(m fake.Message) bool { return m.Role == "tool" }); i >= 0 {
		done := slices.ContainsFunc(r.Messages, func(m fake.Message) bool { return len(orders(m)) > 0 })
		return fake.Echo(fake.Request{Messages: last[i : i+1]}), done
	}
	for _, m := range slices.Backward(last) {
		if list := orders(m); len(list) > 0 {
			return obeyed(list, r.Tools), true
		}
	}
	return fake.Turn{}, false
}

// newest are the messages behind the model's last.
func newest(messages []fake.Message) []fake.Message {
	for i, m := range slices.Backward(messages) {
		if m.Role == "assistant" {
			return messages[i+1:]
		}
	}
	return messages
}

// orders reads the orders in what a user says.
func orders(m fake.Message) (list []order) {
	if m.Role != "user" {
		return nil
	}
	for text := m.Text; ; {
		_, behind, opened := strings.Cut(text, "[[")
		words, rest, closed := strings.Cut(behind, "]]")
		if !opened || !closed {
			return list
		}
		if verb, what, _ := strings.Cut(words, " "); verb == "call" || verb == "say" {
			list = append(list, order{verb, what})
		}
		text = rest
	}
}

// obeyed does what the orders say, with the tools that there are.
func obeyed(list []order, tools []string) (t fake.Turn) {
	for _, o := range list {
		name, args, _ := strings.Cut(o.rest, " ")
		switch {
		case o.verb == "say":
			t.Text = o.rest
		case slices.Contains(tools, name):
			t.Calls = append(t.Calls, fake.Call{Name: name, Args: args})
		default:
			t.Text = "There is no tool " + name + "."
		}
	}
	return t
}
