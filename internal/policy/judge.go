package policy

import (
	"fmt"

	"github.com/gatehouse-gateway/gatehouse"
)

// Call is a tool call as the model made it.
type Call struct {
	Tool     string // full name; "hosted:NAME" and "mcp:LABEL/TOOL" for tools that the provider runs
	Args     string // as the wire has them
	Freeform bool   // the tool takes text, not JSON: Args is not read as JSON
}

// Judgement is the gate's answer.
type Judgement struct {
	Verdict gatehouse.Verdict // allow, flag or block
	Rule    string            // what decided: tools.rules[1], tools.flag[0], allow, built-in flag delete_*, arguments, default
	Reason  string            // for humans; never quotes arguments
}

// Judge says what may happen to a call. Every rule that matches counts, and the strictest verdict wins; of equals the
// first is named. Arguments that readers could understand differently are blocked before any rule is asked.
func (p *Policy) Judge(c Call) Judgement {
	if !c.Freeform {
		if reason := wrongArguments(c.Args); reason != "" {
			return Judgement{gatehouse.Block, "arguments", reason}
		}
	}
	return p.JudgeDeclared(c.Tool)
}

// JudgeDeclared says what may happen to a tool by its name alone.
func (p *Policy) JudgeDeclared(tool string) Judgement {
	if tool == "" {
		return Judgement{gatehouse.Block, "tool", "the call names no tool"}
	}
	var j Judgement
	inside, lifted := !p.fenced, false
	for _, r := range p.rules {
		if !r.match(tool) {
			continue
		}
		j.add(r.verdict, r.name, fmt.Sprintf("the rule for %s says %s", r.glob, r.verdict))
		inside = inside || r.verdict != gatehouse.Block && r.selects()
		lifted = lifted || r.verdict == gatehouse.Allow && r.exact()
	}
	for _, m := range p.flag {
		if m.match(tool) {
			j.add(gatehouse.Flag, m.name, fmt.Sprintf("tools matching %s need approval", m.glob))
			inside = true
		}
	}
	if !lifted {
		p.addBuiltins(&j, tool)
	}
	for _, m := range p.allow {
		if m.match(tool) {
			j.add(gatehouse.Allow, m.name, "on the allow list")
			inside = true
		}
	}
	if !inside {
		j.add(gatehouse.Block, "allow", "not on the allow list")
	}
	j.add(gatehouse.Allow, "default", "no rule matches")
	return j
}

func (p *Policy) addBuiltins(j *Judgement, tool string) {
	segments := leafSegments(tool)
	for _, b := range p.builtin {
		if b.match(segments) {
			j.add(gatehouse.Flag, "built-in flag "+b.pattern, fmt.Sprintf("tools named %s need approval unless a rule allows them by name", b.pattern))
		}
	}
}

// add takes the stricter of two judgements, and the earlier of equals.
func (j *Judgement) add(v gatehouse.Verdict, rule, reason string) {
	if v.Stricter(j.Verdict) {
		*j = Judgement{v, rule, reason}
	}
}
