package detect

import (
	"context"
	"strings"
	"testing"
)

func TestPII(t *testing.T) {
	s := set(t, "pii")
	for _, c := range []struct{ text, want string }{ // class:text, several with |
		{"My card is 4111 1111 1111 1111.", "card:4111 1111 1111 1111"},
		{"4111-1111-1111-1111", "card:4111-1111-1111-1111"},
		{"amex 3782 822463 10005 exp 12/27", "card:3782 822463 10005"},
		{`{"n":5555555555554444}`, "card:5555555555554444"},
		{`{"t":"a\n4111111111111111"}`, "card:4111111111111111"},
		{"card 4222222222222", "card:4222222222222"},
		{"4222222222222", ""},
		{"4111111111111112", ""},
		{"94111111111111111", ""},
		{"x4111111111111111", ""},
		{"0.4111111111111111", ""},
		{`{"order_id":4111111111111111}`, ""},
		{"7700 1111 1111 1111", ""},
		{"SSN: 460-89-9847", "ssn:460-89-9847"},
		{"460 89 9847", "ssn:460 89 9847"},
		{"social security number 460899847", "ssn:460899847"},
		{`{"ssn":460899847}`, "ssn:460899847"},
		{"460899847", ""},
		{"000-12-3456 666-12-3456 912-12-3456 460-00-1234 460-12-0000", ""},
		{"1-460-89-9847", ""},
		{"460-89-98471", ""},
		{"pay DE89 3704 0044 0532 0130 00 now", "iban:DE89 3704 0044 0532 0130 00"},
		{"GB56HXDO88167774656119", "iban:GB56HXDO88167774656119"},
		{`{"t":"\nGB56HXDO88167774656119"}`, "iban:GB56HXDO88167774656119"},
		{"GB57HXDO88167774656119", ""},
		{"GB56HXDO881677746561199", ""},
		{"Write to ann.lee+x@mail.example.org.", "email:ann.lee+x@mail.example.org"},
		{`{"t":"\nann@example.org"}`, "email:ann@example.org"},
		{"mailto:ann@example.org", "email:ann@example.org"},
		{"git@github.com:a/b https://user:pw@example.org/ icon@2x.png lib@1.2.3 @decorator.call a@b", ""},
		{"ring +41 (0)69 979 80 58 or +447700208815", "phone:+41 (0)69 979 80 58|phone:+447700208815"},
		{"541-714-1388, (541) 714-1388, 1-541-714-1388", "phone:541-714-1388|phone:(541) 714-1388|phone:1-541-714-1388"},
		{"Tel. 030 1234567", "phone:030 1234567"},
		{`{"homePhone":"0301234567"}`, "phone:0301234567"},
		{"Phone: 0490 75 40 81", "phone:0490 75 40 81"},
		{"iPhone+14&qid=1689009508", ""},
		{"030 1234567", ""},
		{"Phone since 2024-01-31", ""},
		{"+12.3456789 1767225600 2026-11-21 15:00:00 3.14159265358979 1+1234567890", ""},
		{"intel 12345678, tell 12345678", ""},
		{"from 41.173.96.26, 10.0.0.1:80", "ip:41.173.96.26|ip:10.0.0.1"},
		{"127.0.0.1 0.0.0.0 v1.2.3.4 version 1.2.3.4 Chrome/120.0.6.1 lib==1.2.3.4 1.2.3.4.5 256.1.1.1", ""},
		{`{"version":"10.2.3.4"}`, ""},
		{"host 2001:db8::8a2e:370:7334 and [fe80::1]:80", "ip:2001:db8::8a2e:370:7334|ip:fe80::1"},
		{"::1 :: std::abs a::b face::bead 12:30:45 00:11:22:33:44:55 00:11:22:33:44:55:66:77", ""},
		{`{"street":"1 Main St","city":"X","zip":"12345"}`, "address:1 Main St|address:12345"},
		{`{"zip":12345,"addressLine1":"Rua Azul 7"}`, "address:12345|address:Rua Azul 7"},
		{`{"zip":"12345"}`, ""},
		{`{"address":"0xdeadbeef00"}`, ""},
		{`"{\"address\":\"1 Main St\"}"`, "address:1 Main St"},
		{`street: "1 Main St"`, ""},
		{`{"address":"1 \"Old\" Main St","zip":"12345"}`, `address:1 \"Old\" Main St|address:12345`},
		{`"{\"address\":\"1 \\\"Old\\\" Main St\"}"`, `address:1 \\\"Old\\\" Main St`},
		{`{"ssn":"219\u002d09-9999"}`, `ssn:219\u002d09-9999`},
		{`{"ssn":"\u0032\u0031\u0039-09-9999"}`, `ssn:\u0032\u0031\u0039-09-9999`},
		{`{"k":"4111\u002d1111\u002d1111\u002d1111"}`, `card:4111\u002d1111\u002d1111\u002d1111`},
		{`"\u00e94111111111111111"`, "card:4111111111111111"},
		{`{"email":"x\u0040example.com"}`, `email:x\u0040example.com`},
		{`{"k":"call\u0020\u002b447700208815"}`, `phone:\u002b447700208815`},
		{`"{\"ssn\":\"219\\u002d09-9999\"}"`, `ssn:219\\u002d09-9999`},
		{`{"k":"a\\b\/219-09-9999 \\"}`, "ssn:219-09-9999"},
		{"card number 630427373398, 630427373398", "card:630427373398|card:630427373398"},
		{"part 630427373398", ""},
		{"card 3519833257665853 card 3519833257665854", "card:3519833257665853"},
		{"born on 2/8/1935, date of birth: 1935-02-08", "birth_date:2/8/1935|birth_date:1935-02-08"},
		{`{"dob":"1990-04-05","updated":"1990-04-05"}`, "birth_date:1990-04-05"},
		{"2026-03-11 born to run 45/45/1999 geb. 8.5.1989", "birth_date:8.5.1989"},
		{"My driver's license number is F162823540116", "document:F162823540116"},
		{"passport no. P87654321, seat 12345678", "document:P87654321"},
		{"Bring your passport.\n2025-01-13 12345678", ""},
		{"licence F162823540116, plate P8765432", ""},
		{"ZIP: 3520, my zip code is 35350", "address:3520|address:35350"},
		{"a zip file of 3520 bytes, unzip: 3520, zip 3520", ""},
		{"ask on 0688 872 49 99 or 080-2884-8194", "phone:0688 872 49 99|phone:080-2884-8194"},
		{"030 1234 0000 000 000 0123 456 78901 1 0123 456 789", ""},
		{"call 085 175 7641-Office, 3660170548-Fax", "phone:085 175 7641|phone:3660170548"},
		{"::::::::::::::1:2:3::::::::", ""},
		{"\u00e9219-09-9999 e\u0301219-09-9998 \u53f74111111111111111\u3002", "ssn:219-09-9999|ssn:219-09-9998|card:4111111111111111"},
	} {
		var got []string
		for _, f := range scan(t, s, c.text).Findings {
			got = append(got, f.Type+":"+c.text[f.Start:f.End])
		}
		if all := strings.Join(got, "|"); all != c.want {
			t.Errorf("%s\ngot  %s\nwant %s", c.text, all, c.want)
		}
	}
}

func TestPIIHasNoInjectionScore(t *testing.T) {
	for _, channel := range []Channel{Input, ToolResult, Output} {
		r := set(t, "pii").Scan(context.Background(), Text{Channel: channel, Text: "My card is 4111 1111 1111 1111."})
		if r.Score != 0 || len(r.Findings) != 1 || r.Findings[0].Type != "card" {
			t.Errorf("%s: %+v", channel, r)
		}
	}
}
