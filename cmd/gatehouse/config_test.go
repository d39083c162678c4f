package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gatehouse-gateway/gatehouse/internal/config"
)

func TestConfigCheck(t *testing.T) {
	if got := command(t, "", "config", "check", file(t, "listen: :1")); got.code != 0 || got.stderr != "" || !strings.HasSuffix(got.stdout, ": valid\n") {
		t.Errorf("a valid file: got %+v", got)
	}
	bad := file(t, "listen: x\n\nnope: 1\n")
	got := command(t, "", "config", "check", bad)
	want := bad + ":1: listen: must be host:port\n" + bad + ":3: nope: unknown key\n"
	if got.code != 1 || got.stdout != want || got.stderr == "" {
		t.Errorf("got %+v, want on standard output\n%s", got, want)
	}
	var problems config.Problems
	got = command(t, "", "config", "check", bad, "--json")
	if err := json.Unmarshal([]byte(got.stdout), &problems); err != nil || len(problems) != 2 || problems[1].Line != 3 || got.code != 1 {
		t.Errorf("got %+v, %v", got, err)
	}
	if got := command(t, "", "config", "check", "--json", file(t, "")); got.stdout != "[]\n" || got.code != 0 {
		t.Errorf("got %+v", got)
	}
}

func TestConfigPrint(t *testing.T) {
	if got := command(t, "", "config", "print"); got.code != 0 || got.stdout != string(config.Default().Masked()) {
		t.Errorf("without a file: got %+v", got)
	}
	t.Setenv("OPENAI_API_KEY", "sk-secret")
	got := command(t, "", "config", "print", file(t, "on_block: error\nupstreams: {openai: {key: '${OPENAI_API_KEY}'}}"))
	if got.code != 0 || !strings.Contains(got.stdout, "on_block: error\n") || strings.Contains(got.stdout, "sk-secret") {
		t.Errorf("got %+v", got)
	}
	if got := command(t, "", "config", "print", file(t, "nope: 1")); got.code != 1 || got.stdout != "" {
		t.Errorf("a bad file: got %+v", got)
	}
}

func TestConfigSchema(t *testing.T) {
	got := command(t, "", "config", "schema")
	if got.code != 0 || !json.Valid([]byte(got.stdout)) {
		t.Errorf("got %+v", got)
	}
}
