package slack

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	api "github.com/slack-go/slack"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/surface"
)

// Path is where Slack sends what users do.
const Path = "/slack/interactions"

// maxBody is the most bytes of an interaction: it brings the message along, which Slack keeps to 50 blocks.
const maxBody = 1 << 20

// decideTime leaves the rest of Slack's three seconds to the network.
const decideTime = 2 * time.Second

// Serve implements [surface.Surface].
func (s *Slack) Serve(c *surface.Call) bool {
	settings, _ := s.now()
	if settings == nil || c.R.URL.Path != Path {
		return false
	}
	c.X.Surface, c.X.Endpoint = "slack", Path
	if c.R.Method != http.MethodPost {
		c.W.Header().Set("Allow", http.MethodPost)
		c.Refuse(surface.Failure(http.StatusMethodNotAllowed, "method_not_allowed", "this path knows POST"))
		return true
	}
	p, err := settings.interaction(c)
	if err != nil {
		c.Refuse(err)
		return true
	}
	s.answer(c, settings, p)
	return true
}

// press is a button that was pressed.
type press struct {
	user, channel string
	approval      string
	deny          bool
}

// interaction reads what Slack has sent, once its signature has been checked over the bytes as they came.
func (s *Settings) interaction(c *surface.Call) (press, error) {
	forged := surface.Failure(http.StatusUnauthorized, "invalid_signature", "the request is not signed by Slack, or too long ago")
	if c.R.Header.Get("Content-Encoding") != "" {
		return press{}, forged // Slack sends none, and what is signed are the bytes on the wire
	}
	// Refused before the body is read: anybody may send here.
	verifier, err := api.NewSecretsVerifier(c.R.Header, s.SigningSecret)
	if err != nil {
		return press{}, forged
	}
	body, err := c.Body(maxBody)
	if err != nil {
		return press{}, err
	}
	if _, err := verifier.Write(body); err != nil || verifier.Ensure() != nil {
		return press{}, forged
	}
	return parse(body)
}

// parse reads a signed interaction. What is no button of ours is an error.
func parse(body []byte) (press, error) {
	unknown := surface.Failure(http.StatusBadRequest, "invalid_interaction", "this is no button of an approval")
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return press{}, unknown
	}
	var p struct {
		Type    string `json:"type"`
		User    struct{ ID string }
		Channel struct{ ID string }
		Actions []struct {
			ID    string `json:"action_id"`
			Value string `json:"value"`
		} `json:"actions"`
	}
	if json.Unmarshal([]byte(form.Get("payload")), &p) != nil || p.Type != string(api.InteractionTypeBlockActions) || len(p.Actions) != 1 {
		return press{}, unknown
	}
	action := p.Actions[0]
	if action.ID != actionApprove && action.ID != actionDeny || !strings.HasPrefix(action.Value, "apr-") {
		return press{}, unknown
	}
	return press{user: p.User.ID, channel: p.Channel.ID, approval: action.Value, deny: action.ID == actionDeny}, nil
}

// answer decides, and says 200 in any case: anything else Slack shows as a failure of the app. Why something was not done the
// user reads in a message that only they see.
func (s *Slack) answer(c *surface.Call, settings *Settings, p press) {
	ctx, cancel := context.WithTimeout(c.R.Context(), decideTime)
	defer cancel()
	// The record is of an exchange of its own: Slack is not told in headers which agent it was.
	x := &gatehouse.Exchange{ID: c.X.ID, Time: c.X.Time, Surface: c.X.Surface, Endpoint: c.X.Endpoint}
	err := s.decide(ctx, x, settings, p, from(c.R.RemoteAddr))
	c.Recorded = true
	c.X.Status = http.StatusOK
	if err != nil {
		err = s.refuse(c, p, err)
	}
	c.Write(http.StatusOK, "", nil)
	c.Log(err)
}

// refuse records that nothing was decided, and tells the user why.
func (s *Slack) refuse(c *surface.Call, p press, err error) error {
	f := gatehouse.AsFailure(err)
	c.X.Status, c.X.Error = f.Status, f.Code
	if unkept := s.Checker.Finish(context.WithoutCancel(c.R.Context()), c.X); unkept != nil {
		err = errors.Join(err, unkept)
	}
	s.whisper(whisper{channel: p.channel, user: p.user, text: f.Message})
	return err
}

// from is the address without its port.
func from(remote string) string {
	host, _, err := net.SplitHostPort(remote)
	if err != nil {
		return remote
	}
	return host
}
