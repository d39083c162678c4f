package policy

import (
	"slices"

	"github.com/gatehouse-gateway/gatehouse"
)

// selection is the part of a policy that speaks of one tool: what matches its name, in the order of the file.
type selection struct {
	block, flag, allow []*rule
	listed             *matcher // the first of the list of flags
	flagged            *matcher // the first of them that is more than a built-in flag written down
	allowed            *matcher // the first of the fence
	builtin            *builtin // the first built-in flag
}

// index prepares what is said of the tools that are written down by name, and sets apart the patterns, which alone can
// match any other. So the rules for one tool cost the calls of another nothing.
func (p *Policy) index() {
	p.known = map[string]*selection{}
	open := &Policy{builtin: p.builtin}
	names := map[string]bool{}
	sort := func(all []matcher) (patterns []matcher) {
		for _, m := range all {
			if m.exact() {
				names[string(m.glob)] = true
			} else {
				patterns = append(patterns, m)
			}
		}
		return patterns
	}
	open.allow, open.flag = sort(p.allow), sort(p.flag)
	for _, r := range p.rules {
		if r.exact() {
			names[string(r.glob)] = true
		} else {
			open.rules = append(open.rules, r)
		}
	}
	for name := range names {
		p.known[name] = p.collect(name)
	}
	p.open = open
}

// about is what the policy says of a tool.
func (p *Policy) about(tool string) *selection {
	if s, ok := p.known[tool]; ok {
		return s
	}
	return p.open.collect(tool)
}

func (p *Policy) collect(tool string) *selection {
	s := &selection{listed: first(p.flag, tool), allowed: first(p.allow, tool)}
	for _, r := range p.rules {
		if !r.match(tool) {
			continue
		}
		switch r.verdict {
		case gatehouse.Block:
			s.block = append(s.block, r)
		case gatehouse.Flag:
			s.flag = append(s.flag, r)
		case gatehouse.Allow:
			s.allow = append(s.allow, r)
		}
	}
	segments := leafSegments(tool)
	for i := range p.builtin {
		if p.builtin[i].match(segments) {
			s.builtin = &p.builtin[i]
			break
		}
	}
	s.flagged = first(p.flag, tool)
	if s.builtin != nil { // which an allow rule lifts, whoever wrote it down
		s.flagged = first(slices.DeleteFunc(slices.Clone(p.flag), func(m matcher) bool { return builtinPattern(string(m.glob)) }), tool)
	}
	return s
}

func first(all []matcher, tool string) *matcher {
	for i := range all {
		if all[i].match(tool) {
			return &all[i]
		}
	}
	return nil
}
