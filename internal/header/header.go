// Package header is the only writer of the gateway's response headers, and the only reader of the four that clients may
// send. It promises that nothing in the gateway's namespaces gets in, through or out except by this package: forged
// requests, upstream answers and trailers included. It leaves the meaning of the values to others.
package header

import (
	"net/http"
	"strings"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/verdict"
)

// Set writes the header surface of an exchange as it stands: request id, verdicts, advisories, and agent, session and
// analysis where there are any. Everything else in the gateway's namespaces goes, whoever wrote it: a surface that adds
// headers of its own (X-Mnemom-Schema) does so afterwards. Called again after a later decision, it brings h up to date.
//
// The keys are canonical ones, so X-AIP-Verdict goes over an HTTP/1.1 line as X-Aip-Verdict: names match case-insensitively
// (RFC 9110, section 5.1), while a key in any other spelling would be out of reach for h.Get and for declared trailers.
func Set(h http.Header, x *gatehouse.Exchange) {
	drop(h, anyOf)
	h.Set(requestID, x.ID)
	h.Set(verdict.Header, verdict.Verdicts{
		Front:     verdict.Value(x.Outcome(gatehouse.Front)),
		Autonomy:  verdict.Value(x.Outcome(gatehouse.Autonomy)),
		Integrity: verdict.Value(x.Outcome(gatehouse.Integrity)),
		Back:      verdict.Value(x.Outcome(gatehouse.Back)),
	}.String())
	setUnlessEmpty(h, verdict.AdvisoryHeader, verdict.FormatAdvisories(advisories(x)))
	setUnlessEmpty(h, agentName, x.Agent)
	setUnlessEmpty(h, sessionName, x.Session)
	setUnlessEmpty(h, verdict.AIPHeader, x.Analysis())
}

// Pending are the headers that differ while the response is still being read: integrity has not spoken, unless it is off.
func Pending(off bool) http.Header {
	word := "pending"
	if off {
		word = "disabled"
	}
	return http.Header{http.CanonicalHeaderKey(verdict.AIPHeader): {word}}
}

// Late lists the headers that are only known when the response has been read: its trailers.
func Late() []string { return []string{verdict.Header, verdict.AIPHeader, checkpointID} }

// Comment is the late headers of an exchange as comments in a stream of events, a line each. No blank line follows: there
// are clients that take one for an event.
func Comment(x *gatehouse.Exchange) []byte {
	h := http.Header{}
	Set(h, x)
	var out []byte
	for _, name := range Late() {
		if value := h.Get(name); value != "" {
			out = append(out, ": "+name+": "+value+"\n"...)
		}
	}
	return out
}

func setUnlessEmpty(h http.Header, name, value string) {
	if value != "" {
		h.Set(name, value)
	}
}

func advisories(x *gatehouse.Exchange) []verdict.Advisory {
	var list []verdict.Advisory
	for _, a := range x.Advisories() {
		list = append(list, verdict.Advisory{Source: a.Source, Text: a.Text, Severity: verdict.Severity(a.Severity), ID: a.ID})
	}
	return list
}

// Exposed lists every response header that clients are told of, as documented: for Access-Control-Expose-Headers.
func Exposed() []string {
	return []string{
		requestID, verdict.Header, verdict.AdvisoryHeader, schemaName, versionName, agentName, sessionName,
		verdict.AIPHeader, checkpointID,
		"Idempotent-Replay", "Retry-After",
		"X-Request-Id", "Request-Id", // the providers' own, which their SDKs show to users
	}
}

// Known reports whether a response may carry the name: it lies outside the gateway's namespaces, or is one of the
// documented names in them, hyphens and all. Retired names and look-alikes are not known.
func Known(name string) bool {
	if !inNamespace(name) {
		return true
	}
	for _, known := range Exposed() {
		if strings.EqualFold(name, known) {
			return true
		}
	}
	return false
}
