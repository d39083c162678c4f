package policy_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/policy"
)

func compile(t *testing.T, tools policy.Tools) *policy.Policy {
	t.Helper()
	p, err := policy.Compile(tools)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestJudge(t *testing.T) {
	rules := func(r ...policy.Rule) policy.Tools { return policy.Tools{Rules: r} }
	fence := policy.Tools{Allow: []string{"search", "read_*"}}
	tests := []struct {
		name    string
		tools   policy.Tools
		tool    string
		verdict gatehouse.Verdict
		rule    string
	}{
		{"nothing written allows", policy.Tools{}, "search", gatehouse.Allow, "default"},
		{"nothing written flags what cannot be taken back", policy.Tools{}, "send_email", gatehouse.Flag, "built-in flag send_email"},
		{"an empty flag list turns the built-in flags off", policy.Tools{Flag: []string{}, FlagSet: true}, "send_email", gatehouse.Allow, "default"},
		{"a flag list replaces the built-in flags", policy.Tools{Flag: []string{"pay"}, FlagSet: true}, "send_email", gatehouse.Allow, "default"},
		{"a default written down keeps its meaning", policy.Tools{Flag: []string{"delete_*"}, FlagSet: true}, "mcp__fs__DeleteFile", gatehouse.Flag, "built-in flag delete_*"},
		{"a call without a name is blocked", policy.Tools{}, "", gatehouse.Block, "tool"},

		{"the fence lets the listed in", fence, "search", gatehouse.Allow, "tools.allow[0]"},
		{"the fence takes globs", fence, "read_file", gatehouse.Allow, "tools.allow[1]"},
		{"the fence blocks the rest", fence, "write_file", gatehouse.Block, "allow"},
		{"case counts at the fence", fence, "Search", gatehouse.Block, "allow"},
		{"the fence is anchored", fence, "research", gatehouse.Block, "allow"},
		{"the fence sees full names", fence, "mcp__web__search", gatehouse.Block, "allow"},
		{"a built-in flag opens no fence", fence, "send_email", gatehouse.Block, "allow"},
		{"an empty fence blocks everything", policy.Tools{Allow: []string{}}, "search", gatehouse.Block, "allow"},
		{"a written flag is inside the fence", policy.Tools{Allow: []string{"search"}, Flag: []string{"pay"}, FlagSet: true}, "pay", gatehouse.Flag, "tools.flag[0]"},
		{"an allow rule is inside the fence", policy.Tools{Allow: []string{"search"}, Rules: []policy.Rule{{Tool: "pay", Verdict: gatehouse.Allow}}}, "pay", gatehouse.Allow, "tools.rules[0]"},
		{"a flag rule is inside the fence", policy.Tools{Allow: []string{"search"}, Rules: []policy.Rule{{Tool: "p*", Verdict: gatehouse.Flag}}}, "pay", gatehouse.Flag, "tools.rules[0]"},
		{"a rule for everything names nothing", policy.Tools{Allow: []string{"search"}, Rules: []policy.Rule{{Tool: "*", Verdict: gatehouse.Allow}}}, "pay", gatehouse.Block, "allow"},
		{"nor does one that only counts letters", policy.Tools{Allow: []string{"search"}, Rules: []policy.Rule{{Tool: "?**", Verdict: gatehouse.Flag}}}, "pay", gatehouse.Block, "allow"},
		{"a flag rule for everything still flags inside", policy.Tools{Allow: []string{"search"}, Rules: []policy.Rule{{Tool: "*", Verdict: gatehouse.Flag}}}, "search", gatehouse.Flag, "tools.rules[0]"},
		{"the allow list does not lift the built-in flag", policy.Tools{Allow: []string{"send_email"}}, "send_email", gatehouse.Flag, "built-in flag send_email"},

		{"an exact allow rule lifts the built-in flag", rules(policy.Rule{Tool: "send_email", Verdict: gatehouse.Allow}), "send_email", gatehouse.Allow, "tools.rules[0]"},
		{"only for the name it writes", rules(policy.Rule{Tool: "send_email", Verdict: gatehouse.Allow}), "gmail.send_email", gatehouse.Flag, "built-in flag send_email"},
		{"a glob lifts nothing", rules(policy.Rule{Tool: "send_emai?", Verdict: gatehouse.Allow}), "send_email", gatehouse.Flag, "built-in flag send_email"},
		{"a star lifts nothing", rules(policy.Rule{Tool: "*", Verdict: gatehouse.Allow}), "delete_all", gatehouse.Flag, "built-in flag delete_*"},
		{"an allow rule lifts no written flag", policy.Tools{Flag: []string{"pay"}, FlagSet: true, Rules: []policy.Rule{{Tool: "pay", Verdict: gatehouse.Allow}}}, "pay", gatehouse.Flag, "tools.flag[0]"},

		{"the strictest rule wins", rules(policy.Rule{Tool: "x", Verdict: gatehouse.Allow}, policy.Rule{Tool: "x", Verdict: gatehouse.Block}, policy.Rule{Tool: "*", Verdict: gatehouse.Flag}), "x", gatehouse.Block, "tools.rules[1]"},
		{"of equals the first is named", rules(policy.Rule{Tool: "x", Verdict: gatehouse.Flag}, policy.Rule{Tool: "*", Verdict: gatehouse.Flag}), "x", gatehouse.Flag, "tools.rules[0]"},
		{"hosted tools go by their full name", rules(policy.Rule{Tool: "hosted:*", Verdict: gatehouse.Block}), "hosted:web_search", gatehouse.Block, "tools.rules[0]"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := compile(t, test.tools).Judge(policy.Call{Tool: test.tool, Args: "{}"})
			if got.Verdict != test.verdict || got.Rule != test.rule {
				t.Errorf("got %s by %q, want %s by %q", got.Verdict, got.Rule, test.verdict, test.rule)
			}
			if got.Reason == "" {
				t.Error("no reason")
			}
		})
	}
}

func TestBuiltinFlagsSeeThroughSpelling(t *testing.T) {
	p := compile(t, policy.Tools{})
	flagged := []string{
		"send_email", "sendEmail", "SendEmail", "send-email", "SEND_EMAIL", "Send Email", "sendemail", "sendEMail", "send_e_mail",
		"mcp__gmail__send_email", "gmail.send_email", "gmail/send_email", "gmail:sendEmail", "mcp:gmail/send_email", "hosted:send_email",
		"functions.send_email", "send_email/v2", "send_email.1", "send_email__", "_send_email_", "send__email", "send.email",
		"ｓｅｎｄ＿ｅｍａｉｌ", "send\u200b_email", "se\u00adnd_email", "send_e\u0301mail\u0000",
		"delete_file", "deleteFile", "DeleteFile", "DELETE_FILE", "delete-file", "delete__file", "delete.file", "delete/all", "deLete_file",
		"mcp__fs__delete_file", "mcp:fs/deleteFile", "mcp__fs__delete__all", "delete_2",
		"transfer_funds", "transferFunds", "TransferFunds", "bank/transfer-funds", "TRANSFER_FUNDS",
	}
	for _, tool := range flagged {
		if got := p.JudgeDeclared(tool); got.Verdict != gatehouse.Flag {
			t.Errorf("%q: got %s, want flag", tool, got.Verdict)
		}
	}
	for _, tool := range []string{
		"search", "read_email", "send_email_draft_check", "resend_email", "deleted_items", "undelete_file", "HTTPDelete", "transferred",
		"mcp__delete_service__list", "delete_service/list", "mcp__transfer__status", "transfers", "email_send", "sender_mail", "delete", "delete_", "__", "...", "v1",
	} {
		if got := p.JudgeDeclared(tool); got.Verdict != gatehouse.Allow {
			t.Errorf("%q: got %s by %s, want allow", tool, got.Verdict, got.Rule)
		}
	}
}

func TestArguments(t *testing.T) {
	p := compile(t, policy.Tools{})
	deep := strings.Repeat(`{"a":`, 200) + "1" + strings.Repeat("}", 200)
	tests := []struct {
		name, args string
		want       gatehouse.Verdict
	}{
		{"an object", `{"q":"marker"}`, gatehouse.Allow},
		{"nothing", "", gatehouse.Allow},
		{"white space", " \r\n\t", gatehouse.Allow},
		{"a string that holds an object", `"{\"q\":\"marker\"}"`, gatehouse.Allow},
		{"an empty string", `""`, gatehouse.Allow},
		{"a string in a string", `"\"{}\""`, gatehouse.Block},
		{"a list", `["marker"]`, gatehouse.Block},
		{"a number", `1`, gatehouse.Block},
		{"null", `null`, gatehouse.Block},
		{"broken", `{"q":"marker"`, gatehouse.Block},
		{"trailing data", `{"q":1}{"q":"marker"}`, gatehouse.Block},
		{"a duplicate key", `{"marker":1,"marker":2}`, gatehouse.Block},
		{"a duplicate key in disguise", `{"marker":1,"\u006darker":2}`, gatehouse.Block},
		{"a duplicate key inside a string", `"{\"marker\":1,\"marker\":2}"`, gatehouse.Block},
		{"invalid UTF-8", "{\"marker\":\"\xff\"}", gatehouse.Block},
		{"too deep", deep, gatehouse.Block},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := p.Judge(policy.Call{Tool: "search", Args: test.args})
			if got.Verdict != test.want {
				t.Errorf("got %s (%s), want %s", got.Verdict, got.Reason, test.want)
			}
			if got.Verdict == gatehouse.Block && got.Rule != "arguments" {
				t.Errorf("blocked by %q", got.Rule)
			}
			if strings.Contains(got.Reason, "marker") {
				t.Errorf("the reason quotes the arguments: %s", got.Reason)
			}
		})
	}
	if got := p.Judge(policy.Call{Tool: "run", Args: "ls -l", Freeform: true}); got.Verdict != gatehouse.Allow {
		t.Errorf("freeform text: got %s (%s), want allow", got.Verdict, got.Reason)
	}
}

func TestCompileNamesEveryProblem(t *testing.T) {
	_, err := policy.Compile(policy.Tools{
		Allow: []string{"ok", ""},
		Flag:  []string{" padded"},
		Rules: []policy.Rule{{Tool: "", Verdict: "allow", Line: 7}, {Tool: "x", Verdict: "redact", Line: 8}},
	})
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		t.Fatalf("got %v, want joined errors", err)
	}
	want := []string{"tools.allow[1]", "tools.flag[0]", "tools.rules[0].tool", "tools.rules[1].verdict"}
	for i, e := range joined.Unwrap() {
		var p *policy.Error
		if !errors.As(e, &p) || i >= len(want) || p.Path != want[i] {
			t.Errorf("problem %d: got %v, want one at %s", i, e, want[i])
		}
	}
	if n := len(joined.Unwrap()); n != len(want) {
		t.Errorf("got %d problems, want %d", n, len(want))
	}
}
