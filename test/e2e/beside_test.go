//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/test/rig"
)

// stranger runs a container that is not podstead's, whatever it bears, until the
// test ends, and then checks that nobody has touched it.
func (n *node) stranger(name, image string, labels map[string]string) {
	n.Helper()
	id, err := n.engine.create(name, map[string]any{"Image": image, "Labels": labels, "Entrypoint": []string{"sleep", "1000000"}, "Cmd": []string{}, "StopSignal": "SIGKILL"})
	n.must(err)
	n.Cleanup(func() {
		if err := n.engine.remove(id); err != nil {
			n.Error(err)
		}
	})
	n.must(n.engine.Start(context.Background(), id))
	before := n.inspect(id)
	n.Cleanup(func() {
		after, err := n.engine.inspect(id)
		if err != nil || after.State != before.State || after.Name != before.Name {
			n.Errorf("stranger %s was %s %+v and is %s %+v, %v", name, before.Name, before.State, after.Name, after.State, err)
		}
	})
}

// labelsOf are those of one of our containers, all of them.
func (n *node) labelsOf(id string) map[string]string {
	n.Helper()
	labels := map[string]string{}
	for key, value := range n.inspect(id).Config["Labels"].(map[string]any) {
		labels[key] = value.(string)
	}
	return labels
}

// but is a copy of labels with others among them; empty ones are left out.
func but(labels map[string]string, others ...string) map[string]string {
	all := maps.Clone(labels)
	for i := 0; i < len(others); i += 2 {
		all[others[i]] = others[i+1]
		if others[i+1] == "" {
			delete(all, others[i])
		}
	}
	return all
}

// Containers of others are neither adopted nor ended nor removed, whatever labels
// and names they bear: ours, half of ours, a kubelet's, Compose's, or those of an
// image that was made of one of our containers.
func TestStrangersAreLeftAlone(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	n.put("lamp.yaml", lamp("lamp"))
	p := n.awaitReady("lamp")
	before := containerID(status(p, "main"))
	ours := n.labelsOf(before)
	me := fmt.Sprint(os.Getpid())
	image := n.commit(before, "podstead-test/committed:"+me)

	ghost := "ghost-" + n.name
	n.stranger("brave-"+me, image1, ours)
	n.stranger("of-our-image-"+me, image, nil)
	n.stranger("k8s_main_"+ghost+"_default_u1_0", image1, but(ours, rig.LabelNodeID, "fedcba9876543210", rig.LabelPod, ghost, rig.LabelUID, "u1"))
	n.stranger("half-"+me, image1, map[string]string{rig.LabelNodeID: ours[rig.LabelNodeID]})
	n.stranger("k8s_main_"+ghost+"_default_u2_0", image1, but(ours, rig.LabelNodeID, "", rig.LabelPod, ghost, rig.LabelUID, "u2"))
	kubelets := map[string]string{
		rig.LabelPod: "etcd-" + n.name, "io.kubernetes.pod.namespace": "kube-system", rig.LabelUID: "u3",
		rig.LabelContainer: "POD", "io.kubernetes.docker.type": "podsandbox",
	}
	n.stranger("k8s_POD_etcd-"+n.name+"_kube-system_u3_0", image1, kubelets)
	n.stranger("k8s_etcd_etcd-"+n.name+"_kube-system_u3_0", image1, but(kubelets, rig.LabelContainer, "etcd", "io.kubernetes.docker.type", "container"))
	n.stranger("shop"+me+"_web_1", image1, map[string]string{"com.docker.compose.project": "shop" + me, "com.docker.compose.service": "web", "com.docker.compose.oneoff": "False"})

	// Everything that looks at what there is, and ends or removes.
	for range 2 {
		n.stop()
		n.start()
		if now := n.awaitReady("lamp"); containerID(status(now, "main")) != before || status(now, "main").RestartCount != 0 {
			t.Errorf("the pod did not stay: %s", describe(now))
		}
	}
	if all, err := n.client.Pods(context.Background()); err != nil || len(all) != 1 {
		t.Errorf("%d pods are shown, %v", len(all), err)
	}
	n.drop("lamp.yaml")
	n.await("the pod to be gone", func() error { return n.gone(before) })
	// The image that carries our labels makes a pod like any other.
	n.put("lamp.yaml", pod("lamp", "containers:", runIn(image, "main", idle)))
	again := n.awaitReady("lamp")
	n.drop("lamp.yaml")
	n.await("the pod to be gone", func() error { return n.gone(containerID(status(again, "main"))) })
}

// gone is nil once the engine has no such container.
func (n *node) gone(id string) error {
	if d, err := n.engine.inspect(id); err == nil {
		return fmt.Errorf("%s is %s", d.Name, d.State.Status)
	}
	return nil
}

// commit makes an image of a container, labels and all, for as long as the test.
func (n *node) commit(container, name string) string {
	n.Helper()
	n.dockerCLI("commit", "--pause=false", container, name)
	n.Cleanup(func() { n.dockerCLI("rmi", "-f", name) })
	return name
}

func (n *node) dockerCLI(words ...string) string {
	n.Helper()
	out, err := exec.Command("docker", words...).CombinedOutput()
	if err != nil {
		n.Errorf("docker %s: %v\n%s", strings.Join(words, " "), err, out)
	}
	return string(out)
}

// A sandbox that somebody removes by force is made again, with all that was in it.
func TestARemovedSandboxIsReplaced(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	n.put("pair.yaml", pod("pair", "containers:", run1("one", idle), run1("two", idle)))
	n.awaitReady("pair")
	n.must(n.engine.remove(n.box("pair", "POD").ID))
	n.awaitPod("pair", "to run in another sandbox", func(p v1.Pod) bool { return restarted("one", 1)(p) && restarted("two", 1)(p) })
	if boxes := n.boxes("pair"); len(boxes) < 3 {
		t.Errorf("left: %v", boxes)
	}
}

// B157: a stranger that bears the next name of a sandbox keeps it, and that is told.
func TestAStrangerKeepsTheNameOfASandbox(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	n.put("lamp.yaml", lamp("lamp"))
	p := n.awaitReady("lamp")
	name := fmt.Sprintf("k8s_POD_%s_default_%s_1", p.Name, p.UID)
	n.stranger(name, image1, nil)
	n.kill("lamp", "POD")
	n.awaitPod("lamp", "to run in another sandbox", restarted("main", 1))
	if ours := n.box("lamp", "POD").Name(); !strings.HasPrefix(ours, name+"_") {
		t.Errorf("our sandbox is called %s", ours)
	}
	if told := n.events("lamp", "ContainerNameTaken"); len(told) != 1 || !strings.Contains(told[0].Message, name) {
		t.Errorf("told %+v", told)
	}
}

// Two agents of one node name, with root-dirs of their own, are two nodes: pods of
// the same names and UIDs run beside each other, and each agent ends its own.
func TestTwoAgentsOfOneName(t *testing.T) {
	t.Parallel()
	one, two := newNode(t), newNodeOn(t, rig.Socket, "")
	one.put("lamp.yaml", lamp("lamp"))
	one.start()
	first := one.awaitReady("lamp") // before the second looks who else is there
	two.put("lamp.yaml", lamp("lamp"))
	two.start()
	second := two.awaitReady("lamp")
	if first.UID != second.UID {
		t.Errorf("UIDs %s and %s: is this still the case that the test is about?", first.UID, second.UID)
	}
	two.drop("lamp.yaml")
	two.await("the second's pod to be gone", func() error { return two.gone(containerID(status(second, "main"))) })
	one.stop()
	one.start()
	now := one.awaitReady("lamp")
	if containerID(status(now, "main")) != containerID(status(first, "main")) || status(now, "main").RestartCount != 0 {
		t.Errorf("the first's pod did not stay: %s", describe(now))
	}
	two.await("the first's pods to be told", func() error {
		if o := two.run("get", "events"); !strings.Contains(o.out, "NodeNameShared") {
			return fmt.Errorf("no event: %s%s", o.out, o.err)
		}
		return nil
	})
}

// Compose brings a project up and takes it down beside a pod, whose image it has
// built: each leaves the other's containers alone.
func TestComposeBesideAPod(t *testing.T) {
	t.Parallel()
	compose, err := composeCommand()
	if err != nil {
		t.Skip(err)
	}
	n := startNode(t)
	me := fmt.Sprint(os.Getpid())
	project := "podstead" + me
	n.put("seed.yaml", lamp("seed"))
	seed := containerID(status(n.awaitReady("seed"), "main"))
	image := "podstead-test/composed:" + me
	n.dockerCLI("commit", "--pause=false", "--change", "LABEL com.docker.compose.project="+project, seed, image)
	t.Cleanup(func() { n.dockerCLI("rmi", "-f", image) })

	file := filepath.Join(n.folder("compose"), "docker-compose.yml")
	n.must(os.WriteFile(file, []byte("version: '3'\nservices:\n  web:\n    image: "+image1+"\n    command: [sleep, '1000000']\n    stop_signal: SIGKILL\n"), 0o600))
	run := func(words ...string) {
		t.Helper()
		words = append(append(compose, "-p", project, "-f", file), words...)
		if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", words, err, out)
		}
	}
	n.put("lamp.yaml", pod("lamp", "containers:", runIn(image, "main", idle)))
	before := n.awaitReady("lamp")
	run("up", "-d")
	t.Cleanup(func() { run("down", "-t", "0") })
	n.stop()
	n.start()
	n.drop("seed.yaml")
	n.awaitGone("seed")
	if web := n.dockerCLI("ps", "-q", "--filter", "label=com.docker.compose.project="+project); len(strings.Fields(web)) != 1 {
		t.Errorf("of the project these run: %s", web)
	}
	run("down", "--remove-orphans", "-t", "0")
	after := n.awaitReady("lamp")
	if containerID(status(after, "main")) != containerID(status(before, "main")) || status(after, "main").RestartCount != 0 {
		t.Errorf("the pod did not stay: %s", describe(after))
	}
}

// composeCommand is either of the two programs of that name.
func composeCommand() ([]string, error) {
	if exec.Command("docker", "compose", "version").Run() == nil {
		return []string{"docker", "compose"}, nil
	}
	if path, err := exec.LookPath("docker-compose"); err == nil {
		return []string{path}, nil
	}
	return nil, fmt.Errorf("neither docker compose nor docker-compose is installed")
}
