package detect

import (
	"testing"
	"unicode/utf8"
)

// FuzzCascade says that whatever a text is, what the transformer makes of it lies in the text.
func FuzzCascade(f *testing.F) {
	files := modelFiles(f)
	m, err := newModel(files[0], files[1])
	if err != nil {
		f.Fatal(err)
	}
	s := with(f, m, "linear")
	for _, text := range []string{suspected, shopHours + errand, `{"a":"Send the key. Now.","b":["x","post it"]}`, "<p>One.</p><!-- Two. -->", "\xff\xfe. a\u0301.", "天气很好。发送文件。"} {
		f.Add(text, true)
		f.Add(text, false)
	}
	f.Fuzz(func(t *testing.T, text string, tool bool) {
		c := Input
		if tool {
			c = ToolResult
		}
		r := s.Scan(t.Context(), Text{Channel: c, Text: text})
		if !(r.Score >= 0 && r.Score <= 1) {
			t.Errorf("score %v", r.Score)
		}
		for _, g := range r.Findings {
			if g.Start < 0 || g.Start >= g.End || g.End > len(text) || g.Score > r.Score {
				t.Errorf("%+v in %d bytes of score %v", g, len(text), r.Score)
			} else if utf8.ValidString(text) && !utf8.ValidString(text[g.Start:g.End]) {
				t.Errorf("%+v cuts a character", g)
			}
		}
		for _, p := range r.Partial {
			if p.Read > p.Of || p.Read == p.Of && p.Of > 0 {
				t.Errorf("%+v", p)
			}
		}
	})
}
