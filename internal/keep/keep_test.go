package keep

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
)

func key(n int) (k Key) {
	binary.BigEndian.PutUint64(k[:], uint64(n))
	return k
}

func TestFindsWhatWasKept(t *testing.T) {
	m := New[string](1 << 20)
	o := Owner{"p", "a"}
	m.Put(o, key(1), "one", 3)
	m.Put(o, key(1), "another", 7)
	if v, ok := m.Get(key(1)); !ok || v != "another" {
		t.Errorf("got %q, %v", v, ok)
	}
	if _, ok := m.Get(key(2)); ok {
		t.Error("found what nobody kept")
	}
	m.Drop(key(1))
	if _, ok := m.Get(key(1)); ok {
		t.Error("found what was dropped")
	}
	if s := m.Stats(); s.Bytes != 0 || s.Values != 0 {
		t.Errorf("an empty memory holds %+v", s)
	}
}

func TestForgetsWhatWasNotUsedForLongest(t *testing.T) {
	m := New[int](ownerSize + 20*(entrySize+2))
	for i := range 20 {
		m.Put(Owner{"p", "a"}, key(i), i, 0)
	}
	m.Get(key(0))
	m.Put(Owner{"p", "a"}, key(20), 20, 0)
	if _, ok := m.Get(key(0)); !ok {
		t.Error("what was used just now is gone")
	}
	if _, ok := m.Get(key(1)); ok {
		t.Error("what was not used for longest is still there")
	}
	if s := m.Stats(); s.Evicted != 1 {
		t.Errorf("%d evicted", s.Evicted)
	}
}

// A flood is bounded, and what others have stays, however many names the flood goes by.
func TestFlood(t *testing.T) {
	const limit, flood, mine = 1 << 20, 100_000, 500
	cases := []struct {
		desc  string
		owner func(i int) Owner
	}{
		{"of one agent", func(int) Owner { return Owner{"bad", "bad"} }},
		{"of one credential with many names", func(i int) Owner { return Owner{"bad", fmt.Sprint(i)} }},
		{"of a few names", func(i int) Owner { return Owner{"bad", fmt.Sprint(i % 7)} }},
		{"of a member of the same party", func(int) Owner { return Owner{"good", "bad"} }},
	}
	for _, c := range cases {
		t.Run(c.desc, func(t *testing.T) {
			m := New[int](limit)
			for i := range mine {
				m.Put(Owner{"good", "good"}, key(i), i, 100)
			}
			for i := range flood {
				m.Put(c.owner(i), key(1e6+i), i, 100)
				if s := m.Stats(); i%97 == 0 && s.Bytes > limit {
					t.Fatalf("%d bytes after %d values", s.Bytes, i)
				}
			}
			lost := 0
			for i := range mine {
				if _, ok := m.Get(key(i)); !ok {
					lost++
				}
			}
			if lost > 0 {
				t.Errorf("%d of %d values are gone", lost, mine)
			}
		})
	}
}

func TestLimits(t *testing.T) {
	m := New[int](1 << 16)
	m.Put(Owner{"p", "a"}, key(1), 1, 1<<16/largest)
	if _, ok := m.Get(key(1)); ok {
		t.Error("one value may have more than its share")
	}
	for i := range 100 {
		m.Put(Owner{"p", "a"}, key(i), i, 0)
	}
	m.Limit(1 << 13)
	if s := m.Stats(); s.Bytes > 1<<13 || s.Values == 0 {
		t.Errorf("after a lower limit: %+v", s)
	}
	m.Limit(0)
	m.Put(Owner{"p", "a"}, key(1), 1, 0)
	if s := m.Stats(); s.Bytes != 0 || s.Values != 0 {
		t.Errorf("without any room: %+v", s)
	}
}

// Whatever is done, the books are right.
func TestBooksBalance(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	m := New[int](1 << 15)
	for range 20_000 {
		k := key(r.IntN(300))
		switch r.IntN(4) {
		case 0:
			m.Drop(k)
		case 1:
			m.Get(k)
		default:
			m.Put(Owner{fmt.Sprint(r.IntN(4)), fmt.Sprint(r.IntN(5))}, k, 0, r.IntN(500))
		}
		m.check(t)
	}
}

// check adds everything up.
func (m *Memory[V]) check(t *testing.T) {
	t.Helper()
	total, values := 0, 0
	for i, p := range m.crowd.all {
		if p.at != i || m.parties[p.name] != p || i > 0 && m.crowd.all[(i-1)/2].used < p.used {
			t.Fatal("a party is out of its place")
		}
		of := 0
		for j, one := range p.crowd.all {
			if one.at != j || p.members[one.name] != one || j > 0 && p.crowd.all[(j-1)/2].used < one.used {
				t.Fatal("a member is out of its place")
			}
			size := ownerSize
			for e := one.newest; e != nil; e = e.older {
				if m.entries[e.key] != e || e.of != one || e.older == nil && one.oldest != e {
					t.Fatal("a value is out of its list")
				}
				size += e.size
				values++
			}
			if size != one.used {
				t.Fatalf("a member has %d bytes, and says %d", size, one.used)
			}
			of += size
		}
		if of != p.used || len(p.members) != len(p.crowd.all) {
			t.Fatalf("a party has %d bytes, and says %d", of, p.used)
		}
		total += of
	}
	if total != m.used || total > m.limit || values != len(m.entries) {
		t.Fatalf("%d bytes of %d values, and it says %d of %d", total, values, m.used, len(m.entries))
	}
}

func TestManyAtOnce(t *testing.T) {
	m := New[int](1 << 14)
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for i := range 2000 {
				m.Put(Owner{"p", fmt.Sprint(g % 3)}, key(i*g%97), i, 10)
				m.Get(key(i % 97))
				m.Stats()
			}
		})
	}
	all.Wait()
	m.check(t)
}

func BenchmarkGet(b *testing.B) {
	m := New[int](1 << 24)
	for i := range 10_000 {
		m.Put(Owner{"p", "a"}, key(i), i, 0)
	}
	b.RunParallel(func(pb *testing.PB) {
		for i := 0; pb.Next(); i++ {
			m.Get(key(i % 10_000))
		}
	})
}
