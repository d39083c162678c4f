package audit_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse/internal/audit"
)

// The values are computed elsewhere, from the formulas in the documentation of Entry.
func TestSealVectors(t *testing.T) {
	e := audit.Seal(1, [32]byte{}, []byte(`{"id":"a"}`))
	if got, want := hex.EncodeToString(e.Hash[:]), "6dc26b56f048a44d8a11912121aa964835b47f175a30c505ab92b45fd13d5db7"; got != want {
		t.Errorf("hash %s, want %s", got, want)
	}
	if got, want := hex.EncodeToString(e.Leaf[:]), "ec68392ed592cdb2ff93d3f4fbe51e6f13f47328da185ed842d64c0bcb3f3778"; got != want {
		t.Errorf("leaf %s, want %s", got, want)
	}
	// The leaf of the empty record is the one that RFC 6962 implementations share as a test vector.
	e = audit.Seal(1, [32]byte{}, nil)
	if got, want := hex.EncodeToString(e.Leaf[:]), "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"; got != want {
		t.Errorf("leaf of nothing %s, want %s", got, want)
	}
}

// RFC 4231, test case 2.
func TestContentHMAC(t *testing.T) {
	want := "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
	if got := hex.EncodeToString(audit.ContentHMAC([]byte("Jefe"), "what do ya want for nothing?")); got != want {
		t.Errorf("got %s", got)
	}
}

func chain(records ...string) (list []audit.Entry, head audit.Head) {
	for _, r := range records {
		e := audit.Seal(head.Seq+1, head.Hash, []byte(r))
		list, head = append(list, e), head.Next(e)
	}
	return list, head
}

func seq(list []audit.Entry) iter.Seq2[audit.Entry, error] {
	return func(yield func(audit.Entry, error) bool) {
		for _, e := range list {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func TestVerify(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(list []audit.Entry, head *audit.Head) []audit.Entry
		want   string // what the error begins with; empty for none
	}{
		{"whole", func(l []audit.Entry, h *audit.Head) []audit.Entry { return l }, ""},
		{"edited", func(l []audit.Entry, h *audit.Head) []audit.Entry {
			l[1].Record = []byte(`{"id":"b","status":1}`)
			return l
		}, "record 2 (id b): the record was edited"},
		{"edited, with a leaf that fits", func(l []audit.Entry, h *audit.Head) []audit.Entry {
			hash := l[1].Hash
			l[1] = audit.Seal(2, l[0].Hash, []byte(`{"id":"b","status":1}`))
			l[1].Hash = hash
			return l
		}, "record 2 (id b): its hash does not fit"},
		{"edited, with hashes that fit", func(l []audit.Entry, h *audit.Head) []audit.Entry {
			l[1] = audit.Seal(2, l[0].Hash, []byte(`{"id":"b","status":1}`))
			return l
		}, "record 2 (id b): it was replaced"},
		{"the last edited, with hashes that fit", func(l []audit.Entry, h *audit.Head) []audit.Entry {
			l[3] = audit.Seal(4, l[2].Hash, []byte(`{"id":"d","status":1}`))
			return l
		}, "record 4 (id d): it is not the record that the head names"},
		{"not decodable", func(l []audit.Entry, h *audit.Head) []audit.Entry {
			l, *h = chain(`{"id":"a"}`, `{"id":`)
			return l
		}, "record 2 (id unknown): the record cannot be decoded"},
		{"missing", func(l []audit.Entry, h *audit.Head) []audit.Entry { return slices.Delete(l, 1, 3) },
			"record 2 (id unknown): missing: record 4 follows record 1"},
		{"swapped", func(l []audit.Entry, h *audit.Head) []audit.Entry { l[1], l[2] = l[2], l[1]; return l },
			"record 2 (id unknown): missing"},
		{"twice", func(l []audit.Entry, h *audit.Head) []audit.Entry { return slices.Insert(l, 2, l[1]) },
			"record 2 (id b): out of order"},
		{"cut", func(l []audit.Entry, h *audit.Head) []audit.Entry { return l[:2] },
			"record 3 (id unknown): missing: the head says 4 records, the chain ends at 2"},
		{"begins elsewhere", func(l []audit.Entry, h *audit.Head) []audit.Entry {
			l[0] = audit.Seal(1, [32]byte{1}, l[0].Record)
			return l
		}, "record 1 (id a): it does not follow record 0"},
		{"a wrong count", func(l []audit.Entry, h *audit.Head) []audit.Entry { h.Count++; return l }, "record 4 (id d)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			list, head := chain(`{"id":"a"}`, `{"id":"b"}`, `{"id":"c"}`, `{"id":"d"}`)
			list = c.change(list, &head)
			_, err := audit.Verify(seq(list), head)
			if c.want == "" && err == nil {
				return
			}
			if err == nil || c.want == "" || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

func TestExportKeepsBytes(t *testing.T) {
	// What a marshaller would write differently: escapes, spaces, order, numbers.
	records := []string{`{"id":"a","n":1.50,"x":"<&>\u003c\/é\u2028"}`, `{ "b" : 1e2, "id":"b" }`, `{"id":"c","n":12345678901234567890}`}
	list, head := chain(records...)
	var out bytes.Buffer
	if err := audit.WriteExport(&out, seq(list), head); err != nil {
		t.Fatal(err)
	}
	entries, end := audit.ReadExport(bytes.NewReader(out.Bytes()))
	n := 0
	for e, err := range entries {
		if err != nil {
			t.Fatal(err)
		}
		if string(e.Record) != records[n] || e.Hash != list[n].Hash {
			t.Errorf("record %d: %s", n, e.Record)
		}
		n++
	}
	if h, ok := end(); !ok || h != head || n != len(records) {
		t.Errorf("%d records, head %+v, %v", n, h, ok)
	}
	if r, err := audit.VerifyExport(&out); err != nil || r.Records != 3 || r.Head != head {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestVerifyExport(t *testing.T) {
	list, head := chain(`{"id":"a"}`, `{"id":"b"}`, `{"id":"c"}`)
	var out bytes.Buffer
	if err := audit.WriteExport(&out, seq(list), head); err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(strings.TrimSuffix(out.String(), "\n"), "\n")
	for _, c := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"the tail cut", []string{lines[0], lines[1], lines[3]}, "record 3 (id unknown): missing"},
		{"the tail cut with the head", []string{lines[0], lines[1]}, "record 3 (id unknown): the export has no head line"},
		{"nothing", nil, "record 1 (id unknown): the export has no head line"},
		{"cut in a line", []string{lines[0], lines[1][:40]}, "record 2 (id unknown): the line cannot be read"},
		{"a line missing", []string{lines[0], lines[2], lines[3]}, "record 2 (id unknown): missing"},
		{"lines swapped", []string{lines[1], lines[0], lines[2], lines[3]}, "record 1 (id unknown): missing"},
		{"a line behind the head", []string{lines[0], lines[1], lines[3] + "\n", lines[2]}, "record 3 (id unknown): the line stands behind the head"},
		{"an edited record", []string{lines[0], strings.Replace(lines[1], `"id":"b"`, `"id":"x"`, 1), lines[2], lines[3]}, "record 2 (id x): the record was edited"},
		{"an edited hash", []string{lines[0], strings.Replace(lines[1], `"hash":"`, `"hash":"00`, 1), lines[2], lines[3]}, "record 2 (id unknown): the line cannot be read: hash is not a hash"},
		{"no record", []string{`{"seq":1}`}, "record 1 (id unknown): the line cannot be read: there is no record in it"},
		{"a second record member", []string{strings.Replace(lines[0], `"record"`, `"record":{},"record"`, 1)}, "record 1 (id unknown): the line cannot be read: duplicate key"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := audit.VerifyExport(strings.NewReader(strings.Join(c.lines, "")))
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
			var broken *audit.Broken
			if !errors.As(err, &broken) {
				t.Errorf("%T is not a Broken", err)
			}
		})
	}
}

func TestWriteExportRefusesWhatIsNoLine(t *testing.T) {
	for _, record := range []string{"{\n}", `{`, `{"id":"a"}}`} {
		list, head := chain(record)
		if err := audit.WriteExport(&bytes.Buffer{}, seq(list), head); err == nil {
			t.Errorf("%q was exported", record)
		}
	}
}

// FuzzReadExport: whatever verifies is written again as records that verify, with the same head.
func FuzzReadExport(f *testing.F) {
	list, head := chain(`{"id":"a"}`, `{"id":"b","t":"<"}`)
	var out bytes.Buffer
	if err := audit.WriteExport(&out, seq(list), head); err != nil {
		f.Fatal(err)
	}
	f.Add(out.Bytes())
	f.Fuzz(func(t *testing.T, raw []byte) {
		report, err := audit.VerifyExport(bytes.NewReader(raw))
		if err != nil {
			return
		}
		entries, end := audit.ReadExport(bytes.NewReader(raw))
		var list []audit.Entry
		for e, err := range entries {
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, e)
		}
		h, _ := end()
		var again bytes.Buffer
		if err := audit.WriteExport(&again, seq(list), h); err != nil {
			t.Fatal(err)
		}
		if r, err := audit.VerifyExport(&again); err != nil || r != report {
			t.Fatalf("%+v, %v, want %+v", r, err, report)
		}
	})
}
