package config

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestSchemaAndParserKnowTheSameKeys asks the parser about every key of the schema, and the schema about every key that is printed.
func TestSchemaAndParserKnowTheSameKeys(t *testing.T) {
	var schema map[string]any
	if err := json.Unmarshal(Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	keys := schemaKeys(schema, "")
	if len(keys) < 50 {
		t.Fatalf("the schema has only %d keys: %v", len(keys), keys)
	}
	for _, key := range keys {
		if !knownToParser(key) {
			t.Errorf("the schema has %s, the parser does not", key)
		}
	}
	for _, key := range []string{"listen", "upstreams.x.key", "upstreams.x.auth", "tools.allow", "tools.rules.[].tool", "on_error.back", "auth.mode", "limits.stream_buffer", "approvals.wait", "notify.webhooks.[].secret", "notify.slack.approvers", "agents.auto_create"} {
		if !slices.Contains(keys, key) {
			t.Errorf("the parser has %s, the schema does not", key)
		}
	}
	for _, key := range []string{"nope", "limits.nope", "upstreams.x.nope", "tools.rules.[].nope"} {
		if knownToParser(key) {
			t.Errorf("the parser takes %s", key)
		}
	}
}

// schemaKeys are the paths of all properties; x stands for a name of the user's, [] for an item of a list.
func schemaKeys(schema map[string]any, path string) []string {
	var out []string
	properties, _ := schema["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		at := join(path, name)
		out = append(out, at)
		out = append(out, schemaKeys(properties[name].(map[string]any), at)...)
	}
	if sub, ok := schema["additionalProperties"].(map[string]any); ok {
		out = append(out, schemaKeys(sub, join(path, "x"))...)
	}
	if sub, ok := schema["items"].(map[string]any); ok {
		out = append(out, schemaKeys(sub, join(path, "[]"))...)
	}
	for _, sub := range asList(schema["anyOf"]) {
		out = append(out, schemaKeys(sub.(map[string]any), path)...)
	}
	return out
}

func asList(v any) []any {
	list, _ := v.([]any)
	return list
}

// knownToParser writes the key with a senseless value and looks whether the parser knew the key.
func knownToParser(path string) bool {
	parts := strings.Split(path, ".")
	yaml := "[[senseless]]"
	for _, p := range slices.Backward(parts) {
		if p == "[]" {
			yaml = "[" + yaml + "]"
		} else {
			yaml = "{" + p + ": " + yaml + "}"
		}
	}
	_, err := Parse("test.yaml", []byte(yaml))
	return err == nil || !strings.Contains(err.Error(), "unknown key")
}
