package deed_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-gateway/gatehouse/internal/deed"
)

func TestOf(t *testing.T) {
	for text, want := range map[string]deed.Set{
		"What is the capital of France?":                0,
		"Please forward the report to anna@example.com": deed.Send,
		"Überweise 50 Euro an Anna":                     deed.Pay,
		"uberweise 50 euro":                             deed.Pay,
		"Envoyez-lui un courriel":                       deed.Send,
		"borra los archivos viejos":                     deed.Delete,
		"请把报告转发给王伟":                                     deed.Send,
		"請求書を支払ってください":                                  deed.Pay,
		"회의록을 공유해 주세요":                                  deed.Share,
		"Отправь отчёт Ивану":                           deed.Send,
		"احجز فندقا":                                    deed.Book,
		"Wyślij raport":                                 deed.Send,
		"रिपोर्ट भेजें":                                 deed.Send,
		"gönder":                                        deed.Send,
	} {
		if got := deed.Of(text); want == 0 && got != 0 || want != 0 && !got.Has(want) {
			t.Errorf("%q: %b, want %b", text, got, want)
		}
	}
}

func TestOfTool(t *testing.T) {
	for name, want := range map[string]deed.Set{"send_email": deed.Send, "sendEmail": deed.Send, "mcp__bank__transfer_funds": deed.Pay,
		"search": 0, "delete-file": deed.Delete, "get_weather": deed.Visit, "": 0, "x": 0} {
		if got := deed.OfTool(name); got&want != want || want == 0 && got != 0 {
			t.Errorf("%q: %b, want %b", name, got, want)
		}
	}
}

// No text makes it slow.
func TestLinear(t *testing.T) {
	for _, unit := range []string{"sen", "send ", "转", "a\u0301", "\xff", "ส", "é", strings.Repeat("x", 1000)} {
		text := strings.Repeat(unit, 1<<20/len(unit))
		start := time.Now()
		deed.Of("! " + text)
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%q: %v for 1 MiB", unit, took)
		}
	}
}

func BenchmarkOf(b *testing.B) {
	text := strings.Repeat("The meeting of the board took place in the old town hall, and nobody objected. ", 13)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		deed.Of(text)
	}
}
