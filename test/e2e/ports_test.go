//go:build e2e

package e2e

import (
	"fmt"
	"io"
	"net"
	"os/exec"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/test/rig"
)

// B121: a port that another program has is waited for, and status says so.
func TestAHeldHostPortIsWaitedFor(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	holder, err := net.Listen("tcp", ":0")
	n.must(err)
	defer holder.Close()
	port := holder.Addr().(*net.TCPAddr).Port
	n.put("wheel.yaml", pod("wheel", "containers:", run1("main", serve, hostPort(port, ""))))
	n.awaitPod("wheel", "to wait for its port", waits("main", "ContainerCreating", fmt.Sprint(port)))
	if o := n.run("status"); o.code != 1 || !strings.Contains(o.out, fmt.Sprint(port)) {
		t.Errorf("status exits with %d and says\n%s", o.code, o.out)
	}
	if failed := n.events("wheel", "FailedCreatePodSandBox"); len(failed) != 1 {
		t.Errorf("the reason was told in %d events", len(failed))
	}
	n.must(holder.Close())
	n.awaitReady("wheel")
	n.awaitServed(port, "1")
	if made := n.story.of("create", "POD"); len(made) != 1 {
		t.Errorf("waiting made %d sandboxes", len(made))
	}
}

// B121: so is an address that comes up later.
func TestAMissingHostIPIsWaitedFor(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	const address = "192.0.2.121" // TEST-NET-1, nobody's
	port := freePort(t)
	n.put("wheel.yaml", pod("wheel", "containers:", run1("main", serve, hostPort(port, ", hostIP: "+address))))
	n.awaitPod("wheel", "to wait for its address", waits("main", "ContainerCreating", address))
	ip := func(verb string) {
		t.Helper()
		if out, err := exec.Command("ip", "address", verb, address+"/32", "dev", "lo").CombinedOutput(); err != nil {
			t.Errorf("%s address: %v\n%s", verb, err, out)
		}
	}
	ip("add")
	defer ip("delete")
	n.awaitReady("wheel")
	if text, err := dial(fmt.Sprintf("%s:%d", address, port)); text != "1\n" || err != nil {
		t.Errorf("the address answers %q, %v", text, err)
	}
}

// B122, B169: of two pods the older keeps the port; the other is refused by the
// older one's name, and comes when that one goes.
func TestTheOlderPodKeepsTheHostPort(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	port := freePort(t)
	n.put("b.yaml", pod("older", "containers:", run1("main", serve, hostPort(port, ""))))
	n.awaitReady("older")
	n.put("a.yaml", pod("newer", "containers:", run1("main", serve, hostPort(port, ", hostIP: 127.0.0.1"))))
	refused := n.awaitPod("newer", "to be refused", inPhase(v1.PodFailed))
	if s := refused.Status; s.Reason != "NodePorts" || !strings.Contains(s.Message, n.full("older")) {
		t.Errorf("refused as %s: %s", s.Reason, s.Message)
	}
	if boxes := n.boxes("newer"); len(boxes) != 0 {
		t.Errorf("a refused pod has containers: %v", boxes)
	}
	n.drop("b.yaml")
	n.awaitReady("newer")
	n.awaitServed(port, "1")
}

// B124: a host IP is the only address that answers.
func TestAHostIPIsTheOnlyAddress(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	port := freePort(t)
	n.put("wheel.yaml", pod("wheel", "containers:", run1("main", serve, hostPort(port, ", hostIP: 127.0.0.1"))))
	n.awaitReady("wheel")
	n.awaitServed(port, "1")
	addresses, err := net.InterfaceAddrs()
	n.must(err)
	for _, address := range addresses {
		ip := address.(*net.IPNet).IP
		if ip.To4() == nil || ip.IsLoopback() {
			continue
		}
		if text, err := dial(fmt.Sprintf("%s:%d", ip, port)); err == nil {
			t.Errorf("%s answers too: %q", ip, text)
		}
	}
}

// B125: UDP and TCP may have one number.
func TestUDPAndTCPShareANumber(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	port := freePort(t)
	ports := fmt.Sprintf("ports: [{containerPort: 80, hostPort: %[1]d}, {containerPort: 53, protocol: UDP, hostPort: %[1]d}]", port)
	n.put("names.yaml", pod("names", "containers:", run1("main", serve, ports)))
	n.awaitReady("names")
	n.awaitServed(port, "1")
	if l, err := net.ListenUDP("udp", &net.UDPAddr{Port: port}); err == nil {
		l.Close()
		t.Error("nobody has the UDP port")
	}
	bound := n.inspect(n.box("names", "POD").ID).NetworkSettings.Ports
	if len(bound["80/tcp"]) == 0 || len(bound["53/udp"]) == 0 {
		t.Errorf("the engine has bound %v", bound)
	}
}

// B131: names of pods and containers that run together, or are the same, are
// different containers.
func TestNamesDoNotCollide(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	for name, container := range map[string]string{"web": "web", "a-b": "c", "a": "b-c"} {
		n.put(name+".yaml", pod(name, "containers:", run1(container, idle)))
	}
	for _, name := range []string{"web", "a-b", "a"} {
		n.awaitReady(name)
	}
	if boxes := n.boxes(""); len(boxes) != 6 {
		t.Errorf("three pods of one container are %d containers: %v", len(boxes), boxes)
	}
}

// freePort is a port of this host that nobody has.
func freePort(t *testing.T) int {
	t.Helper()
	port, err := rig.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// awaitServed waits until a pod that runs serve in an image of this version
// answers on a port of the host.
func (n *node) awaitServed(port int, version string) {
	n.Helper()
	n.await(fmt.Sprintf("version %s on port %d", version, port), func() error {
		text, err := dial(fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil && strings.TrimSpace(text) != version {
			err = fmt.Errorf("it says %q", text)
		}
		return err
	})
}

// dial reads all that comes over a TCP connection.
func dial(address string) (string, error) {
	conn, err := net.DialTimeout("tcp", address, time.Second)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
		return "", err
	}
	text, err := io.ReadAll(conn)
	return string(text), err
}
