package conformance_test

import (
	"testing"

	"github.com/gatehouse-gateway/gatehouse/internal/leaktest"
)

func TestMain(m *testing.M) { leaktest.Run(m) }
