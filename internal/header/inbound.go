package header

import (
	"errors"
	"net/http"
	"strings"
)

// ErrAmbiguous says that a request carries one of the four headers twice with different values. Whoever reads the first
// and whoever reads the last would see different callers, so it is refused.
var ErrAmbiguous = errors.New("a gateway header is repeated with different values")

// Inbound is what a client may say to the gateway. The values are as they came and not validated.
type Inbound struct {
	APIKey  string // X-Mnemom-Api-Key
	Version string // X-Mnemom-Version
	Agent   string // X-Mnemom-Agent, a name
	Session string // X-Mnemom-Session
	Err     error  // [ErrAmbiguous]; the values at fault are empty
}

// Take reads the four headers that clients may send and removes everything in the gateway's namespaces from h, these four
// included: what is left may go to the upstream.
func Take(h http.Header) Inbound {
	Strip(h)
	var in Inbound
	for name, to := range map[string]*string{
		apiKeyName: &in.APIKey, versionName: &in.Version, agentName: &in.Agent, sessionName: &in.Session,
	} {
		value, ok := single(h, name)
		if !ok {
			in.Err = ErrAmbiguous
		}
		*to = value
	}
	drop(h, anyOf)
	return in
}

// Strip removes everything in the gateway's namespaces from a request's headers or trailers, look-alikes too, except the
// four headers that clients may send, in any case but with exactly these hyphens. It is called before anything reads them.
func Strip(h http.Header) {
	drop(h, func(name string) bool { return !taken(name) })
}

func taken(name string) bool {
	for _, kept := range [...]string{apiKeyName, versionName, agentName, sessionName} {
		if strings.EqualFold(name, kept) {
			return true
		}
	}
	return false
}

// single is the one value of a name over all spellings of it. Repetitions of the same value count once; ok is false when
// values differ.
func single(h http.Header, name string) (value string, ok bool) {
	seen := false
	for key, values := range h {
		if !strings.EqualFold(key, name) {
			continue
		}
		for _, v := range values {
			if seen && v != value {
				return "", false
			}
			value, seen = v, true
		}
	}
	return value, true
}
