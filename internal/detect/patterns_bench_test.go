package detect

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// kinds are texts of a kibibyte or so of what agents read, and two that are made of what rules wait for.
func kinds(tb testing.TB) map[string]string {
	tb.Helper()
	rules, err := loadRules()
	if err != nil {
		tb.Fatal(err)
	}
	var literals []string
	for i, r := range rules {
		literals = append(literals, r.Literals[i%len(r.Literals)])
	}
	return map[string]string{
		"prose": `The lighthouse at the western end of the bay was built in 1871 from local granite and stands thirty metres above the high
water mark. Its first keeper, a retired pilot named Orla Venn, lived there with her family for twenty-two years and kept a diary of the
weather, which the county museum published last spring. Visitors reach it on foot at low tide; the crossing takes about forty minutes, and
the café next to the car park sells tide tables. `,
		"triggers": prose,
		"json": `{"orders":[{"id":48213,"status":"shipped","items":[{"sku":"AX-204","qty":2,"price":18.5},{"sku":"BR-9","qty":1,"price":4.2}],
"address":{"street":"Harbour Road 4","city":"Galway","country":"IE"},"note":"leave at the door"},{"id":48214,"status":"open","items":[],
"user":{"role":"customer","system_id":"u-17"},"token_count":512,"instructions":"ring twice"}],"next_page":null,"total":2}` + "\n",
		"html": `<div class="card"><h2><a href="https://shop.example/p/204?ref=home">Desk lamp</a></h2><p>Warm light, <em>three</em> levels.
<img src="https://cdn.shop.example/img/204.jpg?w=300" alt="Desk lamp"></p><!-- price block --><span class="price">€ 39</span></div>` + "\n",
		"code": `func (s *Server) handle(w http.ResponseWriter, r *http.Request) {
	// ignore errors here: the client is gone
	user, err := s.users.Find(r.Context(), r.FormValue("id"))
	if err != nil { http.Error(w, "not found", http.StatusNotFound); return }
	fmt.Fprintf(w, "hello %s, your key is %q", user.Name, user.Key)
}
`,
		"literals": strings.Join(literals, ", ") + "\n",
	}
}

// BenchmarkPatterns is the rules alone on a kibibyte that was normalised before.
func BenchmarkPatterns(b *testing.B) {
	p, err := newPatterns()
	if err != nil {
		b.Fatal(err)
	}
	texts := kinds(b)
	for _, size := range []int{1 << 10, 64 << 10} {
		for _, kind := range []string{"prose", "triggers", "json", "html", "code", "literals"} {
			b.Run(fmt.Sprint(kind, size>>10), func(b *testing.B) {
				text := strings.Repeat(texts[kind], size/len(texts[kind])+1)[:size]
				n := normalise(text, looksLikeJSON(text))
				b.SetBytes(int64(size))
				var took []time.Duration
				for b.Loop() {
					from := time.Now()
					p.Detect(context.Background(), Text{Channel: ToolResult, Text: text}, n)
					if len(took) < 1<<16 {
						took = append(took, time.Since(from))
					}
				}
				slices.Sort(took)
				b.ReportMetric(float64(took[len(took)/2].Nanoseconds()), "p50-ns")
				b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds()), "p99-ns")
			})
		}
	}
}
