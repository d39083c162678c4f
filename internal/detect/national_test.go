package detect

import (
	"strings"
	"testing"
)

// nationalExamples are numbers that their countries, or descriptions of their check digits, give as examples; no person has them.
var nationalExamples = []struct{ country, before, number string }{
	{"Argentina", "", "20-05536168-2"},
	{"Australia", "tax file number ", "123 456 782"},
	{"Belgium", "", "85.07.30-033.28"},
	{"Belgium, born after 1999", "", "17.07.30-033.84"},
	{"Brazil", "", "111.444.777-35"},
	{"Brazil, in one run", "CPF ", "11144477735"},
	{"Bulgaria", "EGN ", "7523169263"},
	{"Canada", "SIN: ", "046 454 286"},
	{"Chile", "", "12.531.909-2"},
	{"China", "", "11010519491231002X"},
	{"Croatia", "OIB ", "69435151530"},
	{"Czechia", "", "710319/2745"},
	{"Estonia", "isikukood ", "37605030299"},
	{"Finland", "", "131052-308T"},
	{"France", "", "2 95 10 99 126 111 93"},
	{"Germany", "Steuer-ID: ", "86095742719"},
	{"India", "Aadhaar ", "2341 2341 2346"},
	{"Italy", "", "RCCMNL83S18D969H"},
	{"Korea", "", "971013-9019902"},
	{"Lithuania", "asmens kodas ", "33309240064"},
	{"Netherlands", "BSN ", "111222333"},
	{"Norway", "fødselsnummer ", "15076500565"},
	{"Poland", "PESEL ", "44051401359"},
	{"Portugal", "NIF: ", "123456789"},
	{"Romania", "CNP ", "1630615123457"},
	{"South Africa", "ID number ", "7503305044089"},
	{"Spain", "DNI ", "12345678Z"},
	{"Spain, foreigner", "NIE ", "X2482300W"},
	{"Sweden", "personnummer ", "811228-9874"},
	{"Turkey", "T.C. kimlik no ", "10000000146"},
	{"United Kingdom, health service", "NHS no. ", "943 476 5919"},
	{"United Kingdom, insurance", "National Insurance number ", "AB 12 34 56 C"},
}

func TestNationalNumbers(t *testing.T) {
	s := set(t, "pii")
	for _, c := range nationalExamples {
		t.Run(c.country, func(t *testing.T) {
			for _, text := range []string{"It says " + c.before + c.number + " here.", `{"note":"` + c.before + c.number + `"}`} {
				r := scan(t, s, text)
				if len(r.Findings) != 1 || r.Findings[0].Type != classNational || text[r.Findings[0].Start:r.Findings[0].End] != c.number {
					t.Errorf("%s: %+v", text, r.Findings)
				}
			}
			if c.country == "United Kingdom, insurance" {
				return // no check digit
			}
			for _, other := range []string{damaged(c.number), "9" + c.number, c.number + "7"} {
				text := "It says " + c.before + other + " here."
				for _, f := range scan(t, s, text).Findings {
					if f.Type == classNational {
						t.Errorf("%s: %s", text, text[f.Start:f.End])
					}
				}
			}
			if c.before != "" {
				for _, f := range scan(t, s, "It says "+c.number+" here.").Findings {
					if f.Type == classNational {
						t.Errorf("%s counts without a word that says what it is", c.number)
					}
				}
			}
		})
	}
}

// damaged is a number with another last digit.
func damaged(number string) string {
	i := strings.LastIndexAny(number, "0123456789")
	return number[:i] + string('0'+(number[i]-'0'+1)%10) + number[i+1:]
}
