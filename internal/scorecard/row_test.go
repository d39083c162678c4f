package scorecard

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func written(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func rowsOf(t *testing.T, name string, lines ...string) []Row {
	t.Helper()
	var rows []Row
	if err := Read(written(t, name, strings.Join(lines, "\n")), func(r Row) { rows = append(rows, r) }); err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestRowsThatCannotBeRead(t *testing.T) {
	for name, c := range map[string]struct{ row, want string }{
		"not JSON":         {`{marker`, "not a JSON object"},
		"a list":           {`["marker"]`, "not a JSON object"},
		"no text":          {`{"label":1}`, "text is missing"},
		"no label":         {`{"text":"marker"}`, "label is neither"},
		"another label":    {`{"text":"marker","label":2}`, "label is neither"},
		"label in words":   {`{"text":"marker","label":"marker"}`, "label is of the wrong type"},
		"another kind":     {`{"text":"marker","label":0,"kind":"output"}`, "kind is neither"},
		"text is a number": {`{"text":5,"label":0}`, "text is of the wrong type"},
		"spans as words":   {`{"text":"marker","label":1,"spans":"all"}`, "spans is no list"},
		"half a span":      {`{"text":"marker","label":1,"spans":[{"start":1}]}`, "spans is no list"},
		"span outside":     {`{"text":"é","label":1,"spans":[[0,2]]}`, "spans is no list"},
		"span backwards":   {`{"text":"marker","label":1,"spans":[[3,1]]}`, "spans is no list"},
	} {
		path := written(t, "rows.jsonl", `{"text":"fine","label":0}`+"\n\n"+c.row+"\n")
		n := 0
		err := Read(path, func(Row) { n++ })
		if err == nil || !strings.Contains(err.Error(), path+": line 3: ") || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "marker") || n != 1 {
			t.Errorf("%s: got %v after %d rows", name, err, n)
		}
	}
	long := written(t, "long.jsonl", `{"text":"fine","label":0}`+"\n"+strings.Repeat("x", maxRow+1))
	if err := Read(long, func(Row) {}); err == nil || !strings.HasSuffix(err.Error(), "line 2: longer than 32 MiB") {
		t.Errorf("a long row: %v", err)
	}
	if err := Read("no-such-file", func(Row) {}); err == nil {
		t.Error("a file that is not there is read")
	}
}

func TestFieldsByTheirOtherNames(t *testing.T) {
	r := rowsOf(t, "some.jsonl", `{"id":7,"text":"a b","label":1,"kind":"tool_result","tool":"fetch","source":"s","lang":"de","attack_type":"f","container":"json","injected_goal":"b","unknown":[]}`)[0]
	want := Row{Attack: true, Set: "some", Source: "s", Lang: "de", Family: "f", Carrier: "json", Payload: []Span{{2, 3}}}
	want.Text.Channel, want.Text.Tool, want.Text.Text = "tool_result", "fetch", "a b"
	if !reflect.DeepEqual(r, want) {
		t.Errorf("got %+v\nwant %+v", r, want)
	}
	if r := rowsOf(t, "some.jsonl", `{"text":"","label":0}`)[0]; r.Text.Channel != "input" || r.Hard {
		t.Errorf("got %+v", r)
	}
}

func TestHard(t *testing.T) {
	for row, want := range map[string]bool{
		`{"text":"","label":0}`:                                 false,
		`{"text":"","label":0,"hard":true}`:                     true,
		`{"text":"","label":1,"hard":true}`:                     false,
		`{"text":"","label":0,"family":"Hard-Negative mail"}`:   true,
		`{"text":"","label":0,"source":"own trigger sentence"}`: true,
		`{"text":"","label":0,"attack_type":"over-defence"}`:    true,
		`{"text":"","label":0,"family":"mail","twin_of":"a"}`:   true,
		`{"text":"","label":0,"family":"mail","twin_of":null}`:  false,
		`{"text":"","label":0,"hard":false,"twin_of":"a"}`:      false,
		`{"text":"","label":0,"family":"hardware"}`:             false,
	} {
		if got := rowsOf(t, "rows.jsonl", row)[0].Hard; got != want {
			t.Errorf("%s: got %v", row, got)
		}
	}
	if !rowsOf(t, "look-alikes.jsonl", `{"text":"","label":0}`)[0].Hard {
		t.Error("the name of the file is not looked at")
	}
}

func TestPayloadsAreLocated(t *testing.T) {
	for name, c := range map[string]struct{ row, want string }{
		"as it is":              {`{"text":"say x, then x","payload":"x","label":1}`, "x|x"},
		"as JSON":               {`{"text":"{\"k\":\"a \\\"b\\\"\"}","payload":"a \"b\"","label":1}`, `a \"b\"`},
		"as ASCII JSON":         {`{"text":"[\"\\u00e9\\ud83d\\ude00\"]","payload":"é😀","label":1}`, `\u00e9\ud83d\ude00`},
		"as HTML":               {`{"text":"<p>a &lt; b</p>","payload":"a < b","label":1}`, "a &lt; b"},
		"in one line":           {`{"text":"// a  b","payload":"a\n\nb","label":1}`, "a  b"},
		"with quotes by name":   {`{"text":"<p>&quot;a&#x27; &lt;</p>","payload":"\"a' <","label":1}`, "&quot;a&#x27; &lt;"},
		"as an attribute":       {`{"text":"<i alt=\"a<b &quot;\">","payload":"a<b \"","label":1}`, "a<b &quot;"},
		"spans go first":        {`{"text":"é payload é","payload":"é","spans":[[2,5],[5,9]],"label":1}`, "payload"},
		"spans with names":      {`{"text":"éab","spans":[{"start":2,"end":3,"type":"x"},{"start":0,"end":1}],"label":1}`, "é|b"},
		"an empty list":         {`{"text":"ab","spans":[],"payload":"b","label":1}`, "b"},
		"benign rows have none": {`{"text":"ab","spans":[[0,1]],"label":0}`, ""},
	} {
		r := rowsOf(t, "rows.jsonl", c.row)[0]
		var got []string
		for _, s := range r.Payload {
			got = append(got, r.Text.Text[s.Start:s.End])
		}
		if strings.Join(got, "|") != c.want || r.Lost {
			t.Errorf("%s: got %q, lost %v, want %q", name, got, r.Lost, c.want)
		}
	}
	if r := rowsOf(t, "rows.jsonl", `{"text":"YWJj","payload":"abc","label":1}`)[0]; !r.Lost || r.Payload != nil {
		t.Errorf("an encoded payload is found: %+v", r)
	}
}

func TestSample(t *testing.T) {
	draw := func(limit int, seed uint64) (kept []string) {
		s := Sample{Limit: limit, Seed: seed}
		for i := range 1000 {
			s.Add(Row{Set: string(rune('a' + i%26)), Source: strings.Repeat("x", i)})
		}
		for _, r := range s.Rows() {
			kept = append(kept, r.Source)
		}
		return kept
	}
	one, again, other := draw(50, 1), draw(50, 1), draw(50, 2)
	if len(one) != 50 || !reflect.DeepEqual(one, again) || reflect.DeepEqual(one, other) {
		t.Errorf("samples of %d, %d and %d rows", len(one), len(again), len(other))
	}
	for i := 1; i < len(one); i++ {
		if len(one[i]) <= len(one[i-1]) {
			t.Fatal("the rows are not in order")
		}
	}
	if len(one[49]) < 800 || len(one[0]) > 200 || len(one[25]) < 250 || len(one[25]) > 750 {
		t.Error("the sample is not from all rows alike")
	}
	if got := draw(0, 1); len(got) != 1000 {
		t.Errorf("without a limit %d rows are kept", len(got))
	}
}
