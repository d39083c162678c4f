package proxy

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/gatehouse-gateway/gatehouse/internal/surface"
)

// slots are the headers that providers and their clients put keys into.
var slots = [...]string{"Authorization", "X-Api-Key", "X-Goog-Api-Key", "Api-Key"}

// takeKeys takes the gateway's own keys out of every provider's slot, whichever of them the upstream reads, and out of the query:
// they never reach a provider. The key is empty when there is none; two different ones are refused.
func takeKeys(r *http.Request, owns func(string) bool) (key string, err error) {
	found := map[string]bool{}
	for _, name := range slots {
		var others []string
		for _, value := range r.Header.Values(name) {
			if own := ownKey(value, owns); own != "" {
				found[own], key = true, own
			} else {
				others = append(others, value)
			}
		}
		if r.Header.Del(name); len(others) > 0 {
			r.Header[name] = others
		}
	}
	r.URL.RawQuery = filterQuery(r.URL.RawQuery, func(value string) bool {
		own := ownKey(value, owns)
		if own != "" {
			found[own], key = true, own
		}
		return own == ""
	})
	if len(found) > 1 {
		return "", surface.Failure(http.StatusBadRequest, "ambiguous_header", "the request has two different API keys")
	}
	return key, nil
}

// filterQuery leaves those keys out of a query that are not to be kept. Everything else stays as it is written.
func filterQuery(query string, keep func(key string) bool) string {
	if query == "" {
		return ""
	}
	var pairs []string
	for pair := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(pair, "=")
		name, bad := url.QueryUnescape(name)
		value, worse := url.QueryUnescape(value)
		if bad != nil || worse != nil || name != "key" && name != "access_token" || keep(value) {
			pairs = append(pairs, pair)
		}
	}
	return strings.Join(pairs, "&")
}

// queryKeys are the keys that a query holds.
func queryKeys(query string) (keys []string) {
	filterQuery(query, func(key string) bool {
		if key != "" {
			keys = append(keys, key)
		}
		return true
	})
	return keys
}

// ownKey is the gateway's own key in the value of a slot, behind whatever scheme; empty when there is none.
func ownKey(value string, owns func(string) bool) string {
	for _, word := range strings.FieldsFunc(value, func(r rune) bool { return r <= ' ' || strings.ContainsRune(`",;:=`, r) }) {
		if owns(word) {
			return word
		}
	}
	return ""
}
