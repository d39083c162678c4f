package responses

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
	"github.com/gatehouse-gateway/gatehouse/internal/wire"
)

// call is an item that makes a call.
type call struct {
	item   fields
	member string // where its arguments stand
	pieces string // the stem of the events that bring them; empty: they come with the item alone
}

// begun is the item before its arguments have come.
func (c call) begun() fields {
	out := maps.Clone(c.item)
	if _, ok := out["status"]; ok {
		out["status"] = "in_progress"
	}
	if c.pieces != "" {
		out[c.member] = ""
	}
	return out
}

// Released writes an item for each call.
func (Codec) Released(req wire.Request, calls []wire.Call, id string) (body []byte, contentType string, err error) {
	if len(calls) == 0 {
		return nil, "", errors.New("no call to release")
	}
	a := newAnswer(req, id)
	var items []call
	for i, one := range calls {
		c, err := release(req, one, id+"-"+strconv.Itoa(i))
		if err != nil {
			return nil, "", fmt.Errorf("call %d: %w", i, err)
		}
		items = append(items, c)
	}
	t := teller{numbered: true}
	var out []byte
	if req.Stream() {
		out = t.begin(nil, a)
	}
	for _, c := range items {
		a.Output = append(a.Output, c.item)
		if req.Stream() {
			out = t.call(out, c)
		}
	}
	if req.Stream() {
		return t.end(out, a), "text/event-stream", nil
	}
	return encode(a), "application/json", nil
}

// release is the item of a call. The id names it where the call has no id of its own.
func release(req wire.Request, c wire.Call, id string) (call, error) {
	callID := c.ID
	if callID == "" {
		callID = "call_" + id
	}
	space, name := "", c.Tool
	if r, ok := req.(*request); ok {
		if kind := r.clientTool(c.Tool); kind != "" {
			return builtinCall(kind, callID, "call_"+id, c.Arguments)
		}
		space, name = r.namespace(c.Tool)
	}
	if label, tool, ok := strings.Cut(strings.TrimPrefix(c.Tool, "mcp:"), "/"); ok && strings.HasPrefix(c.Tool, "mcp:") {
		return call{item: fields{"type": kindApprovalRequest, "id": callID, "server_label": label, "name": tool, "arguments": c.Arguments}}, nil
	}
	if (gatehouse.Part{Tool: c.Tool}).Hosted() {
		return call{}, errors.New("the provider runs the tool")
	}
	item := fields{"call_id": callID, "name": name}
	if space != "" {
		item["namespace"] = space
	}
	if c.Freeform {
		item["type"], item["id"], item["input"] = kindCustomCall, "ctc_"+id, c.Arguments
		return call{item: item, member: "input", pieces: "response.custom_tool_call_input"}, nil
	}
	item["type"], item["id"], item["status"], item["arguments"] = kindFunctionCall, "fc_"+id, "completed", c.Arguments
	return call{item: item, member: "arguments", pieces: "response.function_call_arguments"}, nil
}

// clientTool is the item type of the calls of a tool that the API brings along and the client runs; empty when the request offers
// none of that name.
func (r *request) clientTool(name string) string {
	for _, v := range r.root.Get("tools").Elems {
		kind := v.Get("type").Text(r.doc)
		if builtin(kind, v.Get("environment").Get("type").Text(r.doc), v.Get("execution").Text(r.doc)) != name {
			continue
		}
		switch name {
		case "shell", "local_shell", "apply_patch", "computer", "tool_search":
			return name + "_call"
		}
	}
	return ""
}

// namespace finds the namespace of a tool that the request offers in one.
func (r *request) namespace(tool string) (space, name string) {
	for _, v := range r.root.Get("tools").Elems {
		space := v.Get("name").Text(r.doc)
		if rest, ok := strings.CutPrefix(tool, space+"."); ok && v.Get("type").Text(r.doc) == "namespace" {
			return space, rest
		}
	}
	return "", tool
}

// builtinCall is a call whose arguments are members of the item, as [reader.raw] has read them.
func builtinCall(kind, callID, id, arguments string) (call, error) {
	member := "action"
	switch kind {
	case kindPatchCall:
		member = "operation"
	case "tool_search_call":
		member = "arguments"
	}
	value := json.RawMessage(arguments)
	root, err := rawjson.Parse(value, wire.MaxDepth)
	if err != nil {
		return call{}, errors.New("its arguments are no JSON")
	}
	if list := root.Get("actions"); kind == kindComputerCall && list.Exists() {
		member, value = "actions", list.Raw(value)
	}
	item := fields{"type": kind, "id": id, "call_id": callID, "status": "completed", member: value}
	if kind == kindComputerCall {
		item["pending_safety_checks"] = []string{}
	}
	return call{item: item, member: member}, nil
}
