package policy_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse/internal/policy"
)

func TestScopesThatAreRefused(t *testing.T) {
	for _, c := range []struct{ name, expr, says string }{
		{"empty", "", "is empty"},
		{"blank", " \n", "is empty"},
		{"a literal", "true", "same for every call"},
		{"constant", "1 == 1 || false", "same for every call"},
		{"by name alone", `tool == "pay"`, "same for every call"},
		{"by time alone", `now > timestamp("2020-01-01T00:00:00Z")`, "same for every call"},
		{"a loop of its own", "[1, 2].all(args2, args2 > 0)", "same for every call"},
		{"no condition", "args.n", "of type dyn"},
		{"no expression", "args.to ==", "column"},
		{"an unknown variable", "arg.to == 1", "column 1"},
		{"too long", `args.to == "` + strings.Repeat("a", 20_000) + `"`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if s, err := policy.CompileScope(c.expr); err == nil || s != nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want an error that says %q", err, c.says)
			}
		})
	}
}

func TestScopeHolds(t *testing.T) {
	const holds, fails, not = "holds", "fails", "not"
	for _, c := range []struct{ scope, args, want string }{
		{`args.to.endsWith("@example.com")`, `{"to":"a@example.com"}`, holds},
		{`args.to.endsWith("@example.com")`, `{"to":"a@example.net"}`, not},
		{`args.to.endsWith("@example.com")`, `{}`, fails},
		{`args.to.endsWith("@example.com")`, `{"to":["a@example.com"]}`, fails},
		{`args.to.endsWith("@example.com")`, `{"to":"b@example.com","to":"a@example.com"}`, fails},
		{`args.to.endsWith("@example.com")`, `{"to"`, fails},
		{`!session.tainted && session.risk < 0.5`, ``, not},
		{`session.risk < 0.5`, ``, holds},
		{`args.n <= 100`, `{"n":99.5}`, holds},
		{`args.n <= 100`, `"{\"n\":101}"`, not},
		{`origin(args.url) == "user"`, `{"url":"https://bad.example/x"}`, not},
	} {
		t.Run(c.scope+" "+c.args, func(t *testing.T) {
			s, err := policy.CompileScope(c.scope)
			if err != nil {
				t.Fatal(err)
			}
			yes, err := s.Holds(known(c.args))
			got := not
			if err != nil {
				got = fails
			} else if yes {
				got = holds
			}
			if got != c.want || err != nil && yes {
				t.Errorf("%s (%v), want %s", got, err, c.want)
			}
			if err != nil && strings.Contains(err.Error(), "example.") {
				t.Errorf("the error quotes the call: %v", err)
			}
		})
	}
	s, err := policy.CompileScope(`args.input.startsWith("SELECT ")`)
	if err != nil {
		t.Fatal(err)
	}
	if yes, err := s.Holds(policy.Call{Tool: "sql", Args: "SELECT 1", Freeform: true}); !yes || err != nil {
		t.Errorf("freeform: %v, %v", yes, err)
	}
	// What is not known of a call is not within.
	if yes, err := s.Holds(policy.Call{Tool: "sql"}); yes || err == nil {
		t.Errorf("nothing known: %v, %v", yes, err)
	}
}
