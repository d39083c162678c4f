package deed

// kin are the deeds by which people ask for another: who wants a room booked by mail wants a mail to be sent.
var kin = map[Set]Set{
	Send:   Send | Post | Share | Book,
	Pay:    Pay | Book,
	Delete: Delete | Change | Book,
	Share:  Share | Send,
	Post:   Post | Send | Write | Share,
	Write:  Write | Change | Post | Book | Share | Run,
	Change: Change | Write | Delete | Book | Pay | Run,
	Run:    Run | Write | Change,
	Visit:  all,
	Book:   Book | Pay | Send,
}

// Kin is the set of deeds that may stand for one of some.
func Kin(s Set) Set {
	out := s
	for one := Send; one <= Book; one <<= 1 {
		if s.Has(one) {
			out |= kin[one]
		}
	}
	if s.Has(Send | Post | Share) {
		out |= Tell | Mention
	}
	return out
}

// Covers reports whether who asks for some deeds has asked for what is done, in so many words or in those for something like it: for
// one of its deeds, and for each that nobody does by the way.
func Covers(asked, done Set) bool {
	asked &^= Tell | Mention
	for one := Send; one <= Book; one <<= 1 {
		if (done & Grave).Has(one) && !asked.Has(kin[one]) {
			return false
		}
	}
	return asked.Has(Kin(done &^ Visit))
}
