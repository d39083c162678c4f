package config

import (
	"fmt"
	"regexp"
	"strings"
)

var variable = regexp.MustCompile(`\$?\$\{([^}]*)\}?`)
var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// expand fills in ${NAME}, which must be set, and ${NAME:-default}, whose default also stands for an empty value. $${ is
// written for ${ itself. What a variable holds is not expanded again.
func expand(text string, lookup func(string) (string, bool)) (string, error) {
	var wrong error
	out := variable.ReplaceAllStringFunc(text, func(ref string) string {
		if strings.HasPrefix(ref, "$$") {
			return ref[1:]
		}
		inner, closed := strings.CutSuffix(ref[2:], "}")
		name, fallback, hasFallback := strings.Cut(inner, ":-")
		value, set := lookup(name)
		switch {
		case !closed || !variableName.MatchString(name):
			wrong = fmt.Errorf("a variable is written ${NAME} or ${NAME:-default}")
		case set && (value != "" || !hasFallback):
			return value
		case hasFallback:
			return fallback
		case wrong == nil:
			wrong = fmt.Errorf("the environment variable %s is not set; ${%s:-default} gives one", name, name)
		}
		return ""
	})
	return out, wrong
}
