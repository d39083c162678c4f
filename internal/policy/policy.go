// Package policy says what may happen to a tool call: allowed, flagged for a human, or blocked. It is pure: the same
// tools section and the same call give the same judgement, and nothing outside is read. It leaves acting on the judgement,
// and modes, to the engine.
package policy

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gatehouse-gateway/gatehouse"
)

// Tools is the tools section of the configuration. Patterns are globs over the full name of a tool: * stands for any
// text, ? for one character, everything else for itself; case counts, and the whole name must match.
type Tools struct {
	Allow   []string // the fence; nil is no fence, and an empty list fences everything off
	Flag    []string // held for approval
	FlagSet bool     // the operator wrote flag, even []: the built-in flags are off
	Rules   []Rule
	// Provenance is the verdict on a call with side effects whose destination an injected tool result has brought: flag,
	// block, or Off. Empty is Off.
	Provenance gatehouse.Verdict
}

// Off is the Provenance that judges nothing.
const Off gatehouse.Verdict = "off"

// Rule gives the tools that match a pattern a verdict, always or under conditions. Conditions are expressions of CEL
// (https://cel.dev) that are true or false; an empty one is none.
type Rule struct {
	Tool    string            // a glob
	Verdict gatehouse.Verdict // allow, flag or block
	When    string            // the rule counts only when this is true
	Unless  string            // and only when this is false
	Line    int               // where the rule stands in its file, counted from 1; 0 when it has none

	WhenAt, UnlessAt Position
}

// Error is one thing wrong with a tools section.
type Error struct {
	Path   string // tools.rules[1].verdict
	Line   int    // of what is wrong; 0 when unknown
	Column int    // of what is wrong, in characters counted from 1; 0 when unknown
	Reason string
}

func (e *Error) Error() string { return e.Path + ": " + e.Reason }

// Policy is a compiled tools section. It may be used by many goroutines at once.
type Policy struct {
	fenced  bool
	allow   []matcher
	flag    []matcher
	builtin []builtin
	rules   []*rule
	// provenance is the verdict of that rule; empty when there is none.
	provenance gatehouse.Verdict

	known map[string]*selection // of every tool that is written down by its name
	open  *Policy               // what is left for the others: the patterns
}

// matcher is one glob and the name under which judgements refer to it.
type matcher struct {
	glob
	name string
}

type rule struct {
	matcher
	verdict      gatehouse.Verdict
	when, unless *condition // nil: always
	reason       string
}

func (r *rule) conditional() bool { return r.when != nil || r.unless != nil }

// Compile prepares a tools section for use. Its error joins one [*Error] for each thing that is wrong.
func Compile(t Tools) (*Policy, error) {
	p := &Policy{fenced: t.Allow != nil, builtin: activeBuiltins(t)}
	var errs []error
	p.allow = compileList("tools.allow", t.Allow, &errs)
	p.flag = compileList("tools.flag", t.Flag, &errs)
	for i, r := range t.Rules {
		p.rules = append(p.rules, compileRule(fmt.Sprintf("tools.rules[%d]", i), r, &errs))
	}
	switch t.Provenance {
	case "", Off:
	case gatehouse.Flag, gatehouse.Block:
		p.provenance = t.Provenance
	default:
		errs = append(errs, &Error{Path: "tools.provenance", Reason: "must be off, flag or block"})
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	p.index()
	return p, nil
}

// NeedsContext reports whether a judgement can depend on more than the tool and its arguments. Without, a call need not say
// who makes it, when, and in which conversation.
func (p *Policy) NeedsContext() bool {
	return p.provenance != "" || slices.ContainsFunc(p.rules, (*rule).conditional)
}

func compileList(path string, patterns []string, errs *[]error) []matcher {
	var out []matcher
	for i, pattern := range patterns {
		name := fmt.Sprintf("%s[%d]", path, i)
		if reason := wrongPattern(pattern); reason != "" {
			*errs = append(*errs, &Error{Path: name, Reason: reason})
		}
		out = append(out, matcher{glob(pattern), name})
	}
	return out
}

func compileRule(path string, r Rule, errs *[]error) *rule {
	if reason := wrongPattern(r.Tool); reason != "" {
		*errs = append(*errs, &Error{Path: path + ".tool", Line: r.Line, Reason: reason})
	}
	switch r.Verdict {
	case gatehouse.Allow, gatehouse.Flag, gatehouse.Block:
	default:
		*errs = append(*errs, &Error{Path: path + ".verdict", Line: r.Line, Reason: "must be allow, flag or block"})
	}
	compile := func(name, source string, at Position) *condition {
		if source == "" {
			return nil
		}
		if at.Line == 0 {
			at.Line = r.Line
		}
		c, problems := compileCondition(source)
		for _, one := range problems {
			line, column := at.of(source, one.Location)
			reason := plainProblem(one.Message)
			if at.Private {
				reason = "is not a condition when its variables are filled in"
			}
			*errs = append(*errs, &Error{path + "." + name, line, column, reason})
		}
		return c
	}
	return &rule{
		matcher: matcher{glob(r.Tool), path},
		verdict: r.Verdict,
		when:    compile("when", r.When, r.WhenAt),
		unless:  compile("unless", r.Unless, r.UnlessAt),
		reason:  fmt.Sprintf("the rule for %s says %s", r.Tool, r.Verdict),
	}
}
