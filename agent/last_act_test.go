package agent

import (
	"strings"
	"testing"
	"time"

	"github.com/podstead/podstead/manifests"
	"github.com/podstead/podstead/runtime/runtimetest"
	"github.com/podstead/podstead/sources"
)

// What was done last, and why, is shown of a pod for longer than events are kept.
func TestTheLastActIsShownWithItsReason(t *testing.T) {
	inWorld(t, func(w *world) {
		w.engine.Behave("c", runtimetest.Exits(5*time.Second, 3), runtimetest.Forever())
		shop := pod("shop", "1")
		shop.Origin = sources.Origin{Source: "file", Unit: "/m/shop.yaml", Line: 1}
		w.apply(shop)
		w.advance(time.Second)
		want := func(parts ...string) {
			t.Helper()
			act := w.shows("shop.1").Annotations[manifests.AnnotationLastAct]
			when, what, _ := strings.Cut(act, " ")
			if _, err := time.Parse(time.RFC3339, when); err != nil {
				t.Errorf("%q: %v", act, err)
			}
			for _, part := range parts {
				if !strings.Contains(what, part) {
					t.Errorf("%q does not say %q", act, part)
				}
			}
		}
		want("start-container c: New", "(source file, /m/shop.yaml:1)")
		w.advance(time.Minute)
		want("start-container c, attempt 1: ContainerExited", "exit code 3")
		w.advance(2 * time.Hour)
		w.restart()
		w.advance(time.Second)
		want("attempt 1: ContainerExited")
	})
}
