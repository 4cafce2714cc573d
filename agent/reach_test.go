package agent

import (
	"bytes"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/runtime"
	"github.com/podstead/podstead/runtime/runtimetest"
)

// greeter is the address of a server that says hello to each client.
func greeter(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(conn, "hello")
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-ended
	})
	return l.Addr().String()
}

func TestPortsOfAPodAreReached(t *testing.T) {
	address := greeter(t)
	inWorld(t, func(w *world) {
		w.engine.Listen("web", 80, address)
		w.apply(pod("web", "1"))
		w.advance(time.Second)
		dial, err := w.agent.PortForward("default", "web")
		w.must(err)
		hello := func() {
			w.Helper()
			conn, err := dial(w.Context(), 80)
			w.must(err)
			defer conn.Close()
			if got, err := io.ReadAll(conn); string(got) != "hello" || err != nil {
				t.Errorf("%q, %v", got, err)
			}
		}
		hello()
		if _, err := dial(w.Context(), 81); !errors.Is(err, runtime.ErrRefused) || err.Error() != "connection refused in pod default/web on port 81; does anything listen there?" {
			t.Errorf("got %v", err)
		}

		// The sandbox may be another by now: it is the pod that counts.
		sandbox, err := w.engine.Pod(w.Context(), "web.1")
		w.must(err)
		w.engine.Kill(sandbox.Sandboxes[0].ID, 137)
		w.advance(time.Minute)
		hello()
	})
}

// What forwards to a pod does not go over to the one that replaces it.
func TestPortsOfAPodThatIsGoneAreNotAnothers(t *testing.T) {
	address := greeter(t)
	inWorld(t, func(w *world) {
		w.engine.Listen("web", 80, address)
		w.apply(pod("web", "1", withGrace(1)))
		w.advance(time.Second)
		dial, err := w.agent.PortForward("default", "web")
		w.must(err)
		w.apply(pod("web", "2", withGrace(1)))
		w.advance(time.Minute)
		w.wantRunning("web.2/POD", "web.2/c")
		if _, err := dial(w.Context(), 80); !errors.Is(err, runtime.ErrSandboxGone) || !strings.Contains(err.Error(), "pod default/web") {
			t.Errorf("got %v", err)
		}
	})
}

func TestPortsAreRefusedWithTheirReason(t *testing.T) {
	inWorld(t, func(w *world) {
		w.engine.Behave("done/c", runtimetest.Exits(0, 0))
		w.apply(pod("done", "1", withPolicy(v1.RestartPolicyNever)))
		w.advance(time.Second)
		if _, err := w.agent.PortForward("default", "nope"); !errors.Is(err, runtime.ErrNotFound) {
			t.Errorf("no pod: %v", err)
		}
		if _, err := w.agent.PortForward("default", "done"); !errors.Is(err, ErrBadRequest) || !strings.Contains(err.Error(), "it has ended (Succeeded)") {
			t.Errorf("an ended pod: %v", err)
		}
	})
}

func TestFilesOfAContainerThatHasEnded(t *testing.T) {
	inWorld(t, func(w *world) {
		w.engine.Behave("done/c", runtimetest.Exits(time.Minute, 0))
		w.apply(pod("done", "1", withPolicy(v1.RestartPolicyNever)))
		w.advance(time.Second)
		w.engine.PutFile(w.container("done.1", "c").ID, "/result", 0o600, "42")
		w.advance(time.Minute)
		if got := w.shows("done.1").Status.Phase; got != v1.PodSucceeded {
			t.Fatalf("the pod is %s", got)
		}
		in := FileRequest{Namespace: "default", Pod: "done", Path: "/result"}
		place, err := w.agent.FilePlace(w.Context(), in)
		if err != nil || place.File == nil || place.File.Size != 2 {
			t.Errorf("%+v, %v", place, err)
		}
		var archive bytes.Buffer
		w.must(w.agent.ReadFiles(w.Context(), in, &archive))
		in.Path = "/tmp"
		w.must(w.agent.WriteFiles(w.Context(), in, &archive))
		if _, text, ok := w.engine.ReadFile(w.container("done.1", "c").ID, "/tmp/result"); !ok || text != "42" {
			t.Errorf("the copy holds %q", text)
		}
	})
}

func TestFilesAreRefusedWithTheirReason(t *testing.T) {
	inWorld(t, func(w *world) {
		w.engine.Serve("slow:1", runtimetest.Remote{Takes: time.Hour})
		w.apply(pod("web", "1"), pod("late", "1", withImage("slow:1", v1.PullAlways)))
		w.advance(time.Second)
		for _, c := range []struct {
			name string
			req  FileRequest
			kind error
			want string
		}{
			{"no pod", FileRequest{Namespace: "default", Pod: "nope", Path: "/"}, runtime.ErrNotFound, `pod "nope"`},
			{"no container", FileRequest{Namespace: "default", Pod: "web", Container: "side", Path: "/"}, ErrBadRequest, "choose one of: [c]"},
			{"not made yet", FileRequest{Namespace: "default", Pod: "late", Path: "/"}, ErrBadRequest, `container "c" in pod "late" has no files yet: ContainerCreating`},
			{"no file", FileRequest{Namespace: "default", Pod: "web", Path: "/nope"}, runtime.ErrNotFound, "files of container c in pod default/web"},
		} {
			err := w.agent.ReadFiles(w.Context(), c.req, io.Discard)
			if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	})
}

func TestUsageIsMeasuredWhenAsked(t *testing.T) {
	inWorld(t, func(w *world) {
		w.engine.Consume("web/c", 250e6, 64<<20)
		w.engine.Consume(runtimetest.Pause, 0, 1<<20)
		w.engine.Behave("done/c", runtimetest.Exits(0, 0))
		w.apply(pod("web", "1"), pod("done", "1", withPolicy(v1.RestartPolicyNever)))
		w.advance(time.Hour)
		if n := w.engine.Count("Usage"); n != 0 {
			t.Fatalf("measured %d times though nobody asked", n)
		}
		s, err := w.agent.Stats(w.Context())
		w.must(err)
		if s.Node.NodeName != "n1" || s.Node.CPU.UsageCoreNanoSeconds == nil || *s.Node.Memory.UsageBytes == 0 {
			t.Errorf("the node: %+v", s.Node)
		}
		if len(s.Pods) != 1 || s.Pods[0].PodRef.UID != "web.1" || len(s.Pods[0].Containers) != 1 {
			t.Fatalf("pods: %+v", s.Pods)
		}
		web, main := s.Pods[0], s.Pods[0].Containers[0]
		if got := *main.CPU.UsageNanoCores; got != 250e6 {
			t.Errorf("main uses %d of a core", got)
		}
		if used, working := *main.Memory.UsageBytes, *main.Memory.WorkingSetBytes; used != 64<<20 || working != 48<<20 || main.Memory.AvailableBytes != nil {
			t.Errorf("main uses %d bytes, %d of them working", used, working)
		}
		if *web.Memory.UsageBytes != 65<<20 || *web.CPU.UsageNanoCores != 250e6 || web.Network == nil || *web.Network.RxBytes != 1000 {
			t.Errorf("the pod: %+v", web)
		}
		if main.StartTime.IsZero() || web.StartTime.IsZero() {
			t.Error("it has no beginning")
		}
		if n := w.engine.Count("Usage"); n != 4 {
			t.Errorf("measured %d times", n)
		}
	})
}

// An engine that is away, and one that hangs, are told, and soon.
func TestUsageOfAnEngineThatDoesNotAnswer(t *testing.T) {
	inWorld(t, func(w *world) {
		w.apply(pod("web", "1"))
		w.advance(time.Second)
		w.engine.Down()
		if _, err := w.agent.Stats(w.Context()); !errors.Is(err, runtime.ErrUnavailable) {
			t.Errorf("down: %v", err)
		}
		w.engine.Up()
		w.engine.Freeze()
		began := time.Now()
		if _, err := w.agent.Stats(w.Context()); !errors.Is(err, runtime.ErrUnavailable) || time.Since(began) > usageLimit {
			t.Errorf("frozen: %v after %s", err, time.Since(began))
		}
		w.engine.Thaw()
	})
}
