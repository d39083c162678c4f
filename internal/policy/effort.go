package policy

import (
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types"
)

// effort bounds the work of a condition by the size of the arguments: weight × size ^ degree.
type effort struct {
	nodes  int // of the expression
	weight int // the nodes, those more often whose work on a byte is more
	degree int
	leaps  bool // a single step may be so much work that counting after each step comes too late
}

// measure walks a condition. Any operation reads its values once, which is the first degree. Each loop around another
// multiplies that by the length of a list, and some functions by the length of a text.
func measure(root *ast.AST) effort {
	e := effort{degree: 1}
	deepest := 0
	var walk func(ast.NavigableExpr, int)
	walk = func(n ast.NavigableExpr, loops int) {
		e.nodes, e.weight = e.nodes+1, e.weight+1
		switch n.Kind() {
		case ast.ComprehensionKind:
			loops++
			deepest = max(deepest, loops)
		case ast.CallKind:
			e.call(n.AsCall())
		}
		for _, child := range n.Children() {
			walk(child, loops)
		}
	}
	walk(ast.NavigateAST(root), 0)
	e.degree += deepest
	return e
}

// factors are the functions whose work, or result, is a product: of what they are called on, and of the argument at this
// place.
var factors = map[string]int{"indexOf": 0, "lastIndexOf": 0, "join": 0, "replace": 1}

// call adds what a function does beyond reading its values once.
func (e *effort) call(c ast.CallExpr) {
	name, args := c.FunctionName(), c.Args()
	switch place, product := factors[name]; {
	case name == "format":
		e.weight += maxPrecision
	case name == "matches":
		if n, ok := literalLength(args[len(args)-1]); ok {
			e.weight += n
			return
		}
		e.weight += 10 * maxRegexp // an instruction is far slower than reading a byte
		e.leaps = true
	case product && place < len(args):
		if n, ok := literalLength(args[place]); ok {
			e.weight += n
			return
		}
		e.degree++
		e.leaps = true
	}
}

func literalLength(e ast.Expr) (bytes int, ok bool) {
	if e.Kind() != ast.LiteralKind {
		return 0, false
	}
	text, ok := e.AsLiteral().(types.String)
	return len(text), ok
}

// of is a bound on the steps for arguments of so many bytes. Lists of the condition's own count like arguments.
func (e effort) of(size int) float64 {
	work := float64(e.weight)
	for range e.degree {
		work *= float64(max(size, e.nodes))
	}
	return work
}
