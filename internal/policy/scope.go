package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"cel.dev/cel-go/common/ast"
)

// Scope is a compiled condition that bounds what a grant lets through. It may be used by many goroutines at once.
type Scope struct{ condition *condition }

// CompileScope reads a scope: a condition as in a [Rule], which must ask about the arguments or the session. One that does not
// would let every call of its tool through, and is refused. Its error says where it is wrong, and quotes nothing but the scope.
func CompileScope(expr string) (*Scope, error) {
	if strings.TrimSpace(expr) == "" {
		return nil, errors.New("is empty")
	}
	c, problems := compileCondition(expr)
	if len(problems) > 0 {
		first := problems[0]
		line, column := Position{Line: 1, Column: 1}.of(expr, first.Location)
		return nil, fmt.Errorf("line %d, column %d: %s", line, column, plainProblem(first.Message))
	}
	asks, err := asksAboutTheCall(expr)
	if err != nil {
		return nil, err
	}
	if !asks {
		return nil, errors.New("asks about neither the arguments nor the session, and so would be the same for every call")
	}
	return &Scope{c}, nil
}

// asksAboutTheCall reports whether a condition names the arguments or the session.
func asksAboutTheCall(expr string) (bool, error) {
	env, err := environment()
	if err != nil {
		return false, err
	}
	checked, issues := env.Compile(expr)
	if issues.Err() != nil {
		return false, issues.Err()
	}
	names := ast.MatchDescendants(ast.NavigateAST(checked.NativeRep()), ast.KindMatcher(ast.IdentKind))
	return slices.ContainsFunc(names, func(e ast.NavigableExpr) bool {
		return e.AsIdent() == "args" || strings.HasPrefix(e.AsIdent(), "session.")
	}), nil
}

// Holds reports whether a call is within the scope. The error says why that cannot be told, without quoting the call: arguments
// that are ambiguous, or a condition that fails for them. Such a call is not within.
func (s *Scope) Holds(c Call) (bool, error) {
	sc := &scene{call: &c, size: len(c.Args)}
	if !c.Freeform {
		var reason string
		if sc.root, sc.doc, reason = readArguments(c.Args); reason != "" {
			return false, errors.New(reason)
		}
	}
	yes, failure := s.condition.holds(sc)
	if failure != "" {
		return false, errors.New(failure)
	}
	return yes, nil
}
