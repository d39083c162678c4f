package webhook

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxTypes       = 64  // of an endpoint; whoever wants more says *
	maxType        = 64  // bytes
	maxDescription = 256 // characters
)

// Spec is what an endpoint shall be. What is nil stays as it is; for a new endpoint, as [Registry.Create] says.
type Spec struct {
	URL         *string
	Description *string
	EventTypes  *[]string
	Disabled    *bool
}

// Invalid says what is wrong with a field. Its text does not quote the value.
type Invalid struct{ Field, Reason string }

func (e *Invalid) Error() string { return e.Field + " " + e.Reason }

var typePattern = regexp.MustCompile(`^(\*|[a-z][a-z0-9_]*(\.[a-z0-9_]+)*(\.\*)?)$`)

// apply checks a specification and makes the endpoint what it says.
func (r *Registry) apply(e *Endpoint, s Spec) error {
	e.Updated = r.now()
	if s.URL != nil {
		if err := r.Targets.Check(*s.URL); err != nil {
			return &Invalid{"url", err.Error()}
		}
		e.URL = *s.URL
	}
	if s.Description != nil {
		switch {
		case utf8.RuneCountInString(*s.Description) > maxDescription:
			return &Invalid{"description", fmt.Sprintf("has more than %d characters", maxDescription)}
		case strings.ContainsFunc(*s.Description, unicode.IsControl):
			return &Invalid{"description", "must be one line of text"}
		}
		e.Description = *s.Description
	}
	if s.EventTypes != nil {
		if err := checkTypes(*s.EventTypes); err != nil {
			return err
		}
		e.EventTypes = slices.Clone(*s.EventTypes)
	}
	if s.Disabled != nil && *s.Disabled != e.Disabled {
		e.Disabled, e.Why, e.Failures = *s.Disabled, "", 0
		if e.Disabled {
			e.Why = Requested
		}
	}
	return nil
}

func checkTypes(list []string) error {
	if len(list) > maxTypes {
		return &Invalid{"event_types", fmt.Sprintf("has more than %d entries", maxTypes)}
	}
	for i, t := range list {
		if len(t) > maxType || !typePattern.MatchString(t) {
			return &Invalid{fmt.Sprintf("event_types[%d]", i), "must be the name of a type, one that ends in .*, or *"}
		}
	}
	return nil
}
