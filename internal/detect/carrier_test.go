package detect

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
)

// carrier puts a value under a name into a text as tools return them. It gives the secret part of the value as it is written there, too.
type carrier struct {
	name  string
	write func(name, value, secret string) (text, written string)
}

func plainCarrier(name, form string) carrier {
	return carrier{name, func(key, value, secret string) (string, string) {
		return strings.NewReplacer("NAME", key, "VALUE", value).Replace(form), secret
	}}
}

// carriers are the places where a named value stands.
var carriers = []carrier{
	plainCarrier("environment", "HOME=/root\nNAME=VALUE\nLANG=en\n"),
	plainCarrier("YAML", "service:\n  NAME: VALUE\n  replicas: 2\n"),
	plainCarrier("header", "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nX-NAME: VALUE\r\n\r\nok"),
	plainCarrier("log line", "2026-03-11T10:22:01Z INFO request done NAME=\"VALUE\" status=200 ms=12\n"),
	plainCarrier("HTML", "<html><body><p>Service notes</p><p>NAME: <code>VALUE</code></p></body></html>"),
	plainCarrier("HTML table", "<table><tr><td>NAME</td><td>VALUE</td></tr><tr><td>region</td><td>eu</td></tr></table>"),
	plainCarrier("Markdown", "# Notes\n\n- **NAME**: `VALUE`\n- region: eu\n"),
	plainCarrier("Markdown table", "| name | value |\n|---|---|\n| NAME | VALUE |\n| region | eu |\n"),
	plainCarrier("code", "func main() {\n\tclient := dial(\"eu\")\n\tconst NAME = 'VALUE';\n}\n"),
	plainCarrier("call", "client = connect(NAME=\"VALUE\", retries=3)\nprint(client)\n"),
	plainCarrier("sentence", "Hello Dana, the NAME is VALUE, please use it for the deployment on Friday."),
	plainCarrier("end of sentence", "Hello Dana, here is the NAME: VALUE. Please use it on Friday."),
	{"JSON", func(name, value, secret string) (string, string) {
		return `{"region":"eu","` + name + `":"` + inJSON(value) + `","replicas":2}`, inJSON(secret)
	}},
	{"JSON in JSON", func(name, value, secret string) (string, string) {
		return `{"output":"` + inJSON(`{"`+name+`":"`+inJSON(value)+`"}`) + `","code":0}`, inJSON(inJSON(secret))
	}},
	{"query", func(name, value, secret string) (string, string) {
		return "GET https://api.example.com/v1/items?page=2&" + url.QueryEscape(name) + "=" + url.QueryEscape(value) + "&sort=asc 200", url.QueryEscape(secret)
	}},
	{"base64", func(name, value, _ string) (string, string) {
		code := base64.StdEncoding.EncodeToString([]byte("region=eu\n" + name + "=" + value + "\nreplicas=2\n"))
		return `{"content":"` + code + `","encoding":"base64"}`, code
	}},
}

// inJSON is a text as a string of JSON holds it.
func inJSON(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		panic(err) // a string is always encoded
	}
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(b.String()), `"`), `"`)
}
