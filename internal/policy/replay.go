package policy

import "github.com/gatehouse-gateway/gatehouse"

// Replay asks a policy about calls of which nothing but the tool is known any more, as the audit chain keeps them. It supposes
// that their arguments could be read. It may be used by many goroutines at once.
type Replay struct {
	policy *Policy
	mild   *Policy // each condition as it is best for the call
	firm   *Policy // as mild, but no rule with a condition allows
}

// Replay prepares a policy for being asked so.
func (p *Policy) Replay() *Replay {
	return &Replay{policy: p, mild: p.settled(true), firm: p.settled(false)}
}

// settled is the policy without its conditions: rules that block and flag under one do not count, and those that allow do, or
// do not either. Provenance is left out.
func (p *Policy) settled(allow bool) *Policy {
	q := &Policy{fenced: p.fenced, allow: append([]matcher(nil), p.allow...), flag: p.flag, builtin: p.builtin}
	for _, r := range p.rules {
		switch {
		case !r.conditional():
			q.rules = append(q.rules, r)
		case r.verdict == gatehouse.Flag && r.selects():
			q.allow = append(q.allow, r.matcher) // it names its tool also while its condition is false
		case r.verdict == gatehouse.Allow && allow:
			q.rules = append(q.rules, &rule{matcher: r.matcher, verdict: r.verdict, reason: r.reason})
		}
	}
	q.index()
	return q
}

// Judge says what becomes of any call of the tool. Where that depends on the arguments or on what is known around a call,
// there is no judgement, and open names what it depends on: tools.rules[1], provenance.
func (r *Replay) Judge(tool string) (j Judgement, open []string) {
	mild, firm := r.mild.judge(tool, nil), r.firm.judge(tool, nil)
	about := r.policy.about(tool)
	add := func(rules []*rule) {
		for _, one := range rules {
			if one.conditional() {
				open = append(open, one.name)
			}
		}
	}
	if gatehouse.Block.Stricter(mild.Verdict) {
		add(about.block)
	}
	if gatehouse.Flag.Stricter(mild.Verdict) {
		add(about.flag)
	}
	if firm.Verdict.Stricter(mild.Verdict) {
		add(about.allow)
	}
	if r.policy.provenance.Stricter(mild.Verdict) {
		open = append(open, "provenance")
	}
	switch {
	case len(open) > 0:
		return Judgement{}, open
	case mild.Verdict == gatehouse.Allow:
		return firm, nil // it names a rule that has no condition
	}
	return mild, nil
}
