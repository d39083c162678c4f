package config

import (
	"fmt"
	"strings"
)

// Problem is one thing wrong with a file. It never quotes a value that came from the environment.
type Problem struct {
	File    string `json:"file"`
	Line    int    `json:"line"` // counted from 1
	Path    string `json:"path"` // protection.thresholds.warn; empty for the file as a whole
	Message string `json:"message"`
}

func (p Problem) String() string {
	if p.Path == "" {
		return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Message)
	}
	return fmt.Sprintf("%s:%d: %s: %s", p.File, p.Line, p.Path, p.Message)
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
