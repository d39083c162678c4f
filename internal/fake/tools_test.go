package fake_test

import (
	"slices"
	"testing"

	"github.com/gatehouse-gateway/gatehouse/internal/fake"
)

func TestTools(t *testing.T) {
	tools := &fake.Tools{Pages: map[string]string{"news": "<p>Hello</p>"}}
	url := serve(t, tools)
	if got := send(t, "GET", url+"/page/news", ""); got.status != 200 || got.body != "<p>Hello</p>" {
		t.Errorf("page: %+v", got)
	}
	if got := send(t, "GET", url+"/page/none", ""); got.status != 404 {
		t.Errorf("missing page: %d", got.status)
	}
	if got := send(t, "POST", url+"/mail", "{}"); got.status != 400 {
		t.Errorf("mail to nobody: %d", got.status)
	}
	if got := send(t, "POST", url+"/mail", `{"to":"a@example.com","subject":"s","body":"b"}`); got.status != 200 {
		t.Errorf("mail: %d %s", got.status, got.body)
	}
	if want := []fake.Mail{{To: "a@example.com", Subject: "s", Body: "b"}}; !slices.Equal(tools.Sent(), want) {
		t.Errorf("sent %+v", tools.Sent())
	}
}
