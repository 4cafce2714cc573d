package api

import (
	"testing"

	"go.uber.org/goleak"
)

// Kubernetes' own WebSocket client, which tests are visited by, finds out with its
// next ping that it has been closed.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("k8s.io/client-go/tools/remotecommand.(*heartbeat).start"))
}
