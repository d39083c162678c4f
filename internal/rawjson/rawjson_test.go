package rawjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	cases := []struct {
		name, doc string
		want      error
	}{
		{"scalars", ` [ null, true, false, 0, -1.50e+2, 12345678901234567890, "a" ] `, nil},
		{"empty", `{"a":{},"b":[],"":""}`, nil},
		{"escapes", `"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00"`, nil},
		{"depth reached", strings.Repeat("[", 8) + strings.Repeat("]", 8), nil},
		{"siblings do not add up", `[[],[],[],[],[],[],[],[],[],{},{}]`, nil},
		{"depth exceeded", strings.Repeat("[", 9) + strings.Repeat("]", 9), ErrDepth},
		{"nothing", ` `, ErrSyntax},
		{"trailing data", `{} 1`, ErrSyntax},
		{"trailing comma in an array", `[1,]`, ErrSyntax},
		{"trailing comma in an object", `{"a":1,}`, ErrSyntax},
		{"leading comma", `[,1]`, ErrSyntax},
		{"no comma", `[1 2]`, ErrSyntax},
		{"no colon", `{"a" 1}`, ErrSyntax},
		{"leading zero", `01`, ErrSyntax},
		{"bare point", `1.`, ErrSyntax},
		{"bare exponent", `1e`, ErrSyntax},
		{"plus", `+1`, ErrSyntax},
		{"NaN", `NaN`, ErrSyntax},
		{"comment", `/**/1`, ErrSyntax},
		{"control character", "\"\n\"", ErrSyntax},
		{"bad escape", `"\x"`, ErrSyntax},
		{"short escape", `"\u00e"`, ErrSyntax},
		{"open string", `"a`, ErrSyntax},
		{"open escape", `"\`, ErrSyntax},
		{"open array", `[1`, ErrSyntax},
		{"open object", `{"a":1`, ErrSyntax},
		{"byte order mark", "\uFEFF{}", ErrSyntax},
		{"duplicate", `{"a":1,"a":2}`, ErrDuplicate},
		{"duplicate by escape", `{"a":1,"\u0061":2}`, ErrDuplicate},
		{"duplicate among many", `{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"j":1,"k":1,"l":1,"m":1,"n":1,"o":1,"p":1,"q":1,"p":2}`, ErrDuplicate},
		{"case makes a difference", `{"a":1,"A":2}`, nil},
		{"invalid UTF-8", "\"\xff\"", ErrUTF8},
		{"lone high surrogate", `"\ud800"`, ErrUTF8},
		{"lone low surrogate", `"\udc00"`, ErrUTF8},
		{"high surrogate and no low one", `"\ud800\u0061"`, ErrUTF8},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse([]byte(c.doc), 8)
			if !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

func TestErrorNamesTheOffset(t *testing.T) {
	_, err := Parse([]byte(`{"secret":1,"secret":2}`), 8)
	var e *Error
	if !errors.As(err, &e) || e.Offset != 12 || strings.Contains(err.Error(), "secret") {
		t.Errorf("got %v", err)
	}
}

func TestValue(t *testing.T) {
	doc := []byte(`{"s":"a\u00e9\ud83d\ude00\n","i":-42,"big":1234567890123456789,"f":1.0,"t":true,"n":null,"o":{"x":[1,2]}}`)
	root, err := Parse(doc, 8)
	if err != nil {
		t.Fatal(err)
	}
	if got := root.Get("s").Text(doc); got != "aé😀\n" {
		t.Errorf("text: %q", got)
	}
	if got := root.Get("i").Text(doc); got != "" {
		t.Errorf("text of a number: %q", got)
	}
	for name, want := range map[string]struct {
		n  int64
		ok bool
	}{"i": {-42, true}, "big": {0, false}, "f": {0, false}, "s": {0, false}, "missing": {0, false}} {
		if n, ok := root.Get(name).Int(doc); n != want.n || ok != want.ok {
			t.Errorf("%s: %d, %v", name, n, ok)
		}
	}
	if !root.Get("t").IsTrue(doc) || root.Get("n").IsTrue(doc) || root.Get("missing").IsTrue(doc) {
		t.Error("IsTrue")
	}
	if root.Get("n").Exists() || root.Get("missing").Exists() || !root.Get("o").Exists() {
		t.Error("Exists")
	}
	if got := root.Get("o").Get("x").Raw(doc); string(got) != "[1,2]" {
		t.Errorf("raw: %s", got)
	}
}

func TestQuote(t *testing.T) {
	for text, want := range map[string]string{
		"":               `""`,
		"a<b>&'é😀":       `"a<b>&'é😀"`,
		"\"\\/":          `"\"\\/"`,
		"\n\r\t\x00\x1f": `"\n\r\t\u0000\u001f"`,
		"\u2028\u2029":   `"\u2028\u2029"`,
		"\xff":           "\"\uFFFD\"",
	} {
		if got := Quote(text); string(got) != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

func TestSplice(t *testing.T) {
	doc := []byte("0123456789")
	if got := Splice(doc, nil); &got[0] != &doc[0] {
		t.Error("without patches the document was copied")
	}
	got := Splice(doc, []Patch{{8, 10, nil}, {2, 2, []byte("a")}, {2, 2, []byte("b")}, {2, 4, []byte("c")}})
	if string(got) != "01abc4567" || string(doc) != "0123456789" {
		t.Errorf("got %s", got)
	}
}

func TestRemove(t *testing.T) {
	elems := []struct {
		doc  string
		gone []int
		want string
	}{
		{`[ 1 , 2 , 3 ]`, []int{0}, `[ 2 , 3 ]`},
		{`[ 1 , 2 , 3 ]`, []int{1}, `[ 1 , 3 ]`},
		{`[ 1 , 2 , 3 ]`, []int{2}, `[ 1 , 2 ]`},
		{`[1,2,3]`, []int{0, 1}, `[3]`},
		{`[1,2,3]`, []int{0, 2}, `[2]`},
		{`[1,2,3]`, []int{1, 2}, `[1]`},
		{`[1,2,3]`, []int{0, 1, 2}, `[]`},
		{`[1,2,3]`, nil, `[1,2,3]`},
	}
	for _, c := range elems {
		array, err := Parse([]byte(c.doc), 8)
		if err != nil {
			t.Fatal(err)
		}
		gone := map[int]bool{}
		for _, i := range c.gone {
			gone[i] = true
		}
		got := Splice([]byte(c.doc), RemoveElems(array, func(i int) bool { return gone[i] }))
		if string(got) != c.want {
			t.Errorf("%s without %v: got %s, want %s", c.doc, c.gone, got, c.want)
		}
		if len(c.gone) == 1 {
			if got := Splice([]byte(c.doc), []Patch{RemoveElem(array, c.gone[0])}); string(got) != c.want {
				t.Errorf("%s without %v: got %s, want %s", c.doc, c.gone, got, c.want)
			}
		}
	}
	const doc = `{ "a" : 1 , "b" : [2] , "c":3 }`
	object, _ := Parse([]byte(doc), 8)
	for name, want := range map[string]string{
		"a": `{ "b" : [2] , "c":3 }`, "b": `{ "a" : 1 , "c":3 }`, "c": `{ "a" : 1 , "b" : [2] }`,
	} {
		p, ok := RemoveMember(object, name)
		if got := Splice([]byte(doc), []Patch{p}); !ok || string(got) != want {
			t.Errorf("without %s: got %s, want %s", name, got, want)
		}
	}
	if _, ok := RemoveMember(object, "d"); ok {
		t.Error("removed what is not there")
	}
}

// fuzzDepth is small, so that the fuzzer reaches it.
const fuzzDepth = 16

// FuzzParse: what is accepted is valid JSON; what is valid and refused is ambiguous or too deep. Without an edit the bytes
// stay; with one, exactly that value changes.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{`{"a":[1.50,"x\u00e9",{"b":null}],"c":"\ud83d\ude00"}`, `"\ud800"`, `[1,]`, ` -0.1E+2 `, "\xff", `{"a":1,"a":2}`, `[[[[]]],{"":{}}]`} {
		f.Add([]byte(seed), uint16(1), "new\n\"text")
	}
	f.Fuzz(func(t *testing.T, doc []byte, n uint16, text string) {
		root, err := Parse(doc, fuzzDepth)
		if err != nil {
			if json.Valid(doc) && errors.Is(err, ErrSyntax) {
				t.Fatalf("refused valid JSON: %v", err)
			}
			return
		}
		if !json.Valid(doc) {
			t.Fatal("accepted what is not JSON")
		}
		if got := Splice(doc, nil); !bytes.Equal(got, doc) {
			t.Fatal("changed without an edit")
		}
		fuzzText(t, doc, root, int(n), text)
		fuzzRemove(t, doc, root, int(n))
	})
}

func fuzzText(t *testing.T, doc []byte, root Value, n int, text string) {
	var all []Value
	walk(root, func(v Value) {
		if v.Kind == String {
			all = append(all, v)
		}
	})
	if len(all) == 0 {
		return
	}
	v := all[n%len(all)]
	var std string
	if err := json.Unmarshal(v.Raw(doc), &std); err != nil || std != v.Text(doc) {
		t.Fatalf("%s is read as %q, by encoding/json as %q", v.Raw(doc), v.Text(doc), std)
	}
	got := Splice(doc, []Patch{{v.Start, v.End, Quote(text)}})
	again, err := Parse(got, fuzzDepth)
	if err != nil {
		t.Fatalf("%v: %s", err, got)
	}
	if !json.Valid(got) || !bytes.HasPrefix(got, doc[:v.Start]) || !bytes.HasSuffix(got, doc[v.End:]) {
		t.Fatalf("more than the value changed: %s", got)
	}
	var after []Value
	walk(again, func(v Value) {
		if v.Kind == String {
			after = append(after, v)
		}
	})
	for i := range all {
		want := all[i].Text(doc)
		if i == n%len(all) {
			want = string([]rune(text)) // invalid bytes become U+FFFD
		}
		if after[i].Text(got) != want {
			t.Fatalf("string %d is %q, want %q", i, after[i].Text(got), want)
		}
	}
}

func fuzzRemove(t *testing.T, doc []byte, root Value, n int) {
	switch {
	case root.Kind == Array && len(root.Elems) > 0:
		i := n % len(root.Elems)
		var before, after []json.RawMessage
		unmarshal(t, doc, &before)
		unmarshal(t, Splice(doc, []Patch{RemoveElem(root, i)}), &after)
		if want := append(before[:i:i], before[i+1:]...); len(after) != len(want) || len(want) > 0 && !reflect.DeepEqual(after, want) {
			t.Fatalf("without element %d: %s, want %s", i, after, want)
		}
	case root.Kind == Object && len(root.Members) > 0:
		name := root.Members[n%len(root.Members)].Key
		p, _ := RemoveMember(root, name)
		var before, after map[string]json.RawMessage
		unmarshal(t, doc, &before)
		unmarshal(t, Splice(doc, []Patch{p}), &after)
		if delete(before, name); !reflect.DeepEqual(after, before) {
			t.Fatalf("without member %q: %s, want %s", name, after, before)
		}
	}
}

func unmarshal(t *testing.T, doc []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(doc, into); err != nil {
		t.Fatalf("%v: %s", err, doc)
	}
}

// walk visits a value and what is in it, in document order.
func walk(v Value, visit func(Value)) {
	visit(v)
	for _, m := range v.Members {
		walk(m.Value, visit)
	}
	for _, e := range v.Elems {
		walk(e, visit)
	}
}

// Where a string ends, escapes or holds what it must not is seen at every place, whatever stands around it.
func TestPlain(t *testing.T) {
	for _, special := range []byte{'"', '\\', 0, 0x1f} {
		for _, filler := range []byte{'a', ' ', '!', '#', '[', ']', 0x7f, 0x80, 0xa2, 0xdc, 0xff} {
			for size := 1; size < 40; size++ {
				for at := 1; at <= size; at++ {
					doc := bytes.Repeat([]byte{filler}, size)
					if at < size {
						doc[at] = special
					}
					if n := plain(doc); n > at || n < at && n < size-7 {
						t.Fatalf("%#x among %#x at %d of %d: %d", special, filler, at, size, n)
					}
				}
			}
		}
	}
}
