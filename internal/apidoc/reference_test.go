package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

func TestReferenceIsUpToDate(t *testing.T) {
	raw, err := os.ReadFile("../../openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want, err := reference(raw)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("docs/api.md is not what openapi.yaml makes: go run ./internal/apidoc openapi.yaml > docs/api.md")
	}
}

// TestLinksLead holds that every link within the page has a heading.
func TestLinksLead(t *testing.T) {
	page, err := os.ReadFile("../../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	headings := map[string]int{}
	for _, m := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(string(page), -1) {
		headings[strings.NewReplacer(" ", "-", ":", "").Replace(strings.ToLower(m[1]))]++
	}
	for _, m := range regexp.MustCompile(`\]\(#([^)]+)\)`).FindAllStringSubmatch(string(page), -1) {
		if headings[m[1]] != 1 {
			t.Errorf("#%s names %d headings", m[1], headings[m[1]])
		}
	}
}
