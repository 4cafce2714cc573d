package agent

import (
	"crypto/sha256"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podstead/podstead/agent/events"
	"github.com/podstead/podstead/agent/volumes"
	"github.com/podstead/podstead/durable"
	"github.com/podstead/podstead/manifests"
	"github.com/podstead/podstead/runtime/runtimetest"
	"github.com/podstead/podstead/sources"
)

// object makes one as manifests would, with one key.
func object(kind, name, key, value string) *manifests.Object {
	meta := metav1.ObjectMeta{Name: name, Namespace: "default"}
	o := &manifests.Object{Digest: sha256.Sum256([]byte(kind + name + key + value))}
	if kind == manifests.KindSecret {
		o.Secret = &v1.Secret{ObjectMeta: meta, Type: v1.SecretTypeOpaque, Data: map[string][]byte{key: []byte(value)}}
	} else {
		o.ConfigMap = &v1.ConfigMap{ObjectMeta: meta, Data: map[string]string{key: value}}
	}
	return o
}

func configMap(name, value string) *manifests.Object {
	return object(manifests.KindConfigMap, name, "key", value)
}

func secret(name, value string) *manifests.Object {
	return object(manifests.KindSecret, name, "key", value)
}

// seeing is the pod with such objects there.
func seeing(p sources.Pod, objects ...*manifests.Object) sources.Pod {
	p.Objects = manifests.NewObjects(objects)
	return p
}

// withEnv sets variable CONF of the named container from key of a ConfigMap.
func withEnv(container, from string) func(*v1.Pod) {
	return func(p *v1.Pod) {
		c := findContainer(p, container)
		c.Env = append(c.Env, v1.EnvVar{Name: "CONF", ValueFrom: &v1.EnvVarSource{
			ConfigMapKeyRef: &v1.ConfigMapKeySelector{LocalObjectReference: v1.LocalObjectReference{Name: from}, Key: "key"},
		}})
	}
}

// withFile mounts a ConfigMap or Secret as a volume of its name into a container.
func withFile(container, kind, from string) func(*v1.Pod) {
	return func(p *v1.Pod) {
		volume := v1.Volume{Name: from}
		mode := int32(0o644)
		if kind == manifests.KindSecret {
			volume.Secret = &v1.SecretVolumeSource{SecretName: from, DefaultMode: &mode}
		} else {
			volume.ConfigMap = &v1.ConfigMapVolumeSource{LocalObjectReference: v1.LocalObjectReference{Name: from}, DefaultMode: &mode}
		}
		p.Spec.Volumes = append(p.Spec.Volumes, volume)
		c := findContainer(p, container)
		c.VolumeMounts = append(c.VolumeMounts, v1.VolumeMount{Name: from, MountPath: "/" + from})
	}
}

func withContainer(name string) func(*v1.Pod) {
	return func(p *v1.Pod) {
		c := *p.Spec.Containers[0].DeepCopy()
		c.Name, c.Ports = name, nil
		p.Spec.Containers = append(p.Spec.Containers, c)
	}
}

func restartOnChange(p *v1.Pod) {
	p.Annotations = map[string]string{annotationRestart: "true"}
}

// env is what the newest instance of a container was given.
func (w *world) env(uid, container string) string {
	w.Helper()
	cfg, ok := w.engine.Config(w.container(uid, container).ID)
	if !ok {
		w.Fatalf("pod %s: container %s was never made", uid, container)
	}
	return strings.Join(cfg.Env, " ")
}

// file is what a container's process reads from a mounted object just now.
func (w *world) file(uid, container, volume string) string {
	w.Helper()
	cfg, ok := w.engine.Config(w.container(uid, container).ID)
	if !ok {
		w.Fatalf("pod %s: container %s was never made", uid, container)
	}
	for _, m := range cfg.Mounts {
		if m.ContainerPath == "/"+volume {
			data, err := os.ReadFile(filepath.Join(m.HostPath, "key"))
			if err != nil {
				w.Fatal(err)
			}
			return string(data)
		}
	}
	w.Fatalf("pod %s: container %s does not mount %s", uid, container, volume)
	return ""
}

func (w *world) want(what, got, want string) {
	w.Helper()
	if got != want {
		w.Errorf("%s is %q, want %q", what, got, want)
	}
}

func (w *world) waiting(uid string) v1.ContainerStateWaiting {
	w.Helper()
	state := w.shows(uid).Status.ContainerStatuses[0].State.Waiting
	if state == nil {
		w.Fatalf("pod %s waits for nothing", uid)
	}
	return *state
}

func (w *world) restarts(uid, container string) int {
	w.Helper()
	for _, s := range w.shows(uid).Status.ContainerStatuses {
		if s.Name == container {
			return int(s.RestartCount)
		}
	}
	w.Fatalf("pod %s has no container %s", uid, container)
	return 0
}

func TestAPodWaitsForItsObjectAndStartsWhenItComes(t *testing.T) { // B86
	tests := []struct {
		name          string
		uses          func(*v1.Pod)
		reason, words string
		event         string
	}{
		{name: "a variable", uses: withEnv("c", "conf"), reason: "CreateContainerConfigError", words: `configmap "conf" not found`, event: events.ContainerFailed},
		{name: "a file", uses: withFile("c", manifests.KindConfigMap, "conf"), reason: "ContainerCreating", words: `MountVolume.SetUp failed for volume "conf"`, event: events.FailedMount},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				p := pod("a", "1", test.uses)
				w.apply(p)
				w.advance(time.Hour)
				w.wantRunning("a.1/POD")
				if got := w.waiting("a.1"); got.Reason != test.reason || !strings.Contains(got.Message, test.words) {
					w.Errorf("it waits as %+v", got)
				}
				w.wantEvent(test.event, test.words)
				if told := w.warnings("a.1"); len(told) != 1 || told[0].Count != 1 {
					t.Errorf("one trouble is told as %+v", told)
				}
				w.apply(seeing(p, configMap("conf", "here")))
				w.advance(time.Millisecond)
				w.wantRunning("a.1/POD", "a.1/c")
			})
		})
	}
}

// warnings are the events of that type about a pod and its containers.
func (w *world) warnings(uid string) (all []v1.Event) {
	for _, e := range w.agent.Events().List(events.Filter{UID: uid}) {
		if e.Type == v1.EventTypeWarning {
			all = append(all, e)
		}
	}
	return all
}

func TestANoteOnAVolumeIsToldOncePerPod(t *testing.T) {
	inWorld(t, func(w *world) {
		data := filepath.Join(w.root, "data")
		w.apply(pod("a", "1", func(p *v1.Pod) {
			p.Spec.Volumes = []v1.Volume{{Name: "data", VolumeSource: v1.VolumeSource{HostPath: &v1.HostPathVolumeSource{Path: data}}}}
			p.Spec.Containers[0].VolumeMounts = []v1.VolumeMount{{Name: "data", MountPath: "/data"}}
		}))
		w.advance(time.Second)
		for range 3 { // somebody removes it each time
			if err := os.RemoveAll(data); err != nil {
				t.Fatal(err)
			}
			w.engine.Kill(w.container("a.1", "c").ID, 0)
			w.advance(10 * time.Minute)
		}
		for _, e := range w.warnings("a.1") {
			if e.Reason == volumes.HostPathCreated && e.Count == 1 {
				return
			}
		}
		t.Errorf("told %+v", w.warnings("a.1"))
	})
}

func TestChangedObjectsReachFilesAtOnceAndVariablesAtTheNextStart(t *testing.T) {
	inWorld(t, func(w *world) {
		p := pod("a", "1", withContainer("d"), withEnv("d", "conf"),
			withFile("c", manifests.KindConfigMap, "conf"), withFile("c", manifests.KindSecret, "pass"))
		w.apply(seeing(p, configMap("conf", "one"), secret("pass", "open")))
		w.advance(time.Second)
		w.want("file", w.file("a.1", "c", "conf"), "one")
		w.apply(seeing(p, configMap("conf", "two"), secret("pass", "sesame")))
		w.advance(time.Millisecond)
		w.want("file", w.file("a.1", "c", "conf"), "two")
		w.want("secret file", w.file("a.1", "c", "pass"), "sesame")
		w.want("variable", w.env("a.1", "d"), "CONF=one")
		if n := w.restarts("a.1", "c") + w.restarts("a.1", "d"); n != 0 {
			w.Errorf("%d restarts", n)
		}
		w.engine.Kill(w.container("a.1", "d").ID, 1)
		w.advance(time.Second)
		w.want("variable after a crash", w.env("a.1", "d"), "CONF=two")

		// One that is gone leaves files and what runs as they are.
		w.apply(seeing(p, secret("pass", "sesame")))
		w.advance(time.Second)
		w.wantRunning("a.1/POD", "a.1/c", "a.1/d")
		w.want("file", w.file("a.1", "c", "conf"), "two")
		w.wantEvent(events.FailedMount, "conf")
		w.engine.Kill(w.container("a.1", "c").ID, 1)
		w.advance(time.Second)
		w.wantRunning("a.1/POD", "a.1/c", "a.1/d")

		w.apply()
		w.advance(time.Minute)
		w.wantNothingLeft()
	})
}

func TestSteadyObjectsCostNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		p := seeing(pod("a", "1", withEnv("c", "conf"), withFile("c", manifests.KindConfigMap, "conf")), configMap("conf", "one"))
		w.apply(p)
		w.advance(time.Second)
		var writes int
		w.agent.records.write = func(path string, data []byte, mode fs.FileMode) error {
			writes++
			return durable.WriteFile(path, data, mode)
		}
		w.engine.ForgetCalls()
		w.send(sources.Change{Op: sources.RECONCILE, Pod: seeing(p, configMap("conf", "one"))})
		w.advance(4 * time.Minute)
		if n := w.engine.Writes(); n != 0 || writes != 0 {
			w.Errorf("%d engine calls, %d writes to the disk", n, writes)
		}
	})
}

// A push that changes a ConfigMap and an image together never shows the old pod
// the new config, whatever happens before the new one can take over.
func TestTheOldPodNeverSeesTheNewConfig(t *testing.T) {
	inWorld(t, func(w *world) {
		uses := []func(*v1.Pod){
			withContainer("d"), withEnv("d", "conf"),
			withFile("c", manifests.KindConfigMap, "conf"), withFile("d", manifests.KindSecret, "pass"),
		}
		old := pod("a", "1", uses...)
		w.apply(seeing(old, configMap("conf", "one"), secret("pass", "open")))
		w.advance(time.Second)
		next := pod("a", "2", append(uses, withImage("next:1", v1.PullIfNotPresent))...)
		serving := func(moment string) {
			w.Helper()
			w.wantRunning("a.1/POD", "a.1/c", "a.1/d")
			w.want("file "+moment, w.file("a.1", "c", "conf"), "one")
			w.want("secret "+moment, w.file("a.1", "d", "pass"), "open")
			w.want("variable "+moment, w.env("a.1", "d"), "CONF=one")
		}
		w.apply(seeing(next, configMap("conf", "two"), secret("pass", "sesame")))
		w.advance(time.Second)
		serving("while the image is missing")
		w.apply(seeing(next, configMap("conf", "three"), secret("pass", "sesame")))
		w.advance(time.Second)
		serving("after objects changed alone")
		w.engine.Kill(w.container("a.1", "d").ID, 1)
		w.engine.Kill(w.container("a.1", "c").ID, 1)
		w.advance(time.Minute)
		serving("after a crash")
		w.restart()
		w.advance(time.Second)
		serving("after the agent was restarted")
		w.engine.Kill(w.container("a.1", "d").ID, 1)
		w.engine.Kill(w.container("a.1", "c").ID, 1)
		w.advance(10 * time.Minute)
		serving("after a crash in the agent's second life")

		w.engine.AddImage("next:1")
		w.advance(10 * time.Minute)
		w.wantRunning("a.2/POD", "a.2/c", "a.2/d")
		w.want("the new pod's file", w.file("a.2", "c", "conf"), "three")
		w.want("the new pod's variable", w.env("a.2", "d"), "CONF=three")
	})
}

func TestAPodWithoutItsSourceRunsOnWithTheObjectsThatItHad(t *testing.T) {
	inWorld(t, func(w *world) {
		p := pod("a", "1", withEnv("c", "conf"), withFile("c", manifests.KindConfigMap, "conf"))
		w.apply(seeing(p, configMap("conf", "one")))
		w.advance(time.Second)
		info, err := os.Stat(filepath.Join(w.root, "pods", "a.1", "objects.json"))
		if err != nil || info.Mode().Perm() != 0o600 {
			w.Errorf("the kept objects: %v, %v", info, err)
		}
		w.silent()
		w.engine.Kill(w.container("a.1", "c").ID, 1)
		w.advance(time.Minute)
		w.wantRunning("a.1/POD", "a.1/c")
		w.want("variable", w.env("a.1", "c"), "CONF=one")
		// The source comes back with something newer: files follow, and what runs stays.
		w.speak(seeing(p, configMap("conf", "two")))
		w.advance(time.Second)
		w.want("variable", w.env("a.1", "c"), "CONF=one")
		w.want("file", w.file("a.1", "c", "conf"), "two")
	})
}

// silent restarts the agent on a machine whose source has not answered.
func (w *world) silent() {
	w.kill()
	w.mute = true
	w.start()
	w.mute = false
	w.advance(time.Second)
}

// speak is the first that a silent source says.
func (w *world) speak(pods ...sources.Pod) {
	w.wanted = pods
	var changes []sources.Change
	for _, p := range pods {
		changes = append(changes, add(p))
	}
	w.send(changes...)
}

func TestLostObjectsCostNoContainerThatRuns(t *testing.T) {
	for _, damage := range []struct {
		name string
		do   func(path string) error
	}{
		{name: "gone", do: os.Remove},
		{name: "cut off", do: func(path string) error { return os.Truncate(path, 200) }},
		{name: "empty", do: func(path string) error { return os.Truncate(path, 0) }},
	} {
		t.Run(damage.name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				p := pod("a", "1", withContainer("d"), withEnv("c", "conf"))
				w.apply(seeing(p, configMap("conf", "one")))
				w.advance(time.Second)
				w.kill()
				if err := damage.do(filepath.Join(w.root, "pods", "a.1", "objects.json")); err != nil {
					w.Fatal(err)
				}
				w.silent()
				w.wantRunning("a.1/POD", "a.1/c", "a.1/d")
				w.engine.Kill(w.container("a.1", "c").ID, 1)
				w.engine.Kill(w.container("a.1", "d").ID, 1)
				w.advance(time.Minute)
				w.wantRunning("a.1/POD", "a.1/d")
				if got := w.waiting("a.1"); got.Reason != "CreateContainerConfigError" || !strings.Contains(got.Message, "waiting for source file") {
					w.Errorf("it waits as %+v", got)
				}
				w.speak(seeing(p, configMap("conf", "one")))
				w.advance(time.Second)
				w.wantRunning("a.1/POD", "a.1/c", "a.1/d")
				if _, err := os.Stat(filepath.Join(w.root, "pods", "a.1", "objects.json")); err != nil {
					w.Error(err)
				}
			})
		})
	}
}

// Killed between the two writes, the pod goes on with the newer of the two views,
// and never with both.
func TestObjectsAndRecordThatDifferAreNoMixture(t *testing.T) {
	inWorld(t, func(w *world) {
		p := pod("a", "1", withEnv("c", "conf"), withFile("c", manifests.KindConfigMap, "conf"))
		w.apply(seeing(p, configMap("conf", "one")))
		w.advance(time.Second)
		w.agent.records.write = func(path string, data []byte, mode fs.FileMode) error {
			if filepath.Base(path) == "pod.json" {
				return fs.ErrPermission
			}
			return durable.WriteFile(path, data, mode)
		}
		w.apply(seeing(p, configMap("conf", "two")))
		w.advance(time.Second)
		w.silent()
		w.engine.Kill(w.container("a.1", "c").ID, 1)
		w.advance(time.Minute)
		w.want("variable", w.env("a.1", "c"), "CONF=two")
		w.want("file", w.file("a.1", "c", "conf"), "two")
		// The source means the older one after all; that is what is kept then.
		w.speak(seeing(p, configMap("conf", "one")))
		w.advance(time.Second)
		w.want("file", w.file("a.1", "c", "conf"), "one")
		w.silent()
		w.engine.Kill(w.container("a.1", "c").ID, 1)
		w.advance(10 * time.Minute)
		w.want("variable", w.env("a.1", "c"), "CONF=one")
	})
}

func TestAnObjectThatIsMissingInTheNewSetKeepsTheOldPod(t *testing.T) {
	inWorld(t, func(w *world) {
		uses := []func(*v1.Pod){withEnv("c", "conf"), withFile("c", manifests.KindConfigMap, "conf"), withGrace(5)}
		w.engine.Behave("c", runtimetest.Deaf())
		w.apply(seeing(pod("a", "1", uses...), configMap("conf", "one")))
		w.advance(time.Second)
		next := pod("a", "2", uses...)
		w.apply(next)
		w.advance(time.Hour)
		w.wantRunning("a.1/POD", "a.1/c")
		w.apply(seeing(next, configMap("conf", "two")))
		w.advance(time.Minute)
		w.wantRunning("a.2/POD", "a.2/c")
		w.want("variable", w.env("a.2", "c"), "CONF=two")
	})
}

// What was prepared with objects that changed since is made again before it starts.
func TestASuccessorStartsWithTheNewestObjects(t *testing.T) {
	inWorld(t, func(w *world) {
		w.engine.Behave("c", runtimetest.Deaf())
		uses := []func(*v1.Pod){withContainer("d"), withEnv("c", "conf"), withGrace(10)}
		w.apply(seeing(pod("a", "1", uses...), configMap("conf", "one")))
		w.advance(time.Second)
		next := pod("a", "2", uses...)
		w.apply(seeing(next, configMap("conf", "two")))
		w.advance(time.Second) // the old one has got its TERM, and does not heed it
		w.want("variable while it waits", w.env("a.2", "c"), "CONF=two")
		w.apply(seeing(next, configMap("conf", "three")))
		w.advance(time.Minute)
		w.wantRunning("a.2/POD", "a.2/c", "a.2/d")
		w.want("variable", w.env("a.2", "c"), "CONF=three")
		if n := w.restarts("a.2", "c"); n != 0 {
			w.Errorf("%d restarts", n)
		}
	})
}

// What an earlier life left of a pod that neither record nor engine knows is
// taken away; what runs without a record keeps its secrets.
func TestSecretsOfPodsThatAreGoneAreSwept(t *testing.T) {
	inWorld(t, func(w *world) {
		uses := withFile("c", manifests.KindSecret, "pass")
		w.apply(seeing(pod("runs", "1", uses), secret("pass", "open")), seeing(pod("gone", "1", uses), secret("pass", "open")))
		w.advance(time.Second)
		w.kill()
		for _, uid := range []string{"runs.1", "gone.1"} {
			if err := os.RemoveAll(filepath.Join(w.root, "pods", uid)); err != nil {
				w.Fatal(err)
			}
		}
		gone := w.container("gone.1", "c")
		w.engine.RemoveBehindBack(gone.ID)
		w.engine.RemoveBehindBack(gone.SandboxID)
		w.silent()
		w.want("secret of what runs", w.file("runs.1", "c", "pass"), "open")
		if left, _ := filepath.Glob(filepath.Join(w.run, "pods", "*")); len(left) != 1 {
			w.Errorf("left in memory: %v", left)
		}
	})
}
