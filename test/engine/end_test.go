//go:build e2e

package engine

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/test/rig"
)

// settles waits for the one good end: these pods run, whole and once, nothing
// else of the node does, and all that can be asked agrees on it. It returns what
// podstead tells of them, by name as written.
func (a *agent) settles(what string, want ...web) map[string]v1.Pod {
	a.t.Helper()
	var shown map[string]v1.Pod
	until(a.t, what, func() (err error) {
		shown, err = a.settled(want)
		return err
	})
	return shown
}

// settled asks what costs little first: it is asked again and again.
func (a *agent) settled(want []web) (map[string]v1.Pod, error) {
	a.works()
	if err := a.processesAre(want); err != nil {
		return nil, err
	}
	boxes, err := a.engine.ps(a.node)
	if err != nil {
		return nil, err
	}
	if len(boxes) < len(want) || len(want) == 0 && len(boxes) > 0 {
		return nil, fmt.Errorf("containers %v", boxes)
	}
	code, h := a.status()
	if code != 0 {
		return nil, fmt.Errorf("status says %d: %v", code, h.Problems)
	}
	shown := map[string]v1.Pod{}
	for _, p := range h.Pods {
		shown[strings.TrimSuffix(p.Name, "-"+a.node)] = p
	}
	if len(shown) != len(want) {
		return nil, fmt.Errorf("%d pods are shown, want %d", len(shown), len(want))
	}
	if boxes, err = a.engine.ps(a.node); err != nil {
		return nil, err
	}
	for _, w := range want {
		p, ok := shown[w.name]
		if !ok {
			return nil, fmt.Errorf("pod %s is not shown", w.name)
		}
		mine := slices.DeleteFunc(slices.Clone(boxes), func(b rig.Box) bool { return b.UID() != string(p.UID) })
		boxes = slices.DeleteFunc(boxes, func(b rig.Box) bool { return b.UID() == string(p.UID) })
		if err := errors.Join(a.whole(w, p, mine), w.serves(), a.sees(w)); err != nil {
			return nil, err
		}
	}
	if len(boxes) > 0 {
		return nil, fmt.Errorf("containers that belong to none: %v", boxes)
	}
	return shown, errors.Join(a.processesAre(want), a.recordsAre(shown))
}

// whole compares what podstead shows of a pod with what the engine has of it:
// of each container one that runs, the one that is shown, and at most one dead
// one, kept for its log or for why it could not be started.
func (a *agent) whole(w web, p v1.Pod, boxes []rig.Box) error {
	running, dead := map[string]int{}, map[string]int{}
	for _, b := range boxes {
		switch {
		case b.State == "running":
			running[b.Container()]++
		case b.State == "exited", b.State == "created" && a.engine.failed(b.ID):
			dead[b.Container()]++
		default:
			return fmt.Errorf("pod %s has %s", w.name, b)
		}
	}
	if want := map[string]int{rig.Pause: 1, app: 1, site: 1}; !maps.Equal(running, want) {
		return fmt.Errorf("of pod %s run %v, want %v", w.name, running, want)
	}
	for name, n := range dead {
		if n > 1 {
			return fmt.Errorf("pod %s has %d dead instances of %s", w.name, n, name)
		}
	}
	for _, c := range p.Status.ContainerStatuses {
		runs := slices.ContainsFunc(boxes, func(b rig.Box) bool {
			return b.State == "running" && strings.HasSuffix(c.ContainerID, b.ID) && b.Container() == c.Name
		})
		if want := fmt.Sprint("podstead-test/busybox:", w.version); !runs || c.Image != want {
			return fmt.Errorf("pod %s shows %s as %s of %s, which is not what runs", w.name, c.Name, c.ContainerID, c.Image)
		}
	}
	return nil
}

// serves asks the site on its host port.
func (w web) serves() error {
	if w.port == 0 {
		return nil
	}
	c := http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := c.Get(fmt.Sprintf("http://127.0.0.1:%d/version", w.port))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if text, err := io.ReadAll(resp.Body); err != nil || strings.TrimSpace(string(text)) != fmt.Sprint(w.version) {
		return fmt.Errorf("port %d serves version %q, %w; want %d", w.port, text, err, w.version)
	}
	return nil
}

// sees looks for the ConfigMap's value in the environment of the app's process.
func (a *agent) sees(w web) error {
	for _, pid := range a.pids()[w.mark(a, app)] {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if err != nil {
			return err
		}
		if w.conf != "" && !slices.Contains(strings.Split(string(text), "\x00"), "CONF="+w.conf) {
			return fmt.Errorf("the app of %s does not see %s", w.name, w.conf)
		}
	}
	return nil
}

// processesAre looks for the marks of this node's containers in /proc.
func (a *agent) processesAre(pods []web) error {
	want := map[string]int{}
	for _, w := range pods {
		want[w.mark(a, app)], want[w.mark(a, site)] = 1, 1
	}
	got := map[string]int{}
	for mark, pids := range a.pids() {
		got[mark] = len(pids)
	}
	if !maps.Equal(got, want) {
		return fmt.Errorf("processes %v, want %v", got, want)
	}
	return nil
}

// pids are the processes that bear a mark of this node, by mark.
func (a *agent) pids() map[string][]int {
	found := map[string][]int{}
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline") // the pattern is good
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // ended meanwhile
		}
		args := strings.Split(strings.TrimRight(string(text), "\x00"), "\x00")
		if mark := args[len(args)-1]; strings.HasPrefix(mark, a.node+"_") {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file))) // a number by the pattern
			found[mark] = append(found[mark], pid)
		}
	}
	return found
}

// recordsAre compares the pod directories with the pods that are shown.
func (a *agent) recordsAre(shown map[string]v1.Pod) error {
	entries, err := os.ReadDir(filepath.Join(a.root, "pods"))
	if err != nil && !absent(filepath.Join(a.root, "pods")) {
		return err
	}
	var got, want []string
	for _, entry := range entries {
		got = append(got, entry.Name())
	}
	for _, p := range shown {
		want = append(want, string(p.UID))
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		return fmt.Errorf("records %v, want %v", got, want)
	}
	return nil
}

// restarts is the larger of the restart counts of a pod's containers.
func restarts(p v1.Pod) int {
	n := 0
	for _, c := range p.Status.ContainerStatuses {
		n = max(n, int(c.RestartCount))
	}
	return n
}

// finish removes all manifests and waits until nothing of the node is left;
// then the agent ends.
func (a *agent) finish() {
	a.t.Helper()
	files, err := filepath.Glob(filepath.Join(a.manifests, "*.yaml"))
	must(a.t, err)
	for _, file := range files {
		must(a.t, os.Remove(file))
	}
	a.settles("nothing is left")
	a.stop()
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	must(a.t, err)
	if strings.Contains(string(mounts), " "+a.root+"/") {
		a.t.Errorf("mounts are left below %s:\n%s", a.root, mounts)
	}
}
