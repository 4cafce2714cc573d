package agent

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/podstead/podstead/sources"
)

// 500 pods that come at once all run, and leave nothing when they all go.
func TestFiveHundredPodsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.quiet()
		w.start()
		defer func() { w.kill() }()
		var pods []sources.Pod
		for i := range 500 {
			pods = append(pods, pod(fmt.Sprintf("p%03d", i), "1", withGrace(0)))
		}
		w.apply(pods...)
		w.advance(time.Minute)
		if n := len(w.running()); n != 2*len(pods) {
			t.Errorf("%d processes run for %d pods of one container", n, len(pods))
		}
		w.apply()
		w.advance(time.Minute)
		w.wantNothingLeft()
	})
}
