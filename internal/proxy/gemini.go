package proxy

import (
	"net/http"
	"strings"
)

// geminiEndpoint classifies a path of the Gemini API: /VERSION/COLLECTION, then a name, then :METHOD.
func geminiEndpoint(method, path string) use {
	upload, path := cutPrefix(path, "/upload")
	download, path := cutPrefix(path, "/download")
	version, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	collection, name, _ := strings.Cut(rest, "/")
	if version != "v1" && version != "v1beta" && version != "v1alpha" {
		return unknown
	}
	post, get := method == http.MethodPost, method == http.MethodGet || method == http.MethodHead
	name, verb, called := strings.Cut(name, ":")
	switch {
	case collection == "files" && !called:
		return silent
	case upload || download || collection != "models" || strings.Contains(name, "/"):
		return opaque // tuned models, cached contents, batches, corpora, and what is not known
	case !called && get:
		return silent
	case !called || !post || name == "":
		return unknown
	}
	switch verb {
	case "generateContent", "streamGenerateContent":
		return inspected
	case "countTokens", "embedContent", "batchEmbedContents":
		return measured
	}
	return opaque
}

func cutPrefix(path, prefix string) (cut bool, rest string) {
	rest, cut = strings.CutPrefix(path, prefix)
	return cut, rest
}
