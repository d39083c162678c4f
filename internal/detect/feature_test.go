package detect

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestShortWordsHaveThePartsOfAll: a word that is read without loops makes the same features as one at the end of a text, which is not.
func TestShortWordsHaveThePartsOfAll(t *testing.T) {
	for _, word := range []string{"a", "is", "the", "send", "reply", "ignore", "ignored", "overlong", "ab1", "a.b", "don't", "naïve", "x-ray", "9to5"} {
		for _, behind := range []string{"", " ", ", ", ") ", "; ", "/ "} {
			short, long := &features{}, &features{}
			short.sentence(word + behind + strings.Repeat(" ", 16))
			long.sentence(word + behind)
			if !slices.Equal(short.out, long.out) || short.mark != long.mark {
				t.Errorf("%q: %x, and at the end %x", word+behind, short.out, long.out)
			}
		}
	}
}

// TestLettersOf counts the letters before the first byte that is none.
func TestLettersOf(t *testing.T) {
	for c := range 256 {
		text := []byte("aZmAzqBy")
		for at := range text {
			one := slices.Clone(text)
			one[at] = byte(c)
			want := uint(len(text))
			if !letter(byte(c)) {
				want = uint(at)
			}
			if got := lettersOf(eight(string(one))); got != want {
				t.Errorf("%q has %d letters, not %d", one, want, got)
			}
		}
	}
}

// TestWeightsAreLookedUpWithoutABranch as they are with one.
func TestWeightsAreLookedUpWithoutABranch(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // features of a test
	w := new(Weights)
	var all []uint32
	for range Buckets {
		x := rng.Uint32()
		w.Put(x, int8(rng.IntN(255)-127)) //nolint:gosec // fits
		all = append(all, x, x^1, rng.Uint32())
	}
	known := 0
	for _, x := range all {
		weight, found := look(w[x>>(32-bucketBits)], x)
		if found == 0 {
			weight = 0
		}
		if want := w.of(x); int32(want) != weight {
			t.Fatalf("%x weighs %d, not %d", x, want, weight)
		}
		known += int(found) //nolint:gosec // 0 or 1
	}
	if known < Buckets || known == len(all) {
		t.Errorf("%d of %d are known", known, len(all))
	}
}

// TestSentencesReadInStretches are those that are read byte by byte.
func TestSentencesReadInStretches(t *testing.T) {
	texts := hostile()
	for _, text := range samples {
		texts = append(texts, text)
	}
	for _, lump := range texts {
		for _, lead := range []string{"", `{"a":"`, "x "} {
			text := lead + strings.Repeat(lump, 1+2000/len(lump))
			n := read(text, formOf(text))
			slow := splitter{n: n, text: n.Text, start: -1}
			for i := 0; i < len(n.Text); {
				i = slow.step(i)
			}
			slow.end(len(n.Text))
			if got := sentences(n); !slices.Equal(got, slow.all) {
				t.Errorf("%q behind %q: %v, not %v", lump, lead, got, slow.all)
			}
		}
	}
}
