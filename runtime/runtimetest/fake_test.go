package runtimetest

import (
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestFakePassesTheContract(t *testing.T) {
	env := Busybox("podstead-test/busybox:1")
	env.Bubble = synctest.Test
	Contract(t, func(*testing.T) Runtime {
		f := New(time.Now)
		f.Learn(env)
		return f
	}, env)
}
