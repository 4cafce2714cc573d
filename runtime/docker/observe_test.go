package docker

import (
	"testing"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/image"
	"github.com/podstead/podstead/runtime"
)

func TestContainerFrom(t *testing.T) {
	const created, begin, end = "2026-01-02T03:04:00Z", "2026-01-02T03:04:05Z", "2026-01-02T03:04:09Z"
	const never = "0001-01-01T00:00:00Z"
	at := parseTime
	for _, test := range []struct {
		name  string
		state container.State
		want  runtime.Container
	}{
		{name: "created", state: container.State{Status: "created", StartedAt: never, FinishedAt: never}, want: runtime.Container{State: runtime.StateCreated}},
		{name: "running", state: container.State{Status: "running", Running: true, StartedAt: begin, FinishedAt: never}, want: runtime.Container{State: runtime.StateRunning, StartedAt: at(begin)}},
		{name: "running again by hand", state: container.State{Status: "running", Running: true, StartedAt: end, FinishedAt: begin, ExitCode: 1}, want: runtime.Container{State: runtime.StateRunning, StartedAt: at(end)}},
		{name: "paused", state: container.State{Status: "paused", Running: true, StartedAt: begin}, want: runtime.Container{State: runtime.StateRunning, StartedAt: at(begin)}},
		{name: "completed", state: container.State{Status: "exited", StartedAt: begin, FinishedAt: end}, want: runtime.Container{State: runtime.StateExited, StartedAt: at(begin), FinishedAt: at(end), Reason: "Completed"}},
		{name: "failed", state: container.State{Status: "exited", StartedAt: begin, FinishedAt: end, ExitCode: 3, Error: "x"}, want: runtime.Container{State: runtime.StateExited, StartedAt: at(begin), FinishedAt: at(end), ExitCode: 3, Reason: "Error", Message: "x"}},
		{name: "out of memory", state: container.State{Status: "exited", StartedAt: begin, FinishedAt: end, ExitCode: 137, OOMKilled: true}, want: runtime.Container{State: runtime.StateExited, StartedAt: at(begin), FinishedAt: at(end), ExitCode: 137, Reason: "OOMKilled"}},
		{name: "ended before its start was noted", state: container.State{Status: "exited", StartedAt: end, FinishedAt: begin}, want: runtime.Container{State: runtime.StateExited, StartedAt: at(begin), FinishedAt: at(begin), Reason: "Completed"}},
		{name: "no such command", state: container.State{Status: "created", ExitCode: 127, Error: "OCI runtime create failed: no such file"}, want: runtime.Container{State: runtime.StateExited, StartedAt: at(created), FinishedAt: at(created), ExitCode: 127, Reason: "ContainerCannotRun", Message: "OCI runtime create failed: no such file"}},
		{name: "refused, nobody knows why", state: container.State{Status: "created", ExitCode: 128, Error: "hm"}, want: runtime.Container{State: runtime.StateExited, StartedAt: at(created), FinishedAt: at(created), ExitCode: 128, Reason: "ContainerCannotRun", Message: "hm"}},
		{name: "its sandbox did not run", state: container.State{Status: "created", ExitCode: 128, Error: "cannot join network of a non running container: 5f3e"}, want: runtime.Container{State: runtime.StateCreated, Message: "cannot join network of a non running container: 5f3e"}},
		{name: "being removed", state: container.State{Status: "removing", StartedAt: begin, FinishedAt: end}, want: runtime.Container{State: runtime.StateUnknown, StartedAt: at(begin), FinishedAt: at(end)}},
		{name: "half removed", state: container.State{Status: "dead", Dead: true, StartedAt: begin, FinishedAt: end}, want: runtime.Container{State: runtime.StateUnknown, StartedAt: at(begin), FinishedAt: at(end)}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := containerFrom(identity{container: "main"}, container.InspectResponse{
				ContainerJSONBase: &container.ContainerJSONBase{ID: "c1", Created: created, State: &test.state},
				Config:            &container.Config{Image: busyboxRef},
			})
			test.want.ID, test.want.Name, test.want.Image, test.want.CreatedAt = "c1", "main", busyboxRef, at(created)
			if got != test.want {
				t.Errorf("got  %+v\nwant %+v", got, test.want)
			}
		})
	}
}

const busyboxRef = "podstead-test/busybox:1"

// One call lists all pods; what only looks like ours is told of once, and left
// out.
func TestListIsOneCall(t *testing.T) {
	calls := 0
	summary := func(is identity, id string, created int64) container.Summary {
		return container.Summary{ID: id, Names: []string{"/" + is.name()}, Labels: is.labels("n1", "node-1"), State: "running", Created: created}
	}
	a := runtime.PodRef{UID: "ua", Namespace: "default", Name: "a"}
	b := runtime.PodRef{UID: "ub", Namespace: "default", Name: "b"}
	renamed := summary(identity{pod: a, container: "main", attempt: 9}, "c9", 9)
	renamed.Names = []string{"/by-hand"}
	fake := &fakeAPI{listFn: func() ([]container.Summary, error) {
		calls++
		return []container.Summary{
			summary(identity{pod: b, container: "main"}, "c1", 1),
			summary(identity{pod: a, container: "main"}, "c2", 2),
			summary(identity{pod: a, container: "main", attempt: 1}, "c3", 3),
			summary(identity{pod: a, container: sandboxContainer}, "s0", 1),
			renamed,
		}, nil
	}}
	m := newTestManager(t, fake)
	pods, err := m.List(t.Context())
	if err != nil || calls != 1 || len(pods) != 2 || pods[0].PodRef != a || pods[1].PodRef != b {
		t.Fatalf("%d calls, %+v, %v", calls, pods, err)
	}
	if got := pods[0].Containers; len(got) != 2 || got[0].ID != "c3" || got[1].ID != "c2" || len(pods[0].Sandboxes) != 1 {
		t.Errorf("got %+v", pods[0])
	}
	if _, told := m.reported.Load("c9"); !told {
		t.Error("the renamed one is not told of")
	}
}

func TestPodThatIsNotThere(t *testing.T) {
	m := newTestManager(t, &fakeAPI{listFn: func() ([]container.Summary, error) { return nil, nil }})
	if pod, err := m.Pod(t.Context(), "u1"); err != nil || pod.UID != "" || len(pod.Containers) != 0 {
		t.Errorf("got %+v, %v", pod, err)
	}
}

// B151: a container whose image is gone is still shown, as is one that goes
// between list and inspect.
func TestPodWhoseImageIsGone(t *testing.T) {
	is := identity{pod: runtime.PodRef{UID: "u1", Namespace: "default", Name: "web"}, container: "main"}
	fake := &fakeAPI{
		listFn: func() ([]container.Summary, error) {
			return []container.Summary{
				{ID: "c1", Names: []string{"/" + is.name()}, Labels: is.labels("n1", "node-1")},
				{ID: "c2", Names: []string{"/" + is.name() + "_ff"}, Labels: is.labels("n1", "node-1")},
			}, nil
		},
		inspectFn: func(id string) (container.InspectResponse, error) {
			if id == "c2" {
				return container.InspectResponse{}, noContainer(id)
			}
			found := holder(id, is, container.StateExited)
			found.Image = "sha256:1"
			return found, nil
		},
		inspectImageFn: func(ref string) (image.InspectResponse, error) { return image.InspectResponse{}, noImage(ref) },
	}
	pod, err := newTestManager(t, fake).Pod(t.Context(), "u1")
	if err != nil || len(pod.Containers) != 1 || pod.Containers[0].ImageID != "docker://sha256:1" {
		t.Errorf("got %+v, %v", pod, err)
	}
}
