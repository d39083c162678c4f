package session

import (
	"context"
	"slices"
	"time"
)

const (
	// MaxPieces bounds the pieces of each source that a session keeps, and as many suspicious ones that are older.
	MaxPieces = 5
	// MaxPiece is the longest text that is kept as a piece, in bytes: parts of a payload are short.
	MaxPiece = 400
	// MaxCounted is how many texts a session remembers to have counted.
	MaxCounted = 64
	// PieceAge is how long pieces are kept after their session has last added to its suspicion.
	PieceAge = SaidAge
)

const (
	// fade is what remains of a level with each further text of the user's: half of it after four.
	fade = 0.85
	// pressedWithin is the least that remains of a text that presses the model after five more.
	pressedWithin = 0.44
	// raisedFrom and highFrom are the levels from which on a session is suspicious, and very much so.
	raisedFrom, highFrom = 2.0, 4.0
	// SuspiciousFrom is the injection score from which on a text may be a part of an attack: one in twenty benign texts has it, and
	// two in three of the messages of an attack that comes in many.
	SuspiciousFrom = 0.10
)

const (
	// tight and tighter are the shares of the thresholds that are left: of the defaults 0.45, 0.60 and 0.71, then 0.36, 0.48 and 0.57.
	tight, tighter = 0.75, 0.60
)

// Evidence is what one new text of a session says of an attack that comes a little at a time.
type Evidence struct {
	Text     uint64  // of its keyed hash: each text counts once
	Source   string  // user, tool_result
	Score    float64 // its injection score, 0..1
	Pressing bool    // it speaks to the model of what limits it
	Open     bool    // it does not end, or gives a part of something by name, so that another text may go on with it
	Caught   bool    // something was done about it, so that the model has not read it as it was
	Sealed   []byte  // the text, when it is short enough to be kept
}

// Piece is a short text of a session that may be part of an attack.
type Piece struct {
	Source   string  `json:"source"`
	Score    float64 `json:"score"`
	Pressing bool    `json:"pressing,omitempty"`
	Open     bool    `json:"open,omitempty"`
	Sealed   []byte  `json:"sealed"`
}

func (p *Piece) suspicious() bool { return p.Pressing || p.Score >= SuspiciousFrom }

// Suspicion is what the texts of a session add up to. The zero value is that of a session that was told nothing.
type Suspicion struct {
	Level   float64  `json:"level"`   // the evidence, faded
	Pressed float64  `json:"pressed"` // the texts that pressed the model, faded
	Counted []uint64 `json:"counted,omitempty"`
	Pieces  []Piece  `json:"-"` // the oldest first
}

// Suspicions keeps them.
type Suspicions interface {
	// Suspicion is what the exchanges of a session that have ended have added up to. Like Anchors it is asked after DecidedTexts.
	Suspicion(ctx context.Context, agentID, session string) (Suspicion, error)
}

// weight is how much more likely a score is for a message of an attack that comes in many than for a benign text: the natural
// logarithm, rounded, as train/conversations had it.
func (e *Evidence) weight() float64 {
	switch {
	case e.Score < 0.05:
		return -0.6
	case e.Score < 0.10:
		return -0.3
	case e.Score < 0.15:
		return 0.25
	case e.Score < 0.22:
		return 0.9
	case e.Score < 0.30:
		return 1.5
	case e.Score < 0.45:
		return 1.8
	}
	return 2.4
}

const (
	// plain is the share of the weight of a text that does not press the model: what sounds like an order there is mostly meant for a program.
	plain = 0.6
	// pressing and faintlyPressing are what a text adds that does, suspicious by itself or not.
	pressing, faintlyPressing = 0.9, 0.4
	// most is the most that one text adds.
	most = 2.0
)

// Adds is how much a text adds to the level; what is 0 or less lets it sink.
func (e *Evidence) Adds() float64 {
	w := e.weight()
	switch {
	case e.Pressing && e.Score >= SuspiciousFrom:
		w += pressing
	case e.Pressing:
		w = faintlyPressing
	case w > 0:
		w *= plain
	}
	return min(w, most)
}

// inert reports whether a text leaves a session alone that is not suspicious.
func (e *Evidence) inert() bool { return e.Adds() <= 0 && (e.Sealed == nil || e.Caught || !e.keeps()) }

// keeps reports whether a text may be part of something that another text completes.
func (e *Evidence) keeps() bool { return e.Open || e.Pressing || e.Score >= SuspiciousFrom }

// Inert reports whether a session that was told nothing yet need not remember any of some texts.
func Inert(list []Evidence) bool {
	return !slices.ContainsFunc(list, func(e Evidence) bool { return !e.inert() })
}

// Add counts a text, once. Of tools' results only those that were caught count: an agent reads many, and they fade nothing.
func (s *Suspicion) Add(e Evidence) {
	if slices.Contains(s.Counted, e.Text) {
		return
	}
	w := e.Adds()
	if e.Source == "user" || e.Caught {
		s.Level = max(0, s.Level*fade+w)
		s.Pressed *= fade
		if e.Pressing && e.Score >= SuspiciousFrom {
			s.Pressed++
		}
	}
	if e.inert() {
		return
	}
	s.Counted = append(s.Counted, e.Text)
	s.Counted = s.Counted[max(0, len(s.Counted)-MaxCounted):]
	if e.Sealed == nil || e.Caught || !e.keeps() {
		return
	}
	s.Pieces = append(s.Pieces, Piece{e.Source, e.Score, e.Pressing, e.Open, e.Sealed})
	s.trim()
}

// trim drops, of each source, pieces that are old, and of old ones those first that are not suspicious.
func (s *Suspicion) trim() {
	kept := make([]Piece, 0, len(s.Pieces))
	newest, older := map[string]int{}, map[string]int{}
	for i := len(s.Pieces) - 1; i >= 0; i-- {
		p := s.Pieces[i]
		switch {
		case newest[p.Source] < MaxPieces:
			newest[p.Source]++
		case p.suspicious() && older[p.Source] < MaxPieces:
			older[p.Source]++
		default:
			continue
		}
		kept = append(kept, p)
	}
	slices.Reverse(kept)
	s.Pieces = kept
}

// Tightness is the share of the thresholds that is left for new texts: 1 in a session that is not suspicious. One is whose texts add up,
// and one of whose last has pressed the model.
func (s *Suspicion) Tightness() float64 {
	switch {
	case s.Level < raisedFrom || s.Pressed < pressedWithin:
		return 1
	case s.Level < highFrom:
		return tight
	}
	return tighter
}

// Suspicious are the newest pieces of the user's that may belong to an attack, the oldest first.
func (s *Suspicion) Suspicious(most int) []Piece {
	return s.pick("user", most, (*Piece).suspicious)
}

// Open are the newest pieces of a source that another text may go on with, the oldest first.
func (s *Suspicion) Open(source string, most int) []Piece {
	return s.pick(source, most, func(p *Piece) bool { return p.Open })
}

func (s *Suspicion) pick(source string, most int, which func(*Piece) bool) []Piece {
	var out []Piece
	for i := len(s.Pieces) - 1; i >= 0 && len(out) < most; i-- {
		if p := &s.Pieces[i]; p.Source == source && which(p) {
			out = append(out, *p)
		}
	}
	slices.Reverse(out)
	return out
}

// Stale is the time before which pieces are dropped.
func Stale(now time.Time) time.Time { return now.Add(-PieceAge) }
