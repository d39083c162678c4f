package policy

import (
	"strings"

	"cel.dev/cel-go/common"
)

// Position is where the text of a condition begins in its file. Both are counted from 1, columns in characters; a column
// of 0 says that only the line is known.
type Position struct {
	Line, Column int
	Escaped      string // the characters of the text that take two columns in the file, by the rules of its quotes
	Private      bool   // parts of the text are not in the file, and no error may quote them
}

// of is the line and the column in the file of a place in the text. In a text of several lines, the file may have broken
// and indented them otherwise, so only the line is said.
func (p Position) of(source string, at common.Location) (line, column int) {
	if p.Line == 0 {
		return 0, 0
	}
	if p.Column == 0 || strings.Contains(source, "\n") {
		return p.Line + max(at.Line()-1, 0), 0
	}
	column = p.Column
	for i, r := range []rune(source) {
		if i >= at.Column() {
			break
		}
		column++
		if strings.ContainsRune(p.Escaped, r) {
			column++
		}
	}
	return p.Line, column
}

// plainProblem is CEL's message for people who write conditions and not grammars.
func plainProblem(message string) string {
	message, _, _ = strings.Cut(message, " (in container ")
	message, _, _ = strings.Cut(message, " expecting {")
	return strings.TrimSuffix(message, ".")
}
