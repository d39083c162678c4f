package deed

// Sign is what makes the words around a value look like an order to whoever acts on them.
type Sign uint16

// The signs.
const (
	Addressed Sign = 1 << iota // they speak to a machine that reads, here or in the sentence before
	Aimed                      // they do so further up in the paragraph
	Perhaps                    // they speak to what may be one: software, whoever reads this
	Secret                     // the user shall not be told or asked
	Meddling                   // they speak of what the agent does for its user: before you answer, then continue
	Defers                     // they leave it to another text what is to be done: as its README says
	Asks                       // they ask to know something
	Names                      // they name a mail address
	Prose                      // they are a sentence, and no field, heading or line of a list
	Hidden                     // nobody sees them who reads the text as it is shown
	Blank                      // they leave blanks in an address: {name}, <id>, =NAME
	Program                    // they speak of a program that acts
)

// Has reports whether one of some signs is there.
func (s Sign) Has(one Sign) bool { return s&one != 0 }

// Passage is a run of sentences that mean the same.
type Passage struct {
	Start, End int // bytes of the text
	Deeds      Set // those of the sentences and of the one before
	Signs      Sign
}

// Separator stands between two texts that do not belong together, such as two strings of one JSON value. It ends a paragraph.
const Separator = '\x1e'

// own are the signs that say nothing of the next sentence.
const own = Defers | Asks | Names | Prose | Hidden | Blank

// maxAim is how far up in a paragraph words still speak to the reader of a sentence, in sentences.
const maxAim = 6

// Read divides a text into passages, in their order. It leaves out those that name no deed and bear no sign.
func Read(text string) []Passage {
	var out []Passage
	var before sentence
	aimed := 0
	s := splitter{text: text}
	one, ok := s.next()
	for ok {
		after, more := s.next()
		if one.first {
			before, aimed = sentence{}, 0
		}
		p := Passage{Start: one.start, End: one.end, Deeds: one.deeds | before.deeds, Signs: one.signs | before.signs&^own}
		if more && !after.first {
			p.Signs |= after.signs & (Secret | Meddling)
			p.Deeds |= after.deeds
		}
		if aimed > 0 {
			p.Signs |= Aimed
			aimed--
		}
		if one.signs.Has(Addressed | Perhaps) {
			aimed = maxAim
		}
		out = join(out, p)
		before, one, ok = one, after, more
	}
	return out
}

func join(out []Passage, p Passage) []Passage {
	if p.Deeds == 0 && p.Signs == 0 {
		return out
	}
	if n := len(out); n > 0 && out[n-1].End == p.Start && out[n-1].Deeds == p.Deeds && out[n-1].Signs == p.Signs {
		out[n-1].End = p.End
		return out
	}
	return append(out, p)
}
