package redact

import (
	"strings"

	"github.com/gatehouse-gateway/gatehouse"
)

// Token is the typed placeholder for a finding: [AWS ACCESS TOKEN REDACTED] for a secret of type aws-access-token,
// [SSN REDACTED] for PII of type ssn, [INJECTION REDACTED] for every injection, whose type says how it was worded and not
// what stood there. A finding without a type takes its kind.
func Token(f gatehouse.Finding) string {
	name := f.Type
	if name == "" || f.Kind == "injection" {
		name = f.Kind
	}
	name = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			return r
		}
		return ' '
	}, name)
	return "[" + strings.Join(append(strings.Fields(strings.ToUpper(name)), "REDACTED"), " ") + "]"
}
