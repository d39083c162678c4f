package gateway

import "github.com/gatehouse-gateway/gatehouse"

// Engine is the checker of the gateway without its surfaces.
func (g *Gateway) Engine() gatehouse.Checker { return g.engine }
