package api

import (
	"context"
	"net/http"
	"slices"

	"github.com/gatehouse-gateway/gatehouse/internal/approval"
	"github.com/gatehouse-gateway/gatehouse/internal/identity"
	"github.com/gatehouse-gateway/gatehouse/internal/surface"
)

// sight is whose approvals and grants a caller may read.
type sight struct {
	account string   // empty: of all
	agents  []string // empty: all of the account
}

func (s sight) sees(p approval.Approval) bool {
	return (s.account == "" || s.account == p.Account) && (len(s.agents) == 0 || slices.Contains(s.agents, p.Agent))
}

// sight says what the caller may read. With api:read or approve that is what the account has; any other party that may call
// reads what is of the agent that it acts as.
func (a *API) sight(ctx context.Context, r *request) (sight, error) {
	if r.who.Keyed {
		switch {
		case r.who.Can(identity.Read) || r.who.Can(identity.Approve):
			return sight{r.account(), r.who.Agents}, nil
		case !r.who.Can(identity.Gateway):
			return sight{}, surface.Failure(http.StatusForbidden, "insufficient_scope", "this key may neither read, approve nor call")
		case len(r.who.Agents) > 0:
			return sight{r.who.Account, r.who.Agents}, nil
		}
	}
	refused, err := a.Desk.Bind(ctx, r.X, r.who, r.In.Agent)
	if refused != nil {
		err = refused
	}
	return sight{r.X.Account, []string{r.X.Agent}}, err
}

// current refuses a caller who had a key when the request began and has none any more: requests here may last long.
func (a *API) current(r *request) error {
	if !r.who.Keyed {
		return nil
	}
	if _, err := a.Authority.Caller(r.who.Credential); err != nil {
		return surface.Failure(http.StatusUnauthorized, "invalid_credentials", "unknown or revoked API key")
	}
	return nil
}
