//go:build e2e

package e2e

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/test/rig"
)

// forwarding is a `podstead port-forward` under way.
type forwarding struct {
	*node
	process *rig.Process
	log     string
}

// forward runs `podstead port-forward` until it listens.
func (n *node) forward(args ...string) *forwarding {
	n.Helper()
	f := &forwarding{node: n, log: filepath.Join(n.dir, fmt.Sprintf("forward-%d.log", time.Now().UnixNano()))}
	cmd := exec.Command(program, append([]string{"port-forward", "--root-dir", n.root}, args...)...)
	cmd.Env = environment()
	var err error
	f.process, err = rig.Start(cmd, f.log)
	n.must(err)
	n.Cleanup(func() {
		_ = f.process.Signal(syscall.SIGKILL) // it may have ended
		<-f.process.Ended()
	})
	n.await("it to listen", func() error {
		if text := n.read(f.log); !strings.Contains(text, "Forwarding from 127.0.0.1:") {
			return errors.New(text)
		}
		return nil
	})
	return f
}

// local is the local address that is carried to a port of the pod.
func (f *forwarding) local(remote int) string {
	f.Helper()
	found := regexp.MustCompile(fmt.Sprintf(`Forwarding from (127\.0\.0\.1:\d+) -> %d\n`, remote)).FindStringSubmatch(f.read(f.log))
	if found == nil {
		f.Fatalf("nothing is carried to %d:\n%s", remote, f.read(f.log))
	}
	return found[1]
}

// says waits until it has written something.
func (f *forwarding) says(words string) {
	f.Helper()
	f.await("it to say "+words, func() error {
		if text := f.read(f.log); !strings.Contains(text, words) {
			return errors.New(text)
		}
		return nil
	})
}

// web is a pod whose server can be reached on its loopback address alone.
func web(name, port string, more ...string) string {
	script := "mkdir /www && echo hello >/www/index.html && head -c 5000000 /dev/zero >/www/big && exec httpd -f -p 127.0.0.1:" + port + " -h /www"
	return pod(name, append(more, "containers:", run1("main", script))...)
}

// get asks over HTTP, on a connection of its own.
func get(url string) (string, error) {
	client := http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get(url)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = errors.New(resp.Status)
	}
	return string(body), err
}

func (f *forwarding) wantHello(remote int) {
	f.Helper()
	f.await("an answer", func() error {
		text, err := get("http://" + f.local(remote) + "/")
		if err == nil && text != "hello\n" {
			err = fmt.Errorf("answer %q", text)
		}
		return err
	})
}

// A port is carried though its server listens on the pod's loopback address only,
// and one that refuses ends nothing.
func TestPortsAreForwarded(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	n.put("web.yaml", web("web", "80"))
	n.awaitReady("web")
	f := n.forward("web", ":80", ":81")
	f.wantHello(80)
	if text, err := get("http://" + f.local(80) + "/big"); err != nil || len(text) != 5_000_000 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	if _, err := get("http://" + f.local(81) + "/"); err == nil {
		t.Error("a port answers that nobody listens on")
	}
	f.says("-> 81: connection refused in pod default/" + n.full("web") + " on port 81")
	f.wantHello(80)
	n.threadsAreOurs()
	if took, err := f.process.End(syscall.SIGINT, patience); err != nil || took > 5*time.Second {
		t.Errorf("it ended after %s with %v", took, err)
	}
}

// threadsAreOurs checks that no thread of the agent has stayed in a pod's network.
func (n *node) threadsAreOurs() {
	n.Helper()
	n.await("the agent's threads to be in one network", func() error {
		tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/ns/net", n.agent.PID()))
		n.must(err)
		home, err := os.Readlink("/proc/self/ns/net")
		n.must(err)
		for _, task := range tasks {
			if where, err := os.Readlink(task); err == nil && where != home {
				return fmt.Errorf("%s is in %s", task, where)
			}
		}
		return nil
	})
}

func TestPortsOfTheHostsNetworkAreForwarded(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	port, err := rig.FreePort()
	n.must(err)
	n.put("web.yaml", web("web", strconv.Itoa(port), "hostNetwork: true"))
	n.awaitReady("web")
	n.forward("web", ":"+strconv.Itoa(port)).wantHello(port)
}

// A client that has said all hears the whole answer, and the reverse.
func TestForwardedConnectionsEndOneDirectionAtATime(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	n.put("echo.yaml", pod("echo", "containers:",
		run1("main", "while :; do nc -l -p 7 -e cat; done"), run1("side", "until echo bye | nc -l -p 8 >/tmp/heard; do :; done; exec sleep 100000")))
	n.awaitReady("echo")
	f := n.forward("echo", ":7", ":8")
	data := make([]byte, 3<<20)
	_, err := rand.Read(data)
	n.must(err)
	n.await("the echo", func() error {
		got, err := talk(f.local(7), data)
		if err == nil && !bytes.Equal(got, data) {
			err = fmt.Errorf("%d bytes came back", len(got))
		}
		return err
	})
	n.await("a good-bye", func() error {
		got, err := talk(f.local(8), data)
		if err == nil && string(got) != "bye\n" {
			err = fmt.Errorf("heard %q", got) // it may not listen yet
		}
		return err
	})
	n.await("all to be heard after the good-bye", func() error {
		heard := filepath.Join(n.dir, "heard")
		if o := n.run("cp", "echo:/tmp/heard", heard, "-c", "side"); o.code != 0 {
			return errors.New(o.err)
		}
		if text := n.read(heard); text != string(data) {
			return fmt.Errorf("%d of %d bytes", len(text), len(data))
		}
		return nil
	})
}

// talk says all, ends its side, and listens to the end.
func talk(address string, data []byte) ([]byte, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	said := make(chan error, 1)
	go func() {
		_, err := conn.Write(data)
		said <- errors.Join(err, conn.(*net.TCPConn).CloseWrite())
	}()
	got, err := io.ReadAll(conn)
	return got, errors.Join(err, <-said)
}

// kubectl stays when the pod is gone; here the reason is told.
func TestForwardingEndsWithItsPod(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	n.put("web.yaml", web("web", "80"))
	n.awaitReady("web")
	f := n.forward("web", ":80")
	f.wantHello(80)
	n.put("web.yaml", web("web", "8080"))
	<-f.process.Ended()
	f.says("pod " + n.full("web") + " has been replaced: Stopping container main")
	if f.process.Err() == nil {
		t.Error("it ends as if all were well")
	}

	n.awaitReady("web")
	f = n.forward("web", ":8080")
	f.wantHello(8080)
	n.drop("web.yaml")
	<-f.process.Ended()
	f.says("pod " + n.full("web") + " is gone")
}

// Files come and go without a tar in the image, while a container runs and after.
func TestFilesAreCopied(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	n.put("job.yaml", pod("job", "restartPolicy: Never", "containers:",
		run1("main", "mkdir -p /out/d && echo 42 >/out/d/result && chmod 640 /out/d/result && ln -s result /out/d/link && ln -s /etc/passwd /out/d/abs", "securityContext: {runAsUser: 0}")))
	n.put("web.yaml", pod("web", "volumes:", "- {name: v, emptyDir: {}}", "containers:",
		run1("main", idle, mount("v", "/data"), "workingDir: /data", "securityContext: {runAsUser: 1234, runAsGroup: 5678, readOnlyRootFilesystem: true}")))
	n.awaitReady("web")
	n.awaitPod("job", "to end", func(p v1.Pod) bool { return p.Status.Phase == v1.PodSucceeded })
	local := n.folder("local")

	o := n.run("cp", "job:/out/d", local)
	if o.code != 0 || !strings.Contains(o.err, "left out abs: it is a link to /etc/passwd") {
		t.Errorf("code %d\n%s", o.code, o.err)
	}
	info, err := os.Stat(filepath.Join(local, "d", "result"))
	if err != nil || info.Mode() != 0o640 || n.read(filepath.Join(local, "d", "link")) != "42\n" {
		t.Errorf("%v, %v", info, err)
	}

	if o := n.run("cp", filepath.Join(local, "d"), "web:/data"); o.code != 0 {
		t.Errorf("code %d\n%s", o.code, o.err)
	}
	if o := n.run("cp", "web:d/result", filepath.Join(local, "back")); o.code != 0 || n.read(filepath.Join(local, "back")) != "42\n" {
		t.Errorf("code %d\n%s", o.code, o.err)
	}
	var made syscall.Stat_t
	n.must(syscall.Stat(fmt.Sprintf("/proc/%d/root/data/d/result", n.inspect(n.box("web", "main").ID).State.Pid), &made))
	if made.Uid != 1234 || made.Gid != 5678 || made.Mode&0o777 != 0o640 {
		t.Errorf("the file is of %d:%d, mode %o", made.Uid, made.Gid, made.Mode)
	}
	if o := n.run("cp", filepath.Join(local, "back"), "web:/tmp"); o.code != 1 || !strings.Contains(o.err, "read-only file system: only below /data") {
		t.Errorf("code %d\n%s", o.code, o.err)
	}
	if o := n.run("cp", filepath.Join(local, "back"), "job:/after"); o.code != 0 {
		t.Errorf("code %d\n%s", o.code, o.err)
	}
	if o := n.run("cp", "job:/after", "-"); o.code != 0 || !strings.Contains(o.out, "42\n") {
		t.Errorf("code %d\n%s", o.code, o.err)
	}
}

// What a container uses is what its control group says: a busy loop that may have
// a fifth of a core has about that, and what is written to memory counts.
func TestTopShowsWhatIsUsed(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	n.put("busy.yaml", pod("busy", "volumes:", "- {name: m, emptyDir: {medium: Memory}}", "containers:",
		run1("loop", "while :; do :; done", "resources: {limits: {cpu: 200m}}"),
		run1("big", "head -c 40000000 /dev/zero >/m/x && exec sleep 100000", mount("m", "/m"), "resources: {limits: {memory: 200Mi}}")))
	n.awaitReady("busy")
	n.await("what was written to count", func() error {
		o := n.run("top", "pods", "busy", "--containers", "--no-headers")
		loop := regexp.MustCompile(`loop +(\d+)m`).FindStringSubmatch(o.out)
		big := regexp.MustCompile(`big +\d+m +(\d+)Mi`).FindStringSubmatch(o.out)
		if o.code != 0 || loop == nil || big == nil {
			return fmt.Errorf("code %d\n%s%s", o.code, o.out, o.err)
		}
		cpu, _ := strconv.Atoi(loop[1])
		memory, _ := strconv.Atoi(big[1])
		if cpu == 0 || cpu > 260 || memory < 38 || memory > 60 {
			return errors.New(o.out)
		}
		return nil
	})
	s, err := n.client.Stats(n.Context())
	n.must(err)
	if len(s.Pods) != 1 || s.Pods[0].Network == nil || s.Pods[0].Network.Name != "eth0" || s.Node.NodeName != n.name {
		t.Errorf("%+v", s)
	}
	for _, c := range s.Pods[0].Containers {
		if limited := c.Memory.AvailableBytes != nil; limited != (c.Name == "big") {
			t.Errorf("%s: %v bytes are left", c.Name, c.Memory.AvailableBytes)
		}
	}
}
