package detect

import "strings"

// national is one form of a number that a state gives to a person. Forms that other numbers have, too, count beside a word alone.
type national struct {
	shape string // d a digit, A a capital letter
	valid func(number string) bool
	words *vocabulary // nil: the form and the check prove it
}

var (
	wordsCPF      = newVocabulary("cpf", "cadastro de pessoas")
	wordsPESEL    = newVocabulary("pesel")
	wordsTurkish  = newVocabulary("kimlik", "tckn", "tc no", "tc kimlik")
	wordsNorway   = newVocabulary("fodselsnummer", "f\u00f8dselsnummer", "personnummer", "fnr")
	wordsGermany  = newVocabulary("steuer id", "steuerid", "steuernummer", "steueridentifikationsnummer", "steuerliche identifikationsnummer", "idnr", "tin")
	wordsBaltic   = newVocabulary("isikukood", "asmens kodas", "personal code")
	wordsCroatia  = newVocabulary("oib")
	wordsBelgium  = newVocabulary("rijksregisternummer", "registre national", "niss", "insz")
	wordsSweden   = newVocabulary("personnummer", "pnr", "personal identity number", "samordningsnummer")
	wordsIndia    = newVocabulary("aadhaar", "aadhar", "uidai", "uid")
	wordsDutch    = newVocabulary("bsn", "burgerservicenummer", "sofinummer", "citizen service number")
	wordsCanada   = newVocabulary("sin", "social insurance", "nas")
	wordsPortugal = newVocabulary("nif", "contribuinte")
	wordsAustral  = newVocabulary("tfn", "tax file")
	wordsNHS      = newVocabulary("nhs", "health service")
	wordsBulgaria = newVocabulary("egn")
	wordsSpain    = newVocabulary("dni", "nif", "nie", "documento", "identidad")
	wordsSouth    = newVocabulary("id number", "identity number", "sa id", "id no")
	wordsRomania  = newVocabulary("cnp", "cod numeric")
	wordsFrance   = newVocabulary("nir", "securite sociale", "s\u00e9curit\u00e9 sociale", "secu", "insee", "num\u00e9ro de s\u00e9curit\u00e9")
	wordsBritain  = newVocabulary("nino", "national insurance", "ni number", "ni no")
	wordsCzech    = newVocabulary("rodne cislo", "rodn\u00e9 \u010d\u00edslo")
)

// nationals is the forms by their shapes.
var nationals = func() map[string][]national {
	all := map[string][]national{}
	for _, n := range []national{
		{"ddd.ddd.ddd-dd", cpf, nil},
		{"ddddddddddd", cpf, &wordsCPF},
		{"ddddddddddd", pesel, &wordsPESEL},
		{"ddddddddddd", turkish, &wordsTurkish},
		{"ddddddddddd", norwegian, &wordsNorway},
		{"dddddd ddddd", norwegian, &wordsNorway},
		{"ddddddddddd", iso7064, &wordsGermany},
		{"ddddddddddd", iso7064, &wordsCroatia},
		{"ddddddddddd", baltic, &wordsBaltic},
		{"ddddddddddd", belgian, &wordsBelgium},
		{"dd.dd.dd-ddd.dd", belgian, nil},
		{"dddddd-dddd", swedish, &wordsSweden},
		{"dddddddd-dddd", swedish, nil},
		{"dddddddddddd", swedish, &wordsSweden},
		{"dddddddddddd", verhoeff, &wordsIndia},
		{"dddd dddd dddd", verhoeff, &wordsIndia},
		{"ddddddddd", dutch, &wordsDutch},
		{"ddddddddd", luhn, &wordsCanada},
		{"ddd ddd ddd", luhn, &wordsCanada},
		{"ddd-ddd-ddd", luhn, &wordsCanada},
		{"ddddddddd", portuguese, &wordsPortugal},
		{"ddddddddd", australian, &wordsAustral},
		{"ddd ddd ddd", australian, &wordsAustral},
		{"ddd ddd dddd", nhs, &wordsNHS},
		{"dddddddddd", nhs, &wordsNHS},
		{"dddddddddd", bulgarian, &wordsBulgaria},
		{"dddddddddd", czech, &wordsCzech},
		{"dddddd/dddd", czech, nil},
		{"dd.ddd.ddd-d", chilean, nil},
		{"dd.ddd.ddd-A", chilean, nil},
		{"dd-dddddddd-d", argentine, nil},
		{"ddddddddA", spanish, &wordsSpain},
		{"dddddddd-A", spanish, &wordsSpain},
		{"AdddddddA", spanish, &wordsSpain},
		{"dddddd-dddA", finnish, nil},
		{"dddddddddddddddddd", chinese, nil},
		{"dddddddddddddddddA", chinese, nil},
		{"ddddddddddddd", southAfrican, &wordsSouth},
		{"ddddddddddddd", romanian, &wordsRomania},
		{"dddddd-ddddddd", korean, nil},
		{"ddddddddddddddd", french, &wordsFrance},
		{"d dd dd dd ddd ddd dd", french, nil},
		{"AAAAAAddAddAdddA", italian, nil},
		{"AAddddddA", british, &wordsBritain},
		{"AA dd dd dd A", british, &wordsBritain},
	} {
		all[n.shape] = append(all[n.shape], n)
	}
	return all
}()

const (
	nationalMost  = 24 // bytes of a number with its separators
	nationalReach = 48 // bytes before a number in which its word stands
)

// national looks for a national identity number that holds the digit at i, the first of its digits.
func (s *personal) national(i int) int {
	start := i
	for start > 0 && i-start < 7 && capital(s.text[start-1]) {
		start--
	}
	if i > 2 && s.text[i-1] == ' ' && capital(s.text[i-2]) && capital(s.text[i-3]) && (i == 3 || !wordByte(s.text[i-4])) {
		start = i - 3 // of the form AB 12 34 56 C
		if s.at(i+2) != ' ' {
			start = i
		}
	}
	if c := s.before(start); wordByte(c) || strings.IndexByte(" -./", c) >= 0 && start > 1 && digit(s.text[start-2]) || c == '-' && start > 1 && wordByte(s.text[start-2]) {
		return 0 // inside of a longer row
	}
	var shape, number [nationalMost]byte
	n, end := 0, start
	for ; end < len(s.text) && end-start < nationalMost; end++ {
		switch c := s.text[end]; {
		case digit(c):
			shape[end-start], number[n] = 'd', c
			n++
			continue
		case capital(c):
			shape[end-start], number[n] = 'A', c
			n++
			continue
		case strings.IndexByte(" .-/", c) >= 0 && end > start && (digit(s.at(end+1)) || c != '.' && capital(s.at(end+1)) && !wordByte(s.at(end+2))):
			shape[end-start] = c
			continue
		}
		break
	}
	if n < 9 || !s.ends(end) {
		return 0
	}
	for _, form := range nationals[string(shape[:end-start])] {
		if form.valid(string(number[:n])) && (form.words == nil || s.near(start, nationalReach, form.words)) {
			score := certain
			if form.words == nil {
				score = likely
			}
			return s.add(classNational, score, start, end)
		}
	}
	return 0
}
