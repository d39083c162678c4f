package checkpoint

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/audit"
)

// content stands for the texts of an exchange in its record. What is replayed makes one entry for each run, so that a record
// grows with what is new and not with the conversation.
func (e *Engine) content(x *gatehouse.Exchange, key []byte) (list []audit.ContentHash) {
	run := make([]byte, 0, sha256.Size*len(x.Request)) // HMACs of the parts of the last entry
	for _, parts := range [2][]gatehouse.Part{x.Request, x.Response} {
		for i := range parts {
			p := &parts[i]
			if p.Inserted || p.Kind == gatehouse.Opaque {
				continue
			}
			mac := e.contentHMAC(x, p, key)
			if n := len(list) - 1; n >= 0 && p.Replayed && list[n].Replayed && list[n].Latest == p.Latest && list[n].Part+max(list[n].Parts, 1) == p.ID {
				c := &list[n]
				c.Kind, c.Path, c.Parts, c.Bytes = "", "", max(c.Parts, 1)+1, c.Bytes+len(p.Original())
				run = append(run, mac...)
				continue
			}
			settle(list, run, key)
			list = append(list, audit.ContentHash{Part: p.ID, Kind: p.Kind, Path: p.Path, Bytes: len(p.Original()), Latest: p.Latest, Replayed: p.Replayed})
			run = append(run[:0], mac...)
		}
	}
	settle(list, run, key)
	return list
}

// settle writes the hash of the last entry, which is complete: of one part its own, of several that of theirs.
func settle(list []audit.ContentHash, run, key []byte) {
	if len(list) == 0 {
		return
	}
	c := &list[len(list)-1]
	if c.Parts > 1 {
		run = audit.ContentHMAC(key, string(run))
	}
	c.HMAC = hex.EncodeToString(run)
}

// contentHMAC stands for one text. That of a text that comes again and again is remembered with what was decided on it.
func (e *Engine) contentHMAC(x *gatehouse.Exchange, p *gatehouse.Part, key []byte) []byte {
	m := memoOf(p)
	if m.decided != nil && m.decided.hmac != nil {
		return m.decided.hmac
	}
	mac := audit.ContentHMAC(key, p.Original())
	if m.decided != nil {
		e.remember(x, m.key, &decision{edits: m.decided.edits, hmac: mac})
	}
	return mac
}

// abridged is coverage with one entry for each run of parts that are replayed.
func abridged(list []gatehouse.Coverage) []gatehouse.Coverage {
	var out []gatehouse.Coverage
	for _, c := range list {
		n := len(out) - 1
		if n < 0 || c.Skipped != "replayed" || out[n].Skipped != c.Skipped || out[n].Part+max(out[n].Parts, 1) != c.Part {
			out = append(out, c)
			continue
		}
		o := &out[n]
		o.Kind, o.Path, o.Parts, o.Bytes = "", "", max(o.Parts, 1)+1, o.Bytes+c.Bytes
	}
	return out
}
