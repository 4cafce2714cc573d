package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podstead/podstead/runtime"
)

// epoch is when the tests' machine booted.
var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// at is the moment that long after the boot, with a wall clock that agrees.
func at(d time.Duration) Moment { return Moment{Boot: "one", Since: d, Wall: epoch.Add(d)} }

// aPod has the regular containers named, and init containers behind "init:".
func aPod(policy v1.RestartPolicy, names ...string) *v1.Pod {
	grace := int64(30)
	p := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "lamp-n1", Namespace: "default", UID: "4711"},
		Spec:       v1.PodSpec{RestartPolicy: policy, TerminationGracePeriodSeconds: &grace},
	}
	for _, name := range names {
		if init, ok := strings.CutPrefix(name, "init:"); ok {
			p.Spec.InitContainers = append(p.Spec.InitContainers, v1.Container{Name: init})
		} else {
			p.Spec.Containers = append(p.Spec.Containers, v1.Container{Name: name})
		}
	}
	return p
}

// box is a sandbox with ID box<attempt>.
func box(attempt int, state runtime.State) runtime.Sandbox {
	s := runtime.Sandbox{ID: fmt.Sprintf("box%d", attempt), Attempt: attempt, State: state, CreatedAt: epoch}
	if state != runtime.StateCreated {
		s.StartedAt = epoch
	}
	if state == runtime.StateRunning {
		s.IPs = []string{"10.112.0.2"}
	}
	if state == runtime.StateExited {
		s.FinishedAt = epoch.Add(time.Hour)
	}
	return s
}

// instance is a container with ID <name><attempt> in sandbox box<sandbox>.
func instance(name string, attempt, sandbox int, state runtime.State) runtime.Container {
	c := runtime.Container{
		ID: fmt.Sprintf("%s%d", name, attempt), Name: name, Attempt: attempt,
		SandboxID: fmt.Sprintf("box%d", sandbox), State: state, CreatedAt: epoch,
	}
	if state != runtime.StateCreated {
		c.StartedAt = epoch
	}
	return c
}

// ended is an instance that ran from one time after the boot to another.
func ended(name string, attempt, sandbox, code int, from, to time.Duration) runtime.Container {
	c := instance(name, attempt, sandbox, runtime.StateExited)
	c.StartedAt, c.FinishedAt, c.ExitCode, c.Reason = epoch.Add(from), epoch.Add(to), code, "Error"
	if code == 0 {
		c.Reason = "Completed"
	}
	return c
}

// shows is what the engine shows, newest first.
func shows(things ...any) runtime.Pod {
	var p runtime.Pod
	for _, thing := range things {
		switch x := thing.(type) {
		case runtime.Sandbox:
			p.Sandboxes = append(p.Sandboxes, x)
		case runtime.Container:
			p.Containers = append(p.Containers, x)
		}
	}
	slices.SortStableFunc(p.Sandboxes, func(a, b runtime.Sandbox) int { return b.Attempt - a.Attempt })
	slices.SortStableFunc(p.Containers, func(a, b runtime.Container) int { return b.Attempt - a.Attempt })
	return p
}

// input has every image ready.
func input(pod *v1.Pod, obs runtime.Pod, now Moment) Input {
	in := Input{Pod: pod, Gate: GateRun, Observed: obs, History: NewHistory(), Images: map[string]Image{}, Now: now}
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		in.Images[c.Name] = Image{Ready: true}
	}
	return in
}

// told writes steps as one line each: what, of what, why.
func told(d Decision) []string {
	var lines []string
	for _, step := range d.Steps {
		var words []string
		for _, a := range step {
			words = append(words, tellAction(a))
		}
		lines = append(lines, strings.Join(words, " | "))
	}
	return lines
}

func tellAction(a Action) string {
	words := string(a.Verb)
	switch a.Verb {
	case CreateSandbox:
		words += fmt.Sprintf(" %d", a.Attempt)
	case CreateContainer:
		words += fmt.Sprintf(" %s%d", a.Container, a.Attempt)
	case StartContainer, StartSandbox:
		if words += " " + a.Container; a.ID != "" {
			words = strings.TrimSpace(words[:len(words)-len(a.Container)]) + " " + a.ID
		}
	case Signal:
		words += fmt.Sprintf(" %s %s", a.ID, a.Signal)
	case Remove:
		words += " " + a.ID
	}
	return strings.TrimSpace(words) + ": " + string(a.Reason)
}

func checkSteps(t *testing.T, d Decision, want ...string) {
	t.Helper()
	if got := told(d); !slices.Equal(got, want) {
		t.Errorf("steps are\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

func checkWaiting(t *testing.T, d Decision, want map[string]string) {
	t.Helper()
	got := map[string]string{}
	for name, w := range d.Waiting {
		got[name] = w.Reason
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("waiting is %v, want %v", got, want)
	}
}
