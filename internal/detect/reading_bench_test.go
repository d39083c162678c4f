package detect

import (
	"strings"
	"testing"
)

// samples are ordinary texts of several kinds.
var samples = map[string]string{
	"prose": prose,
	"JSON": `{"id":1482,"customer":"Ann Lee","city":"Oslo","items":[{"sku":"B-20-77","qty":2,"price":14.5},{"sku":"C-11-02","qty":1,"price":9.0}],
"note":"Leave the parcel with the neighbour.\nRing twice.","created_at":"2026-03-14T09:26:53Z","tracking":"1Z999AA10123456784","ok":true},
`,
	"HTML": `<div class="row mt-4"><h2 style="color:#336699;font-size:18px">Opening hours</h2><p>We are open from <b>nine to five</b>, Monday&nbsp;to
Friday.</p><a href="/contact?ref=home" title="Get in touch">Contact us</a> <img src="/img/shop.png" alt="The shop seen from the street"></div>
`,
	"mail": `From: Dana Reyes <dana@kestrel.example>
Subject: Re: budget draft

Thanks, I will look at it on Thursday.

> Please review the draft before the meeting and send me
> what you think of the second page.
> Kind regards, Rita
`,
	"code": `// shelf returns the books on a shelf, in order of their titles.
// It is empty when there is no such shelf.
func (l *Library) shelf(name string) []Book {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := append([]Book(nil), l.shelves[name]...)
	sort.Slice(all, func(i, j int) bool { return all[i].Title < all[j].Title })
	return all
}
`,
	"log": `2026-03-14T09:26:53Z INFO req=7f3a9c0e2b4d4f6f8a1b2c3d4e5f6a7b user=1482 GET /api/v2/items?page=3&q=blue%20shoes 200 14ms
2026-03-14T09:26:54Z WARN req=0e2b4d4f6f8a1b2c3d4e5f6a7b7f3a9c cache miss key=9b74c9897bac770ffc029102a200c5de sha256:e3b0c44298fc1c149afbf4c8996fb924
`,
	"Russian": "Отчёт за квартал содержит четырнадцать открытых заявок. Пожалуйста, просмотрите черновик бюджета до четверга.\n",
	"Chinese": "季度报告列出了十四张未结工单。请在星期四之前查看预算草案，并将意见转发给负责人。\n",
}

func BenchmarkReading(b *testing.B) {
	for _, kib := range []int{1, 64} {
		for name, sample := range samples {
			text := strings.Repeat(sample, kib<<10/len(sample)+1)
			text = strings.ToValidUTF8(text[:kib<<10], "")
			f := formOf(text)
			b.Run(name+"/normalise", func(b *testing.B) { perKiB(b, kib, func() { formOf(text); read(text, f) }) })
			n := read(text, f)
			b.Run(name+"/decode", func(b *testing.B) { perKiB(b, kib, func() { n.plain = unescaped{}; views(n) }) })
			b.Run(name+"/sentences", func(b *testing.B) { perKiB(b, kib, func() { sentences(n) }) })
		}
	}
}

// perKiB reports the time of work for each KiB of text.
func perKiB(b *testing.B, kib int, work func()) {
	for b.Loop() {
		work()
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*kib), "µs/KiB")
	b.ReportMetric(0, "ns/op")
}
