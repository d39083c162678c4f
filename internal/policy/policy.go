// Package policy says what may happen to a tool call: allowed, flagged for a human, or blocked. It is pure: the same
// tools section and the same call give the same judgement, and nothing outside is read. It leaves acting on the judgement,
// and modes, to the engine.
package policy

import (
	"errors"
	"fmt"

	"github.com/gatehouse-gateway/gatehouse"
)

// Tools is the tools section of the configuration. Patterns are globs over the full name of a tool: * stands for any
// text, ? for one character, everything else for itself; case counts, and the whole name must match.
type Tools struct {
	Allow   []string // the fence; nil is no fence, and an empty list fences everything off
	Flag    []string // held for approval
	FlagSet bool     // the operator wrote flag, even []: the built-in flags are off
	Rules   []Rule
}

// Rule gives the tools that match a pattern a verdict.
type Rule struct {
	Tool    string            // a glob
	Verdict gatehouse.Verdict // allow, flag or block
	Line    int               // where the rule stands in its file, counted from 1; 0 when it has none
}

// Error is one thing wrong with a tools section.
type Error struct {
	Path   string // tools.rules[1].verdict
	Line   int    // of the rule; 0 when unknown
	Reason string
}

func (e *Error) Error() string { return e.Path + ": " + e.Reason }

// Policy is a compiled tools section. It may be used by many goroutines at once.
type Policy struct {
	allow   []matcher
	fenced  bool
	flag    []matcher
	builtin []builtin
	rules   []rule
}

// matcher is one glob and the name under which judgements refer to it.
type matcher struct {
	glob
	name string
}

type rule struct {
	matcher
	verdict gatehouse.Verdict
}

// Compile prepares a tools section for use. Its error joins one [*Error] for each thing that is wrong.
func Compile(t Tools) (*Policy, error) {
	p := &Policy{fenced: t.Allow != nil}
	var errs []error
	p.allow = compileList("tools.allow", t.Allow, &errs)
	p.flag = compileList("tools.flag", t.Flag, &errs)
	for i, r := range t.Rules {
		path := fmt.Sprintf("tools.rules[%d]", i)
		if reason := wrongPattern(r.Tool); reason != "" {
			errs = append(errs, &Error{path + ".tool", r.Line, reason})
		}
		switch r.Verdict {
		case gatehouse.Allow, gatehouse.Flag, gatehouse.Block:
		default:
			errs = append(errs, &Error{path + ".verdict", r.Line, "must be allow, flag or block"})
		}
		p.rules = append(p.rules, rule{matcher{glob(r.Tool), path}, r.Verdict})
	}
	p.builtin = activeBuiltins(t)
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return p, nil
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
