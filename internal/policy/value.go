package policy

import (
	"strconv"
	"strings"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"github.com/gatehouse-gateway/gatehouse/internal/rawjson"
)

// celValue is a JSON value as conditions see it.
func celValue(doc []byte, v rawjson.Value) ref.Val {
	switch v.Kind {
	case rawjson.Bool:
		return types.Bool(v.IsTrue(doc))
	case rawjson.Number:
		return celNumber(string(v.Raw(doc)))
	case rawjson.String:
		return types.String(v.Text(doc))
	case rawjson.Array:
		out := make([]ref.Val, len(v.Elems))
		for i, e := range v.Elems {
			out[i] = celValue(doc, e)
		}
		return types.NewRefValList(types.DefaultTypeAdapter, out)
	case rawjson.Object:
		out := make(map[string]any, len(v.Members))
		for _, m := range v.Members {
			out[m.Key] = celValue(doc, m.Value)
		}
		return types.NewStringInterfaceMap(types.DefaultTypeAdapter, out)
	}
	return types.NullValue
}

// celNumber keeps every digit: a number without fraction and exponent is an int, or a uint when it is too large for that;
// any other is a double, when the double is written with the same digits. What fits none of them is the text as it stands,
// so that two account numbers of twenty digits never become one, and a comparison of it with a number fails.
func celNumber(text string) ref.Val {
	if !strings.ContainsAny(text, ".eE") {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return types.Int(n)
		}
		if n, err := strconv.ParseUint(text, 10, 64); err == nil {
			return types.Uint(n)
		}
		return types.String(text)
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || !sameDecimal(text, strconv.FormatFloat(f, 'e', -1, 64)) {
		return types.String(text)
	}
	return types.Double(f)
}

// sameDecimal reports whether two JSON numbers are the same number.
func sameDecimal(a, b string) bool {
	aDigits, aExp, aOK := decimal(a)
	bDigits, bExp, bOK := decimal(b)
	return aOK && bOK && aDigits == bDigits && aExp == bExp
}

// decimal is a JSON number as its digits, without zeros at either end, and the power of ten of the last one. A zero has
// neither. It does not follow an exponent beyond 32 bits.
func decimal(number string) (digits string, exponent int64, ok bool) {
	mantissa, power, _ := strings.Cut(strings.ToLower(number), "e")
	if power != "" {
		n, err := strconv.ParseInt(power, 10, 32)
		if err != nil {
			return "", 0, false
		}
		exponent = n
	}
	mantissa, negative := strings.CutPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	exponent -= int64(len(fraction))
	all := strings.TrimLeft(whole+fraction, "0")
	digits = strings.TrimRight(all, "0")
	exponent += int64(len(all) - len(digits))
	if digits == "" {
		return "", 0, true
	}
	if negative {
		digits = "-" + digits
	}
	return digits, exponent, true
}
