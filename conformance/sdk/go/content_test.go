package sdk

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image"
	"image/color"
	"image/png"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

func TestAnImageArrivesAsItWasSent(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		picture, body := picture(t), ""
		sent := record(t, p.provider)
		a := p.ask(t, question{
			messages: []message{{text: "What is on this picture?", image: picture}},
			look:     func(r *http.Request) { body = bodyOf(t, r) },
		})
		if a.text != "You said: What is on this picture?" {
			t.Errorf("text %q", a.text)
		}
		got := sent.only(t).Body
		if got != body {
			t.Errorf("the provider got a body of %d bytes, %d were sent, and they differ", len(got), len(body))
		}
		if !strings.Contains(got, picture) {
			t.Error("the picture did not reach the provider as it is")
		}
		passed(t, a.header)
		covered := func(a advisory) bool { return a.Source == "gatehouse.coverage" }
		if _, list := surface(t, a.header); !slices.ContainsFunc(list, covered) {
			t.Errorf("advisories %+v do not say that something was not inspected", list)
		}
	})
}

// picture is a small PNG in base64.
func picture(t *testing.T) string {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, 16, 16))
	for i := range 16 {
		img.Set(i, 15-i, color.RGBA{R: uint8(i * 16), G: 80, B: 200, A: 255})
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

// bodyOf reads the body of a request and leaves it to be sent.
func bodyOf(t *testing.T, r *http.Request) string {
	t.Helper()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Error(err)
	}
	r.Body = io.NopCloser(bytes.NewReader(b))
	return string(b)
}

func TestStructuredAnswers(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		sent := record(t, p.provider)
		a := p.ask(t, question{messages: []message{user(`say {"city":"Oslo"}`)}, schema: true})
		var got struct{ City string }
		if err := json.Unmarshal([]byte(a.text), &got); err != nil || got.City != "Oslo" {
			t.Errorf("text %q: %v", a.text, err)
		}
		passed(t, a.header)
		if body := sent.only(t).Body; !strings.Contains(body, `"additionalProperties":false`) {
			t.Errorf("the schema did not reach the provider: %s", body)
		}
	})
}

func TestASecretInAStructuredAnswerLeavesItParseable(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		a := p.ask(t, question{messages: []message{user(`say {"city":"aws_access_key_id = ` + cloudKey + ` "}`)}, schema: true})
		var got struct{ City string }
		if err := json.Unmarshal([]byte(a.text), &got); err != nil {
			t.Errorf("text %q: %v", a.text, err)
		}
		if strings.Contains(a.text, cloudKey) || !strings.Contains(got.City, "REDACTED]") {
			t.Errorf("text %q", a.text)
		}
		enforced(t, byBack, a.header)
	})
}

// The notice stands beside the text: a client that parses the text finds none.
func TestABlockedStructuredAnswerIsARefusal(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		sent := record(t, p.provider)
		a := p.ask(t, question{messages: []message{user(injection)}, schema: true})
		id := a.header.Get("X-Mnemom-Request-Id")
		if a.finish != p.stopped || a.text != "" || !strings.Contains(a.refusal, id) {
			t.Errorf("finish %q, text %q, refusal %q", a.finish, a.text, a.refusal)
		}
		enforced(t, byFront, a.header)
		sent.none(t)
	})
}

func TestEveryChoiceIsChecked(t *testing.T) {
	everywhere(t, func(t *testing.T, p place) {
		if p.name != "openai" {
			t.Skip("the format has one choice")
		}
		cases := []struct {
			desc, text, finish, want, not string
			calls                         []string
		}{
			{"a text", "Hello", p.end, "You said: Hello", "", nil},
			{"a stopped prompt", injection, p.stopped, "", "You said", nil},
			{"a secret", "Repeat: aws_access_key_id = " + cloudKey + " please", p.end, "REDACTED]", cloudKey, nil},
			{"a flagged call", "call send_email {\"to\":\"anna\"}\ncall get_time {}", p.calls, "send_email", "", []string{"get_time"}},
		}
		for _, c := range cases {
			t.Run(c.desc, func(t *testing.T) {
				a := p.ask(t, question{messages: []message{user(c.text)}, tools: []string{"send_email", "get_time"}, choices: 3})
				all := append([]choice{a.choice}, a.others...)
				if len(all) != 3 {
					t.Fatalf("%d choices, want 3", len(all))
				}
				for i, got := range all {
					if got.finish != c.finish || !strings.Contains(got.text, c.want) || !slices.Equal(got.names(), c.calls) {
						t.Errorf("choice %d: %+v", i, got)
					}
					if c.not != "" && strings.Contains(got.text, c.not) {
						t.Errorf("choice %d says %q", i, got.text)
					}
				}
				surface(t, a.header)
			})
		}
	})
}
