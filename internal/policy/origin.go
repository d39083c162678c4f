package policy

import (
	"encoding/json"
	"strconv"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

// maxTraced bounds how many values are looked at for the origins of one judgement, so that lists within loops end.
const maxTraced = 50_000

// unknownConversation is why nobody can say where a value came from.
const unknownConversation = "the conversation is not known here"

func (s *scene) origin(_ string, args ...ref.Val) ref.Val {
	o, err := s.trace(args[0])
	if err != nil {
		return err
	}
	return types.String(o.Source)
}

func (s *scene) originTool(_ string, args ...ref.Val) ref.Val {
	o, err := s.trace(args[0])
	if err != nil {
		return err
	}
	return types.String(o.Tool)
}

// trace says where a value came from. A list or an object came from where its least trusted value did: one recipient out
// of a web page is enough. Names of members, true, false and null say nothing; what holds nothing else is the model's.
func (s *scene) trace(v ref.Val) (Origin, ref.Val) {
	worst := Origin{}
	if s.call.Origin == nil {
		return worst, types.NewErr(unknownConversation)
	}
	s.traceInto(&worst, v)
	switch {
	case s.traced > maxTraced:
		return worst, types.NewErr(tooMuchWork)
	case worst.Source == "":
		worst.Source = Model
	}
	return worst, nil
}

func (s *scene) traceInto(worst *Origin, v ref.Val) {
	if s.traced++; s.traced > maxTraced {
		return
	}
	switch v := v.(type) {
	case traits.Mapper:
		for it := v.Iterator(); it.HasNext() == types.True; {
			s.traceInto(worst, v.Get(it.Next()))
		}
	case traits.Lister:
		for it := v.Iterator(); it.HasNext() == types.True; {
			s.traceInto(worst, it.Next())
		}
	default:
		if one, ok := s.traceScalar(v); ok && (worst.Source == "" || one.Source.LessTrusted(worst.Source)) {
			*worst = one
		}
	}
}

// traceScalar asks the caller about a single value. A number is asked about in plain digits.
func (s *scene) traceScalar(v ref.Val) (Origin, bool) {
	var value any
	switch v := v.(type) {
	case types.String:
		value = string(v)
	case types.Int:
		value = json.Number(strconv.FormatInt(int64(v), 10))
	case types.Uint:
		value = json.Number(strconv.FormatUint(uint64(v), 10))
	case types.Double:
		value = json.Number(strconv.FormatFloat(float64(v), 'f', -1, 64))
	default:
		return Origin{}, false
	}
	one := s.call.Origin(value)
	s.blame(value, one)
	if one.Source == "" {
		one.Source = Model
	}
	return one, true
}
