// Package verdict reads and writes the header surface of a checkpoint gateway: X-Mnemom-Verdict, X-Mnemom-Advisory and
// X-AIP-Verdict. What it writes is canonical, whatever it is given; what it reads may be looser.
//
// It imports the standard library only, so that a client can use it without anything else of the gateway. The file
// testdata/vectors.json says the same in data, for parsers in other languages.
package verdict

import (
	"fmt"
	"strings"
)

// The names of the headers that this package reads and writes.
const (
	Header         = "X-Mnemom-Verdict"
	AdvisoryHeader = "X-Mnemom-Advisory"
	AIPHeader      = "X-AIP-Verdict"
)

// Value is what one checkpoint did.
type Value string

// The values of X-Mnemom-Verdict from weakest to strongest, and one that parsers tolerate.
const (
	Pass     Value = "pass"     // the checkpoint ran and the exchange was clean
	Observed Value = "observed" // something was seen and left as it was
	Nudged   Value = "nudged"   // a warning was added
	Enforced Value = "enforced" // something was replaced, redacted, withheld or refused

	// Unverified says that an analysis was tried and did not come to an end. Other gateways write it; this one never does.
	Unverified Value = "unverified"
)

// Canonical reports whether v is one of the four values that are written.
func (v Value) Canonical() bool {
	switch v {
	case Pass, Observed, Nudged, Enforced:
		return true
	}
	return false
}

// written is the value as String writes it. A checkpoint that said nothing passes, as in an exchange without decisions. A
// value that the header cannot carry becomes Observed: something was seen, and nobody may read it as clean.
func (v Value) written() Value {
	switch {
	case v == "":
		return Pass
	case v.Canonical():
		return v
	}
	return Observed
}

// Verdicts is one X-Mnemom-Verdict header: what each of the four checkpoints did. A field that the header did not have is
// empty.
type Verdicts struct {
	Front     Value `json:"front"`
	Autonomy  Value `json:"autonomy"`
	Integrity Value `json:"integrity"`
	Back      Value `json:"back"`
}

// Parse reads a header as any client may: in any order, with any spacing around the pairs, skipping what it does not
// know. The last of several pairs with one name counts, names match case-sensitively, and values are taken as they are:
// ask [Value.Canonical] before trusting one.
func Parse(header string) Verdicts {
	var v Verdicts
	for pair := range strings.SplitSeq(header, ";") {
		name, value, ok := strings.Cut(strings.TrimSpace(pair), "=")
		if !ok {
			continue
		}
		if field := v.field(name); field != nil {
			*field = Value(value)
		}
	}
	return v
}

// ParseStrict reads a header that follows the canonical grammar to the byte:
//
//	front=V; autonomy=V; integrity=V; back=V      V = pass | observed | nudged | enforced
//
// Anything else is an error, which names the place and does not quote the header.
func ParseStrict(header string) (Verdicts, error) {
	var v Verdicts
	names := [4]string{"front", "autonomy", "integrity", "back"}
	pairs := strings.Split(header, "; ")
	if len(pairs) != len(names) {
		return Verdicts{}, fmt.Errorf("parse %s: %d pairs, want %d", Header, len(pairs), len(names))
	}
	for i, name := range names {
		value, ok := strings.CutPrefix(pairs[i], name+"=")
		if !ok {
			return Verdicts{}, fmt.Errorf("parse %s: pair %d is not %s", Header, i+1, name)
		}
		if !Value(value).Canonical() {
			return Verdicts{}, fmt.Errorf("parse %s: unknown value of %s", Header, name)
		}
		*v.field(name) = Value(value)
	}
	return v, nil
}

func (v *Verdicts) field(name string) *Value {
	switch name {
	case "front":
		return &v.Front
	case "autonomy":
		return &v.Autonomy
	case "integrity":
		return &v.Integrity
	case "back":
		return &v.Back
	}
	return nil
}

// String writes the header in its canonical form. [ParseStrict] accepts every result: an empty value is written as pass,
// one that the header cannot carry as observed.
func (v Verdicts) String() string {
	return fmt.Sprintf("front=%s; autonomy=%s; integrity=%s; back=%s",
		v.Front.written(), v.Autonomy.written(), v.Integrity.written(), v.Back.written())
}
