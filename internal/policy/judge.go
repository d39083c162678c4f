package policy

import (
	"fmt"
	"strings"

	"github.com/gatehouse-gateway/gatehouse"
)

// Judgement is the gate's answer.
type Judgement struct {
	Verdict gatehouse.Verdict // allow, flag or block
	Rule    string            // what decided: tools.rules[1], tools.flag[0], allow, built-in flag delete_*, provenance, arguments, default
	Reason  string            // for humans; never quotes arguments

	Blame // of the rule provenance, and of a rule whose conditions have asked where values came from
}

// Judge says what may happen to a call. Every rule that matches and whose conditions hold counts, and the strictest verdict
// wins; of equals the first is named, but for provenance, which goes before other flags. Arguments that readers could understand differently are blocked before any rule is
// asked. A condition that fails counts as the stricter answer: the rule counts when it flags or blocks, and does not when
// it allows.
func (p *Policy) Judge(c Call) Judgement {
	s := &scene{call: &c, size: len(c.Args)}
	if !c.Freeform {
		var reason string
		if s.root, s.doc, reason = readArguments(c.Args); reason != "" {
			return Judgement{Verdict: gatehouse.Block, Rule: "arguments", Reason: reason}
		}
	}
	j := p.judge(c.Tool, s)
	if p.provenance.Stricter(j.Verdict) || p.provenance == gatehouse.Flag && j.Verdict == gatehouse.Flag {
		if reason, b := s.suspect(); reason != "" {
			return Judgement{p.provenance, "provenance", reason, b}
		}
	}
	j.Blame = s.located(j.Blame)
	return j
}

// Suspect is the argument of a call for whose origin provenance would judge it, whatever the policy says of provenance; zero when
// there is none.
func Suspect(c Call) Blame {
	s := &scene{call: &c, size: len(c.Args)}
	if !c.Freeform {
		var reason string
		if s.root, s.doc, reason = readArguments(c.Args); reason != "" {
			return Blame{}
		}
	}
	_, b := s.suspect()
	return b
}

// JudgeDeclared says what may happen to a tool by its name alone, before there is a call. Rules with conditions do not
// count: whether they hold is not known, so none blocks, flags, opens the fence or lifts a built-in flag. Of mcp:LABEL/*, which
// stands for all that a server has, a rule counts that may be meant for one of them.
func (p *Policy) JudgeDeclared(tool string) Judgement {
	j := p.judge(tool, nil)
	label, all := strings.CutSuffix(tool, "*")
	if !all || !strings.HasPrefix(label, "mcp:") {
		return j
	}
	t := trial{Judgement: j}
	for _, r := range p.rules {
		if !r.conditional() && r.glob.within(label) {
			t.add(r.verdict, r.name, r.reason)
		}
	}
	for _, m := range p.flag {
		if m.glob.within(label) {
			t.add(gatehouse.Flag, m.name, fmt.Sprintf("tools matching %s need approval", m.glob))
		}
	}
	return t.Judgement
}

// judge asks from the strictest rules to the mildest, so that no condition is worked out which cannot change the answer.
func (p *Policy) judge(tool string, s *scene) Judgement {
	if tool == "" {
		return Judgement{Verdict: gatehouse.Block, Rule: "tool", Reason: "the call names no tool"}
	}
	about, t := p.about(tool), trial{scene: s}
	for _, r := range about.block {
		if t.counts(r) {
			return t.Judgement
		}
	}
	own := s.own()
	if own == gatehouse.Block {
		return Judgement{Verdict: gatehouse.Block, Rule: "agent", Reason: "the agent's own code blocks this tool"}
	}
	inside := !p.fenced || about.listed != nil || about.allowed != nil
	for _, r := range about.flag {
		// A flag names its tool also while its condition is false: else the fence would block the harmless call, and only
		// the one that is to be held would get in.
		inside = inside || r.selects() && (s != nil || !r.conditional())
		if t.Verdict == "" {
			t.counts(r)
		}
	}
	if about.flagged != nil {
		t.add(gatehouse.Flag, about.flagged.name, fmt.Sprintf("tools matching %s need approval", about.flagged.glob))
	}
	if own == gatehouse.Flag {
		t.add(gatehouse.Flag, "agent", "the agent's own code wants approval for this tool")
	}
	lifted := about.builtin == nil || own == gatehouse.Allow
	for _, r := range about.allow {
		opens, lifts := !inside && r.selects(), !lifted && r.exact() && t.Verdict != gatehouse.Flag
		if (opens || lifts || t.Verdict == "") && t.counts(r) {
			inside, lifted = inside || opens, lifted || lifts
		}
	}
	if !lifted {
		t.add(gatehouse.Flag, "built-in flag "+about.builtin.pattern, fmt.Sprintf("tools named %s need approval unless a rule allows them by name", about.builtin.pattern))
	}
	if !inside {
		t.add(gatehouse.Block, "allow", "not on the allow list")
	}
	if about.allowed != nil {
		t.add(gatehouse.Allow, about.allowed.name, "on the allow list")
	}
	t.add(gatehouse.Allow, "default", "no rule matches")
	if t.ignored != "" {
		t.Reason += "; " + t.ignored
	}
	return t.Judgement
}

// trial is a judgement that is being made.
type trial struct {
	Judgement
	scene   *scene // nil before there is a call
	ignored string // the first allow rule that did not count because its condition failed, and why
}

// add takes the stricter of two judgements, and the earlier of equals.
func (t *trial) add(v gatehouse.Verdict, rule, reason string) {
	if v.Stricter(t.Verdict) {
		t.Judgement = Judgement{Verdict: v, Rule: rule, Reason: reason}
	}
}

// counts reports whether a rule counts for the call, and adds it when it does.
func (t *trial) counts(r *rule) bool {
	if t.scene != nil {
		t.scene.blamed = Blame{}
	}
	yes, failure := t.holds(r)
	switch {
	case failure == "" && !yes:
		return false
	case failure == "":
		t.add(r.verdict, r.name, r.reason)
	case r.verdict == gatehouse.Allow:
		if t.ignored == "" {
			t.ignored = r.name + " does not count, because its condition failed: " + failure
		}
		return false
	default:
		t.add(r.verdict, r.name, r.reason+", and counts because its condition failed: "+failure)
	}
	if t.Rule == r.name && t.scene != nil {
		t.Blame = t.scene.blamed
	}
	return true
}

// holds works out the conditions of a rule. One that is surely not met settles it, whatever becomes of the other.
func (t *trial) holds(r *rule) (yes bool, failure string) {
	if !r.conditional() {
		return true, ""
	}
	if t.scene == nil {
		return false, ""
	}
	if r.when != nil {
		if yes, failure = r.when.holds(t.scene); !yes && failure == "" {
			return false, ""
		}
	}
	if r.unless != nil {
		no, failed := r.unless.holds(t.scene)
		if no {
			return false, ""
		}
		if failure == "" {
			failure = failed
		}
	}
	return failure == "", failure
}
