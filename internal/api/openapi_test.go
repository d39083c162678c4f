package api_test

import (
	"context"
	"encoding/json"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/gatehouse-gateway/gatehouse/internal/api"
	"github.com/gatehouse-gateway/gatehouse/internal/config"
	"github.com/gatehouse-gateway/gatehouse/internal/gateway"
)

// described is what openapi.yaml says of an operation.
type described struct {
	Method, Path string
	Tags         []string
	Description  string
	Parameters   []struct {
		Ref string `yaml:"$ref"`
	}
	Responses map[string]any
}

func (d described) name() string { return d.Method + " " + d.Path }

// native reports whether the operation is the API's own.
func (d described) native() bool {
	return !slices.ContainsFunc(d.Tags, func(tag string) bool {
		return slices.Contains([]string{"operations", "inspected", "pass-through", "closed"}, tag)
	})
}

// readOpenAPI reads the operations of openapi.yaml and the codes that it knows.
func readOpenAPI(t *testing.T) (list []described, codes []string) {
	t.Helper()
	raw, err := os.ReadFile("../../openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Paths      map[string]map[string]yaml.Node
		Components struct {
			Schemas struct {
				Code struct{ Enum []string } `yaml:"Code"`
			}
		}
	}
	if err := yaml.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	for path, item := range doc.Paths {
		for method, node := range item {
			if method == "parameters" {
				continue
			}
			d := described{Method: strings.ToUpper(method), Path: path}
			if err := node.Decode(&d); err != nil {
				t.Fatalf("%s: %v", d.name(), err)
			}
			list = append(list, d)
		}
	}
	return list, doc.Components.Schemas.Code.Enum
}

func TestEveryOperationIsDescribed(t *testing.T) {
	served := (&api.API{}).Operations()
	list, _ := readOpenAPI(t)
	known := map[string]bool{}
	for _, d := range list {
		known[d.name()] = true
		if d.native() && !slices.Contains(served, d.name()) {
			t.Errorf("openapi.yaml describes %s, which the API does not have", d.name())
		}
	}
	for _, name := range append(served, "GET /health/live", "GET /health/ready", "GET /metrics") {
		if !known[name] {
			t.Errorf("openapi.yaml does not describe %s", name)
		}
	}
}

// asking is a gateway with its defaults, and how to ask it; headers are names and values in turn.
func asking(t *testing.T) func(method, path, key, body string, headers ...string) *httptest.ResponseRecorder {
	cfg := config.Default()
	cfg.Store, cfg.Auth.AdminToken = "sqlite:"+filepath.Join(t.TempDir(), "gatehouse.db"), adminToken
	g, err := gateway.Open(t.Context(), cfg, gateway.Parts{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	return func(method, path, key, body string, headers ...string) *httptest.ResponseRecorder {
		// Nothing takes long but a stream, which ends when its client leaves.
		ctx, leave := context.WithTimeout(t.Context(), 2*time.Second)
		defer leave()
		r := httptest.NewRequestWithContext(ctx, method, "http://127.0.0.1"+path, strings.NewReader(body))
		if key != "" {
			r.Header.Set("X-Mnemom-Api-Key", key)
		}
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		w := httptest.NewRecorder()
		g.ServeHTTP(w, r)
		return w
	}
}

var placeholder = regexp.MustCompile(`\{[a-z]+\}`)

// TestWhatIsDescribedIsThere asks for everything without a credential.
func TestWhatIsDescribedIsThere(t *testing.T) {
	ask := asking(t)
	list, _ := readOpenAPI(t)
	for _, d := range list {
		path := strings.ReplaceAll(d.Path, "{upstream}", "openai")
		if strings.HasSuffix(path, "/v1/messages") {
			path = strings.ReplaceAll(path, "/u/openai/", "/u/anthropic/")
		}
		if strings.Contains(path, "/v1beta/") {
			path = strings.ReplaceAll(path, "/u/openai/", "/u/gemini/")
		}
		w := ask(d.Method, placeholder.ReplaceAllString(path, "batches"), "", "{}")
		want := []int{http.StatusUnauthorized}
		if slices.Contains(d.Tags, "operations") {
			want = []int{http.StatusOK}
		} else if slices.Contains(d.Tags, "closed") {
			want = []int{http.StatusUnauthorized, http.StatusForbidden}
		}
		if !slices.Contains(want, w.Code) {
			t.Errorf("%s: %d %s, want %v", d.name(), w.Code, w.Body, want)
		}
	}
}

// TestScopesAreDescribed asks with keys that have one scope each, and reads which one is missing.
func TestScopesAreDescribed(t *testing.T) {
	ask := asking(t)
	var keys []string
	for _, scope := range []string{"approve", "api:write"} {
		var made struct{ Key string }
		if err := json.Unmarshal(ask(http.MethodPost, "/v1/keys", adminToken, `{"scopes":["`+scope+`"]}`).Body.Bytes(), &made); err != nil {
			t.Fatal(err)
		}
		keys = append(keys, made.Key)
	}
	list, _ := readOpenAPI(t)
	for _, d := range list {
		if !d.native() {
			continue
		}
		missing, refused := "", false
		for _, key := range keys {
			if !refused {
				said := ask(d.Method, placeholder.ReplaceAllString(d.Path, "x"), key, "{}").Body.String()
				_, missing, refused = strings.Cut(said, "a key with the scope ")
			}
		}
		missing, _, _ = strings.Cut(missing, `"`)
		_, told, needs := strings.Cut(d.Description, "Needs the scope `")
		told, _, _ = strings.Cut(told, "`")
		if refused != needs || missing != told {
			t.Errorf("%s wants the scope %q and is described with %q", d.name(), missing, told)
		}
	}
}

// TestChangesAreIdempotent holds that every mutation is described with what Idempotency-Key brings.
func TestChangesAreIdempotent(t *testing.T) {
	list, _ := readOpenAPI(t)
	for _, d := range list {
		if !d.native() {
			continue
		}
		for _, status := range []string{"400", "401", "403", "500", "503"} {
			if d.Responses[status] == nil {
				t.Errorf("%s does not say %s", d.name(), status)
			}
		}
		keyed := false
		for _, p := range d.Parameters {
			keyed = keyed || p.Ref == "#/components/parameters/IdempotencyKey"
		}
		reads := d.Method == http.MethodGet || d.Path == "/v1/agents/{id}/verify-binding"
		if keyed == reads || (d.Responses["409"] != nil) == reads || (d.Responses["422"] != nil) == reads {
			t.Errorf("%s: Idempotency-Key with 409 and 422 is described: %v, but it only reads: %v", d.name(), keyed, reads)
		}
	}
}

var (
	codePattern  = regexp.MustCompile(`Failure\(\s*(?:http\.Status\w+|[\w.]+),\s*"([a-z_]+)",`)
	nounPattern  = regexp.MustCompile(`notFound\("([a-z_]+)"\)`)
	queryPattern = regexp.MustCompile(`\.(?:number|moment)\("([a-z_]+)"`)
)

// TestCodesAreDescribed reads the codes of errors out of the source.
func TestCodesAreDescribed(t *testing.T) {
	_, codes := readOpenAPI(t)
	source := sources(t)
	var used []string
	for _, m := range codePattern.FindAllStringSubmatch(source, -1) {
		used = append(used, m[1])
	}
	for _, m := range nounPattern.FindAllStringSubmatch(source, -1) {
		used = append(used, m[1]+"_not_found")
	}
	for _, m := range queryPattern.FindAllStringSubmatch(source, -1) {
		used = append(used, "invalid_"+m[1]+"_parameter")
	}
	if len(used) < 40 {
		t.Fatalf("only %d codes found: how errors are made has changed", len(used))
	}
	for _, code := range used {
		if !slices.Contains(codes, code) {
			t.Errorf("openapi.yaml does not know the code %s", code)
		}
	}
	used = append(used, "agent_paused", "agent_killed") // agent_ and the state
	for _, code := range codes {
		if !slices.Contains(used, code) && !strings.Contains(source, `"`+code+`"`) {
			t.Errorf("openapi.yaml knows the code %s, which nothing says", code)
		}
	}
}

// sources is the text of all packages but tests.
func sources(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return err
		}
		text, err := os.ReadFile(name)
		all.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}
