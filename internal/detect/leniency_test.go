package detect

import "testing"

// TestLeniencyIsThatOfEachList: asked as one, allowlists say what they say one by one.
func TestLeniencyIsThatOfEachList(t *testing.T) {
	rules, general, err := gitleaksRules()
	if err != nil {
		t.Fatal(err)
	}
	allows := 0
	for _, r := range rules {
		for _, secret := range []string{
			"xK9mQ2vL8nR4", "wJalrXUtnFEMIEXAMPLE", "true", "null", "aaaaaaaa", "$HOME", "${{ secrets.A }}", "abcdefghijklmnopqrstuvwxyz", "{{ x }}", "33f!!lloppa",
			"/usr/bin/env", "user:changeme", "client-endpoint-x1", "only_letters", "%SECRET%", "s.abcdefghijABCDEFGHIJabcd",
		} {
			for _, name := range []string{"", "public_key=", "api_version: ", "next_page_token=", "é"} {
				for _, line := range []string{"", "--mount=type=secret,id=", `import { a } from "b" `} {
					c := candidate{secret, name + secret, line + name + secret}
					want := allowed(general, c) || allowed(r.allow, c)
					if got := r.leniency().allows(c); got != want {
						t.Errorf("%s with %+v: %v", r.id, c, got)
					}
					if want {
						allows++
					}
				}
			}
		}
	}
	if allows == 0 {
		t.Error("nothing is allowed")
	}
}
