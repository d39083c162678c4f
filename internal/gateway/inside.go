package gateway

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"

	"github.com/gatehouse-gateway/gatehouse"
	"github.com/gatehouse-gateway/gatehouse/internal/identity"
	"github.com/gatehouse-gateway/gatehouse/internal/session"
	"github.com/gatehouse-gateway/gatehouse/internal/surface"
)

// Inside is the way in for the code of this process: its exchanges are those of one agent, which has the name.
func (g *Gateway) Inside(name string) gatehouse.Checker {
	m := hmac.New(sha256.New, g.desk.Sessions.Key)
	m.Write([]byte("agent of this process"))
	// Nobody who calls over HTTP can show it, and it is the same in every process that has the store.
	credential := hex.EncodeToString(m.Sum(nil))
	return &inside{g.api.Checker, g.desk, name, surface.Who{Caller: identity.Caller{Account: identity.DefaultAccount}, Credential: credential}}
}

// inside binds exchanges to an agent before the engine sees them.
type inside struct {
	gatehouse.Checker
	desk *surface.Desk
	name string
	who  surface.Who
}

// Check implements [gatehouse.Checker]. The first checkpoint of an exchange finds out whose it is.
func (i *inside) Check(ctx context.Context, x *gatehouse.Exchange, at gatehouse.Checkpoint) gatehouse.Decision {
	if x.Agent == "" {
		if refused := i.bind(ctx, x); refused != nil {
			d := gatehouse.Decision{At: at, Mode: gatehouse.Enforce, Verdict: gatehouse.Block, Would: gatehouse.Block, Outcome: gatehouse.Enforced,
				Stop: true, Rule: refused.Code, Reason: refused.Message}
			x.Status, x.Error = refused.Status, refused.Code
			x.Decisions = append(x.Decisions, d)
			return d
		}
	}
	return i.Checker.Check(ctx, x, at)
}

// bind writes the agent into the exchange. What the store cannot say is the front checkpoint's failure.
func (i *inside) bind(ctx context.Context, x *gatehouse.Exchange) *gatehouse.Failure {
	refused, err := i.desk.Bind(ctx, x, i.who, i.name)
	if err != nil {
		x.Doubt = "store"
	}
	x.Known = true
	if refused != nil {
		return gatehouse.AsFailure(refused)
	}
	if !session.ValidID(x.Session) {
		x.Session = ""
		return &gatehouse.Failure{Status: http.StatusBadRequest, Code: "invalid_session", Message: "a session has 1 to 128 letters, digits and any of . _ : -"}
	}
	return nil
}
