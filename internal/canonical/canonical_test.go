package canonical_test

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"testing"

	"github.com/gatehouse-gateway/gatehouse/internal/canonical"
)

func TestJSON(t *testing.T) {
	cases := []struct{ desc, in, want string }{
		{"spacing goes", " { \"a\" : [ 1 , 2 ] } ", `{"a":[1,2]}`},
		{"names are sorted", `{"b":1,"a":2}`, `{"a":2,"b":1}`},
		{"names are sorted as UTF-16", "{\"\ufb33\":1,\"\U0001f600\":2,\"\u20ac\":3,\"\\r\":4,\"1\":5,\"\u0080\":6,\"\u00f6\":7}",
			"{\"\\r\":4,\"1\":5,\"\u0080\":6,\"\u00f6\":7,\"\u20ac\":3,\"\U0001f600\":2,\"\ufb33\":1}"},
		{"escapes are undone", `"\u0041\/\u00e9"`, `"A/é"`},
		{"control characters are escaped", `"\u0000\b\t\n\u000b\f\r\u001f\u007f\"\\"`, "\"\\u0000\\b\\t\\n\\u000b\\f\\r\\u001f\u007f\\\"\\\\\""},
		{"HTML is not escaped", `"<&>"`, `"<&>"`},
		{"literals", `[true,false,null]`, `[true,false,null]`},
		{"trailing zeros", `[1.50,1.0,100,0.10]`, `[1.5,1,100,0.1]`},
		{"exponents", `[1e2,1E+2,1e-7,12e-8,1.5e3,1e21,1e22]`, `[100,100,1e-7,1.2e-7,1500,1e+21,1e+22]`},
		{"zeros", `[0,-0,0.0,-0.000e5]`, `[0,0,0,0]`},
		{"twenty digits stay", `[12345678901234567890,12345678901234567891]`, `[12345678901234567890,12345678901234567891]`},
		{"more digits than a double", `0.1234567890123456789`, `0.1234567890123456789`},
		{"larger than a double", `1e400`, `1e+400`},
		{"small", `[0.000001,0.0000001]`, `[0.000001,1e-7]`},
	}
	for _, c := range cases {
		t.Run(c.desc, func(t *testing.T) {
			got, err := canonical.JSON([]byte(c.in), 8)
			if err != nil || string(got) != c.want {
				t.Errorf("got %s, %v; want %s", got, err, c.want)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	for _, in := range []string{``, `{`, `{"a":1,"a":1}`, `{"a":1}x`, `01`, "\"\xff\"", `[[[[[[[[[1]]]]]]]]]`} {
		if got, err := canonical.JSON([]byte(in), 8); err == nil {
			t.Errorf("%q became %s", in, got)
		}
	}
	if _, err := canonical.JSON([]byte(`1e9999999999`), 8); !errors.Is(err, canonical.ErrNumber) {
		t.Errorf("a huge exponent: %v", err)
	}
}

// FuzzNumber: for a number that a double holds exactly, the bytes are those of ECMAScript.
func FuzzNumber(f *testing.F) {
	for _, n := range []float64{0, 1, 1.5, 1e21, 1e-7, 123456789, -0.000001, 5e-324, math.MaxFloat64} {
		f.Add(n)
	}
	f.Fuzz(func(t *testing.T, n float64) {
		if math.IsNaN(n) || math.IsInf(n, 0) {
			return
		}
		want, err := json.Marshal(n) // ES6's notation, but for two-digit exponents, which encoding/json shortens, too
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			want = []byte("0")
		}
		got, err := canonical.JSON([]byte(strconv.FormatFloat(n, 'e', -1, 64)), 1)
		if err != nil || string(got) != string(want) {
			t.Errorf("%v became %s, %v; want %s", n, got, err, want)
		}
	})
}

// FuzzJSON: the form of a form is itself, and it means the same.
func FuzzJSON(f *testing.F) {
	f.Add([]byte(`{"b":[1.50,"\u00e9"],"a":null}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		form, err := canonical.JSON(doc, 32)
		if err != nil {
			return
		}
		again, err := canonical.JSON(form, 32)
		if err != nil || string(again) != string(form) {
			t.Errorf("%q became %q and then %q, %v", doc, form, again, err)
		}
	})
}
