package anthropic

import "github.com/gatehouse-gateway/gatehouse/internal/rawjson"

// What a request says of the tools of MCP servers, which the provider calls by itself. Where it lists them each has its name,
// mcp:LABEL/TOOL; where it does not, mcp:LABEL/* stands for all that the server may have.

// serverNames are the tools of an entry of mcp_servers.
func serverNames(doc []byte, server rawjson.Value) []string {
	label := "mcp:" + server.Get("name").Text(doc) + "/"
	allowed := server.Get("tool_configuration").Get("allowed_tools")
	if allowed.Kind != rawjson.Array {
		return []string{label + "*"}
	}
	var names []string
	for _, e := range allowed.Elems {
		names = append(names, label+e.Text(doc))
	}
	return names
}

// toolsetNames are the tools of a tool of the type mcp_toolset: all of the server's, or, where these are off unless they are
// switched on, those that are.
func toolsetNames(doc []byte, set rawjson.Value) []string {
	label := "mcp:" + set.Get("mcp_server_name").Text(doc) + "/"
	if !isFalse(doc, set.Get("default_config").Get("enabled")) {
		return []string{label + "*"}
	}
	var names []string
	for _, m := range set.Get("configs").Members {
		if !isFalse(doc, m.Value.Get("enabled")) {
			names = append(names, label+m.Key)
		}
	}
	return names
}

// toolsetOf reports whether a toolset speaks for a server.
func toolsetOf(doc []byte, root rawjson.Value, server string) bool {
	for _, t := range root.Get("tools").Elems {
		if t.Get("type").Text(doc) == "mcp_toolset" && t.Get("mcp_server_name").Text(doc) == server {
			return true
		}
	}
	return false
}

func isFalse(doc []byte, v rawjson.Value) bool { return string(v.Raw(doc)) == "false" }
