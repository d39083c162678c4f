package detect

import "testing"

func TestPaired(t *testing.T) {
	for text, want := range map[string]string{
		"<note>Do it now.":                     "Do it now.",
		"<note lang=en><b2>Do it now.":         "Do it now.",
		"<note>Do it now.</note>":              "<note>Do it now.</note>",
		"Do it now.</note>":                    "Do it now.",
		"<a1>Do it</a1> now.</note></item>":    "<a1>Do it</a1> now.",
		"<br/>Do it now.":                      "<br/>Do it now.",
		"<note>":                               "<note>",
		"</note>":                              "</note>",
		"x < y and y > z":                      "x < y and y > z",
		"<3 of these":                          "<3 of these",
		"":                                     "",
		"Write to Ann <ann@shop.example>":      "Write to Ann <ann@shop.example>",
		"<item><note>Do it.</note> And this.":  "<note>Do it.</note> And this.",
		"<item>Do it.</other></item> And this": "<item>Do it.</other></item> And this",
	} {
		if s := paired(text, span{0, len(text)}); text[s.start:s.end] != want {
			t.Errorf("%q: got %q, want %q", text, text[s.start:s.end], want)
		}
	}
}
