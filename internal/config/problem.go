package config

import (
	"fmt"
	"strings"
)

// Problem is one thing wrong with a file. It never quotes a value that came from the environment.
type Problem struct {
	File    string `json:"file"`
	Line    int    `json:"line"`             // counted from 1
	Column  int    `json:"column,omitempty"` // counted from 1, in characters; 0 when only the line is known
	Path    string `json:"path"`             // protection.thresholds.warn; empty for the file as a whole
	Message string `json:"message"`
}

func (p Problem) String() string {
	at := fmt.Sprintf("%s:%d", p.File, p.Line)
	if p.Column > 0 {
		at += fmt.Sprintf(":%d", p.Column)
	}
	if p.Path != "" {
		at += ": " + p.Path
	}
	return at + ": " + p.Message
}

// Problems is everything wrong with a file, in the order of its lines. It is the error of [Parse].
type Problems []Problem

func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, one := range p {
		lines[i] = one.String()
	}
	return strings.Join(lines, "\n")
}
