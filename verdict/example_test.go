package verdict_test

import (
	"fmt"
	"net/http"

	"github.com/gatehouse-gateway/gatehouse/verdict"
)

func ExampleParse() {
	response := &http.Response{Header: http.Header{}}
	response.Header.Set(verdict.Header, "front=pass; autonomy=pass; integrity=enforced; back=pass")

	v := verdict.Parse(response.Header.Get(verdict.Header))
	if v.Integrity == verdict.Enforced {
		fmt.Println("the answer was replaced")
	}
	// Output: the answer was replaced
}

func ExampleVerdicts_String() {
	fmt.Println(verdict.Verdicts{Back: verdict.Enforced})
	// Output: front=pass; autonomy=pass; integrity=pass; back=enforced
}

func ExampleParseAdvisories() {
	list, err := verdict.ParseAdvisories(`[{"source":"safe_house.dlp","text":"DLP-protected content detected","severity":"warn"}]`)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, a := range list {
		fmt.Printf("%s: %s (%s)\n", a.Severity, a.Text, a.Source)
	}
	// Output: warn: DLP-protected content detected (safe_house.dlp)
}

func ExampleFormatAdvisories() {
	fmt.Println(verdict.FormatAdvisories([]verdict.Advisory{
		{Source: "gatehouse.coverage", Text: "1 image was not inspected"},
		{Source: "safe_house.quarantine", Text: "Message in quarantine: ü", Severity: verdict.Critical, ID: "qr-1"},
	}))
	// Output: [{"source":"safe_house.quarantine","text":"Message in quarantine: \u00fc","severity":"critical","id":"qr-1"},{"source":"gatehouse.coverage","text":"1 image was not inspected"}]
}
