package runtimetest

import (
	"testing"

	"github.com/podstead/podstead/runtime"
)

func TestHostPortsCollide(t *testing.T) {
	port := func(protocol, ip string, number int32) runtime.PortMapping {
		return runtime.PortMapping{Protocol: protocol, HostIP: ip, HostPort: number}
	}
	tests := []struct {
		name string
		a, b runtime.PortMapping
		want bool
	}{
		{name: "the same", a: port("TCP", "", 80), b: port("TCP", "", 80), want: true},
		{name: "no protocol is TCP", a: port("", "", 80), b: port("TCP", "", 80), want: true},
		{name: "another protocol (B125)", a: port("TCP", "", 53), b: port("UDP", "", 53)},
		{name: "another number", a: port("TCP", "", 80), b: port("TCP", "", 81)},
		{name: "no host port", a: port("TCP", "", 0), b: port("TCP", "", 0)},
		{name: "every address and one (B122)", a: port("TCP", "0.0.0.0", 80), b: port("TCP", "127.0.0.1", 80), want: true},
		{name: "two addresses (B124)", a: port("TCP", "127.0.0.2", 80), b: port("TCP", "127.0.0.1", 80)},
		{name: "every address of one family and one of the other", a: port("TCP", "::", 80), b: port("TCP", "127.0.0.1", 80)},
		{name: "every address at all", a: port("TCP", "", 80), b: port("TCP", "::1", 80), want: true},
		{name: "one address in two spellings", a: port("TCP", "::1", 80), b: port("TCP", "0:0::1", 80), want: true},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			bubble(t, func(l *lamp) {
				_, err := l.startBox(tc.a)
				l.must(err)
				if _, err := l.beside("other").startBox(tc.b); (err != nil) != tc.want {
					t.Errorf("second start: %v, want an error: %v", err, tc.want)
				} else if tc.want {
					l.wantErr(err, runtime.ErrPortInUse)
				}
			})
		})
	}
}

func TestAForeignHolderOfAPort(t *testing.T) {
	bubble(t, func(l *lamp) {
		l.OccupyPort("TCP", "", 80)
		want := runtime.PortMapping{Protocol: "TCP", HostPort: 80}
		_, err := l.startBox(want)
		l.wantErr(err, runtime.ErrPortInUse)
		if box, _ := l.Peek("u1").Sandbox(); box.State != runtime.StateCreated {
			t.Errorf("refused sandbox is %s", box.State)
		}
		l.FreePorts()
		_, err = l.startBox(want)
		l.must(err)
	})
}

func TestTheBridgeIsFull(t *testing.T) {
	bubble(t, func(l *lamp) {
		l.LimitNetwork(1)
		box, err := l.startBox()
		l.must(err)
		other := l.beside("other")
		_, err = other.startBox()
		l.wantErr(err, runtime.ErrNetworkFull)
		l.Kill(box, 0)
		_, err = other.startBox()
		l.must(err)
	})
}

// What was made for a bridge that was pruned since is made anew when it starts.
func TestThePrunedBridge(t *testing.T) {
	bubble(t, func(l *lamp) {
		box := l.box()
		l.PruneNetwork()
		started, err := l.StartSandbox(l.Context(), box)
		l.must(err)
		if pod := l.Peek("u1"); started.ID == box || len(pod.Sandboxes) != 1 || pod.Sandboxes[0].ID != started.ID {
			t.Errorf("started %s for %s, there are %+v", started.ID, box, pod.Sandboxes)
		}
	})
}

func TestNotesAreHandedOutOnce(t *testing.T) {
	bubble(t, func(l *lamp) {
		l.Degrade(runtime.Degraded{Reason: "OOMScoreAdjNotSet"})
		_, notes, err := l.CreateSandbox(l.Context(), runtime.SandboxConfig{Pod: l.pod})
		l.must(err)
		if len(notes) != 1 {
			t.Errorf("notes are %v", notes)
		}
		_, notes, err = l.CreateSandbox(l.Context(), runtime.SandboxConfig{Pod: l.pod, Attempt: 1})
		l.must(err)
		if len(notes) != 0 {
			t.Errorf("notes are %v again", notes)
		}
	})
}

// B157: a foreign container has the name; ours gets another.
func TestAForeignName(t *testing.T) {
	bubble(t, func(l *lamp) {
		l.Occupy(l.pod, "web", 0)
		_, web := l.up()
		if got, _ := l.Peek("u1").Newest("web"); got.ID != web || got.State != runtime.StateRunning {
			t.Errorf("web is %+v", got)
		}
	})
}

// One made for another sandbox and never started is useless under its name.
func TestAContainerForAnotherSandboxIsReplaced(t *testing.T) {
	bubble(t, func(l *lamp) {
		cfg := runtime.ContainerConfig{Pod: l.pod, Name: "web", SandboxID: l.box(), Image: testImage}
		old, _, err := l.CreateContainer(l.Context(), cfg)
		l.must(err)
		box, _, err := l.CreateSandbox(l.Context(), runtime.SandboxConfig{Pod: l.pod, Attempt: 1})
		l.must(err)
		cfg.SandboxID = box
		fresh, _, err := l.CreateContainer(l.Context(), cfg)
		l.must(err)
		if pod := l.Peek("u1"); fresh == old || len(pod.Containers) != 1 {
			t.Errorf("made %s after %s, there are %+v", fresh, old, pod.Containers)
		}
		cfg.SandboxID = "nowhere"
		_, _, err = l.CreateContainer(l.Context(), cfg)
		l.wantErr(err, runtime.ErrSandboxGone)
	})
}
