package policy

import (
	"github.com/gatehouse-gateway/gatehouse/internal/canonical"
	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
)

// Digest is the SHA-256 of the canonical form of a call's arguments: the same for two calls when every reader understands the same
// by them. Numbers count digit by digit. The text of a freeform tool counts as {"input": text}. ok is false for arguments
// that cannot be judged either.
func (c Call) Digest() (sum [32]byte, ok bool) {
	doc := []byte(`{"input":` + string(rawjson.Quote(c.Args)) + `}`)
	if !c.Freeform {
		root, whole, reason := readArguments(c.Args)
		if reason != "" {
			return sum, false
		}
		doc = root.Raw(whole)
	}
	sum, err := canonical.Digest(doc, maxDepth+1)
	return sum, err == nil
}
