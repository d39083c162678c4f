package policy

import (
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/ext"
)

// environment is the language of conditions: CEL (https://cel.dev) with its string functions, the variables of a call and
// the functions that ask for an origin. It never changes.
//
// The fields of agent and session are variables of their own, so that a misspelt one is found when the policy is read and
// not when a call comes.
var environment = sync.OnceValues(func() (*cel.Env, error) {
	origin := func(name string) cel.EnvOption {
		return cel.Function(name, cel.Overload(name+"_dyn", []*cel.Type{cel.DynType}, cel.StringType, cel.LateFunctionBinding()))
	}
	return cel.NewEnv(
		ext.Strings(ext.StringsVersion(stringsVersion), ext.StringsMaxPrecision(maxPrecision)),
		cel.Variable("tool", cel.StringType),
		cel.Variable("args", cel.MapType(cel.StringType, cel.DynType)),
		cel.Variable("agent.id", cel.StringType),
		cel.Variable("agent.name", cel.StringType),
		cel.Variable("agent.account", cel.StringType),
		cel.Variable("session.id", cel.StringType),
		cel.Variable("session.risk", cel.DoubleType),
		cel.Variable("session.tainted", cel.BoolType),
		cel.Variable("session.turns", cel.IntType),
		cel.Variable("now", cel.TimestampType),
		origin(originFunction),
		origin(originToolFunction),
		cel.DefaultUTCTimeZone(true),
		cel.ParserExpressionSizeLimit(maxCondition),
		cel.RegexProgramSizeLimit(maxRegexp),
		cel.ASTValidators(cel.ValidateRegexLiterals(), cel.ValidateTimestampLiterals(), cel.ValidateDurationLiterals(),
			cel.ValidateComprehensionNestingLimit(maxNesting)),
	)
})

const (
	originFunction     = "origin"
	originToolFunction = "origin_tool"
)

const (
	stringsVersion = 5      // of the string functions; a later one may change what a written condition means
	maxPrecision   = 100    // digits that format prints of a number; the format may come from arguments
	maxCondition   = 10_000 // characters of one condition; far more than a person can review
	maxRegexp      = 2_000  // instructions of one regular expression, which may come from arguments
	maxNesting     = 3      // loops within loops; each one multiplies the work by the length of a list
)
