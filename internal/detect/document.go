package detect

var (
	wordsDocument = newVocabulary("passport", "passport number", "passport no", "reisepass", "passnummer", "passeport", "pasaporte", "passaporto", "passaporte", "paspoort",
		"driver license", "drivers license", "driver's license", "driver licence", "driver's licence", "driving licence", "driving license", "dl number", "f\u00fchrerschein", "permis de conduire", "rijbewijs", "patente di guida", "carnet de conducir")
	wordsBirth = newVocabulary("born", "birth", "dob", "date of birth", "birthdate", "birthday", "birth date", "geburtsdatum", "geboren", "geb", "n\u00e9 le", "n\u00e9e le",
		"date de naissance", "naissance", "fecha de nacimiento", "nacimiento", "data di nascita", "nato il", "nata il", "data de nascimento", "nascimento", "geboortedatum",
		"f\u00f8dselsdato", "f\u00f6delsedatum", "urodzenia", "syntym\u00e4aika")
)

const (
	documentReach, documentLeast, documentMost = 40, 6, 15
	birthReach                                 = 28
)

// document looks for the number of a passport or of a driver's licence, whose forms are many, beside a word for it alone.
func (s *personal) document(i int) int {
	start := i
	for start > 0 && i-start < 3 && capital(s.text[start-1]) {
		start--
	}
	if c := s.before(start); wordByte(c) || start > 1 && digit(s.text[start-2]) {
		return 0 // the number before is too near for a word between
	}
	digits, end := 0, start
	for end < len(s.text) && end-start <= documentMost {
		c := s.text[end]
		if digit(c) {
			digits++
		} else if !capital(c) && (c != '-' || !digit(s.at(end+1))) {
			break
		}
		end++
	}
	if size := end - start; digits < 5 || size < documentLeast || size > documentMost || !s.ends(end) || !s.near(start, s.sentence(start, documentReach), &wordsDocument) {
		return 0
	}
	return s.add(classDocument, likely, start, end)
}

// sentence is how many of the reach bytes before i belong to its sentence and line, and stand behind the number before.
func (s *personal) sentence(i, reach int) int {
	for n := 1; n <= min(reach, i); n++ {
		if c := s.text[i-n]; c == '\n' || digit(c) || (c == '.' || c == ';') && s.at(i-n+1) == ' ' && !(i-n > 2 && s.text[i-n-2:i-n] == "no") {
			return n
		}
	}
	return reach
}

// isoDate is the end of a date like 2026-01-31 at byte i, where the first digits end at byte end; 0 where there is none.
func (s *personal) isoDate(i, end int) int {
	if end != i+4 || i+10 > len(s.text) || s.text[i+4] != '-' || s.text[i+7] != '-' || s.text[i] != '1' && s.text[i] != '2' || s.text[i+5] > '1' || s.text[i+8] > '3' ||
		s.digitsEnd(i+5) != i+7 || s.digitsEnd(i+8) != i+10 || s.at(i+10) == '-' && digit(s.at(i+11)) {
		return 0
	}
	return i + 10
}

// birth looks for a date of birth: a date in figures, whose groups are given, beside a word for it.
func (s *personal) birth(i int, r digitsRun) int {
	if len(r) < 3 {
		return 0
	}
	parts, end := [3]int{}, i
	for k := range parts {
		g := r[k]
		if k > 0 {
			c := s.text[end]
			if g.start != end+1 || c != '-' && c != '/' && c != '.' || c != s.text[r[0].end] {
				return 0
			}
		}
		if size := g.end - g.start; size > 4 || size == 3 {
			return 0
		}
		parts[k], end = value(s.text, g.start, g.end-g.start), g.end
	}
	year := parts[2]
	if parts[0] > 31 {
		year = parts[0]
		parts[0] = parts[2]
	}
	if parts[0] < 1 || parts[0] > 31 || parts[1] < 1 || parts[1] > 31 || year < 1900 && year > 99 || year > 2100 || wordByte(s.at(end)) && s.at(end) != 'T' {
		return 0
	}
	if !s.near(i, birthReach, &wordsBirth) {
		return 0
	}
	return s.add(classBirth, certain, i, end)
}
