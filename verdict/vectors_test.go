package verdict_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/gatehouse-gateway/gatehouse/verdict"
)

// vectorFile is testdata/vectors.json. A vector has either what is expected or "error": true.
type vectorFile struct {
	Verdicts []struct {
		Name             string
		Header           string
		Tolerant, Strict verdict.Verdicts
		Error            bool // the strict parser's
	}
	Advisories []struct {
		Name    string
		Entries []verdict.Advisory
		Header  string
	}
	ParseAdvisories []struct {
		Name    string
		Header  string
		Entries []verdict.Advisory
		Error   bool
	} `json:"parse_advisories"`
	AIP []struct {
		Header string
		Word   verdict.AIP
		Error  bool
	}
}

func vectors(t testing.TB) vectorFile {
	t.Helper()
	raw, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var file vectorFile
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Verdicts) == 0 || len(file.Advisories) == 0 || len(file.ParseAdvisories) == 0 || len(file.AIP) == 0 {
		t.Fatal("a group of vectors is empty")
	}
	return file
}
