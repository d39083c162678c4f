package detect

// parts adds the parts of a word: all of four letters, its beginnings and its end.
func (f *features) parts(w string) {
	n := len(w)
	if n < 4 {
		return
	}
	if uint(len(f.batch))-f.n <= uint(n) { //nolint:gosec // a length
		f.flush()
	}
	x := uint32(w[0]) | uint32(w[1])<<8 | uint32(w[2])<<16
	f.add(saltHead, x)
	batch := f.batch[f.n:]
	for i := 3; i < n && i-3 < len(batch); i++ {
		x |= uint32(w[i]) << 24
		batch[i-3] = x ^ saltGram
		x >>= 8
	}
	f.n += uint(n - 3) //nolint:gosec // n is four at least
	f.add(saltTail, x)
	if n > 5 {
		f.add(saltHead, hashWord(w[:5]))
	}
}

// shortMade is more than a word of seven letters has parts.
const shortMade = 8

// short reads a word of up to seven letters, as most are, in the way of [features.parts] and without a loop for each: the ends of loops over
// words cannot be foreseen. letters are its letters, the first lowest, and what follows them.
func (f *features) short(letters uint64, size uint) {
	var hashes [shortMade]uint32 // of its beginnings
	hash := uint32(2166136261)
	for k := range shortMade - 1 {
		hash = (hash ^ uint32(letters>>(8*k))&0xff) * 16777619
		hashes[k+1] = hash
	}
	if size > 3 {
		if f.n > batchMost-shortMade {
			f.flush()
		}
		made := (*[shortMade]uint32)(f.batch[f.n:])
		made[0] = uint32(letters)&0xffffff ^ saltHead
		made[1] = uint32(letters) ^ saltGram
		made[2] = uint32(letters>>8) ^ saltGram
		made[3] = uint32(letters>>16) ^ saltGram
		made[4] = uint32(letters>>24) ^ saltGram
		made[(size-2)%shortMade] = uint32(letters>>(8*(size-3)))&0xffffff ^ saltTail
		made[(size-1)%shortMade] = hashes[5] ^ saltHead
		f.n += size - 1 + (5-size)>>63 // the beginning of five letters is another one where there are more
	}
	f.word(hashes[size%shortMade])
}

// runes adds the parts of a word of any alphabet.
func (f *features) runes(w []rune) {
	if len(w) < 4 {
		return
	}
	hash := func(part []rune) (h uint32) {
		h = 2166136261
		for _, r := range part {
			h = (h ^ uint32(r)) * 16777619 //nolint:gosec // a rune is not negative
		}
		return h
	}
	f.add(saltHead, hash(w[:3]))
	for i := 4; i <= len(w); i++ {
		f.add(saltGram, hash(w[i-4:i]))
	}
	f.add(saltTail, hash(w[len(w)-3:]))
	if len(w) > 5 {
		f.add(saltHead, hash(w[:5]))
	}
}
