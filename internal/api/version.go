package api

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// versions are those that can be asked for, oldest first. A version is the date from which its shapes hold.
var versions = [...]string{"2026-04-13", "2026-11-01"}

// change of a version: how its shapes are made into those of the one before.
var changes = map[string]func(schema string, body map[string]any){
	// Until 2026-11-01 an agent had a word for its state where it now says since when, by whom and why.
	"2026-11-01": func(schema string, body map[string]any) {
		each(schema, body, "agent", func(agent map[string]any) {
			if c, ok := agent["containment"].(map[string]any); ok {
				agent["status"] = c["state"]
				delete(agent, "containment")
			}
		})
	},
}

// negotiate is the version that is applied: the asked one, else the nearest earlier; the first for what is older than it, and
// the latest for what is no date.
func negotiate(asked string) string {
	if asked == "" || !date(asked) {
		return versions[len(versions)-1]
	}
	applied := versions[0]
	for _, v := range versions {
		if v <= asked {
			applied = v
		}
	}
	return applied
}

func date(s string) bool {
	return len(s) == len("2006-01-02") && s[4] == '-' && s[7] == '-' &&
		strings.Trim(s[:4]+s[5:7]+s[8:], "0123456789") == ""
}

// downgrade makes a body of the latest version into one of an earlier.
func downgrade(body []byte, schema, version string) ([]byte, error) {
	if version == versions[len(versions)-1] {
		return body, nil
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	var doc map[string]any
	if err := dec.Decode(&doc); err != nil {
		return nil, err
	}
	for _, v := range slices.Backward(versions[:]) {
		if v <= version {
			break
		}
		changes[v](schema, doc)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(doc)
	return b.Bytes(), err
}

// each applies a change to the resource, or to every one of a list of them.
func each(schema string, body map[string]any, resource string, do func(map[string]any)) {
	switch name, _, _ := strings.Cut(schema, "/"); name {
	case resource:
		do(body)
	case resource + "_list":
		list, _ := body[resource+"s"].([]any) //nolint:errcheck // our own shape
		for _, item := range list {
			if one, ok := item.(map[string]any); ok {
				do(one)
			}
		}
	}
}
