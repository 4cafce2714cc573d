package agent

import (
	"fmt"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/agent/events"
	"github.com/podstead/podstead/manifests"
	"github.com/podstead/podstead/runtime/runtimetest"
)

func TestPullSecrets(t *testing.T) {
	inWorld(t, func(w *world) {
		login := func(name, password string) *manifests.Object {
			o := object(manifests.KindSecret, name, v1.DockerConfigJsonKey, dockerConfig(password))
			o.Secret.Type = v1.SecretTypeDockerConfigJson
			return o
		}
		pulls := func(name string) func(*v1.Pod) {
			return func(p *v1.Pod) {
				withImage("shop/app:1", v1.PullIfNotPresent)(p)
				p.Spec.ImagePullSecrets = []v1.LocalObjectReference{{Name: name}}
			}
		}
		w.engine.Serve("shop/app:1", runtimetest.Remote{Takes: time.Second, Login: dockerConfig("good")})
		bad, none := pod("bad", "1", pulls("login")), pod("none", "1", pulls("nowhere"))
		w.apply(seeing(bad, login("login", "wrong")), none)
		w.advance(2 * time.Second)
		if got := w.waiting("bad.1"); got.Reason != "ErrImagePull" || strings.Contains(got.Message, "wrong") {
			w.Errorf("it waits as %+v", got)
		}
		w.wantEvent(events.FailedToRetrieveImagePullSecret, "Unable to retrieve some image pull secrets (nowhere)")
		if n := w.engine.Count("Pull"); n != 2 {
			w.Errorf("%d pulls: pods with other logins share none", n)
		}
		// The right one is tried at once, not after the back-off.
		w.apply(seeing(bad, login("login", "good")), none)
		w.advance(1100 * time.Millisecond)
		w.wantRunning("bad.1/POD", "bad.1/c", "none.1/POD")
		missing := 0
		w.advance(time.Hour)
		for _, e := range w.agent.Events().List(events.Filter{}) {
			if e.Reason == events.FailedToRetrieveImagePullSecret {
				missing += int(e.Count)
			}
			if strings.Contains(e.Message, "wrong") || strings.Contains(e.Message, "good") {
				w.Errorf("an event holds a password: %s", e.Message)
			}
		}
		if missing > 1 {
			w.Errorf("the missing secret is told %d times", missing)
		}
	})
}

func dockerConfig(password string) string {
	return fmt.Sprintf(`{"auths":{"docker.io":{"username":"shop","password":%q}}}`, password)
}
