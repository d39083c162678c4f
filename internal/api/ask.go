package api

import (
	"context"
	"net/http"
)

// ask answers with a verdict. Unlike a mutation it runs outside of any transaction, so that reading a long text holds up nobody;
// an Idempotency-Key gets the same answer again all the same.
func (a *API) ask(ctx context.Context, r *request, rt *route) (err error) {
	if r.body, err = r.Body(a.largest.Load()); err != nil {
		return err
	}
	r.depth = checkDepth
	key, leave, err := a.alone(r)
	if err != nil {
		return err
	}
	defer leave()
	if key != "" {
		said, replayed, err := a.again(ctx, r, key)
		if err != nil {
			return err
		}
		if replayed {
			if err := a.Desk.Contained(said.Agent, r.who.Credential); err != nil {
				return err
			}
			r.Recorded = true
			r.replay(said)
			return nil
		}
	}
	result, err := rt.check(ctx, r)
	if err != nil {
		return err
	}
	body, err := r.render(result)
	if err != nil {
		return err
	}
	said := kept{http.StatusOK, result.schema, body, r.X.Agent, r.X.Session, r.X.Decisions}
	if key != "" {
		if err := a.Transact(ctx, func(ctx context.Context) error { return a.keep(ctx, r, key, said) }); err != nil {
			a.Log.Error("an answer cannot be kept", "request_id", r.X.ID, "error", err)
		}
	}
	r.send(said.Status, said.Schema, said.Body)
	return nil
}
