package header

import (
	"net/http"
	"strings"
)

// The names in the namespaces that other packages do not name.
const (
	requestID    = "X-Mnemom-Request-Id"
	apiKeyName   = "X-Mnemom-Api-Key"
	versionName  = "X-Mnemom-Version"
	agentName    = "X-Mnemom-Agent"
	sessionName  = "X-Mnemom-Session"
	schemaName   = "X-Mnemom-Schema"
	checkpointID = "X-AIP-Checkpoint-Id"
)

// inNamespace reports whether a server somewhere behind could take the name for one of the gateway's. CGI and WSGI servers
// make one name of X-Mnemom-Verdict and X_Mnemom_Verdict, others drop odd characters: so whatever is neither letter nor
// digit counts as a hyphen, and a run of them as one.
func inNamespace(name string) bool {
	if !mayBegin(name) {
		return false
	}
	folded := fold(name)
	for _, space := range [...]string{"x-mnemom", "x-aip", "x-safe-house", "x-safehouse", "x-smoltbot"} {
		if rest, ok := strings.CutPrefix(folded, space); ok && (rest == "" || rest[0] == '-') {
			return true
		}
	}
	return false
}

// mayBegin reports whether the first letter or digit of a name is an x, as in all of the namespaces: hardly any other name
// has that, and these need no closer look.
func mayBegin(name string) bool {
	for i := range len(name) {
		switch c := name[i]; {
		case c|0x20 == 'x':
			return true
		case c|0x20 >= 'a' && c|0x20 <= 'z', c >= '0' && c <= '9':
			return false
		}
	}
	return false
}

// fold is the name in lower case with each run of other characters as one hyphen, none of them at the ends.
func fold(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	return strings.Join(words, "-")
}

func anyOf(string) bool { return true }

// drop deletes the names of the namespaces that match. It goes over the map's own keys: Del would miss a key that is not
// canonical.
func drop(h http.Header, match func(name string) bool) {
	for name := range h {
		if inNamespace(name) && match(name) {
			delete(h, name)
		}
	}
}
