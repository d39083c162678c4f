package policy

import (
	"strings"
	"time"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
)

// scene is a call as the conditions of one judgement see it. Values become CEL's when the first condition asks, once.
type scene struct {
	call     *Call
	doc      []byte        // the arguments
	root     rawjson.Value // of doc; not set for freeform text
	size     int           // bytes that conditions can read
	free     float64       // work that was not counted so far, by effort
	spent    uint64        // cost of what was counted so far
	deadline time.Time     // of counted work; zero before there is any
	traced   int           // values looked at for their origins
	blamed   Blame         // what the rule that is worked out was told of a tool's result

	args, tool, now ref.Val // nil until asked for
}

// own is what the agent's own code says of the tool; of a tool that is only declared, nothing.
func (s *scene) own() gatehouse.Verdict {
	if s == nil {
		return ""
	}
	return s.call.Own
}

// ResolveName is the value of a variable of the environment; what the call does not know is not found.
func (s *scene) ResolveName(name string) (any, bool) {
	if c := s.call; c.Agent != nil {
		switch name {
		case "agent.id":
			return types.String(c.Agent.ID), true
		case "agent.name":
			return types.String(c.Agent.Name), true
		case "agent.account":
			return types.String(c.Agent.Account), true
		}
	}
	if c := s.call; c.Session != nil {
		switch name {
		case "session.id":
			return types.String(c.Session.ID), true
		case "session.risk":
			return types.Double(c.Session.Risk), true
		case "session.tainted":
			return types.Bool(c.Session.Tainted), true
		case "session.turns":
			return types.Int(c.Session.Turns), true
		}
	}
	switch {
	case name == "args":
		return s.arguments(), true
	case name == "tool":
		if s.tool == nil {
			s.tool = types.String(strings.ToValidUTF8(s.call.Tool, "\uFFFD"))
		}
		return s.tool, true
	case name == "now" && !s.call.Now.IsZero():
		if s.now == nil {
			s.now = types.Timestamp{Time: s.call.Now.UTC()}
		}
		return s.now, true
	}
	return nil, false
}

// Parent is nil: a scene is all there is.
func (s *scene) Parent() cel.Activation { return nil }

// ResolveFunction is the function of that name which asks about this call.
func (s *scene) ResolveFunction(name string) (cel.LateBoundFunction, bool) {
	switch name {
	case originFunction:
		return s.origin, true
	case originToolFunction:
		return s.originTool, true
	}
	return nil, false
}

func (s *scene) arguments() ref.Val {
	if s.args == nil {
		if s.call.Freeform {
			text := types.String(strings.ToValidUTF8(s.call.Args, "\uFFFD"))
			s.args = types.NewStringInterfaceMap(types.DefaultTypeAdapter, map[string]any{"input": text})
		} else {
			s.args = celValue(s.doc, s.root)
		}
	}
	return s.args
}
