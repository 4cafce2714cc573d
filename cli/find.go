package cli

import (
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
)

// WrittenName is the pod's name as its manifest has it: without the node's name.
func WrittenName(pod *v1.Pod) string {
	return strings.TrimSuffix(pod.Name, "-"+strings.ToLower(pod.Spec.NodeName))
}

// podNamed reports whether name means the pod: its full name or its name as
// written, with or without the pod/ that -o name prints.
func podNamed(pod *v1.Pod, name string) bool {
	_, bare, ok := strings.Cut(name, "/")
	if !ok {
		bare = name
	}
	return pod.Name == bare || WrittenName(pod) == bare
}

// selectPods returns the pods of a namespace ("" for all) that are named, or all
// of it when no name is given. A name that nobody bears is an error that says
// where to look.
func selectPods(pods []v1.Pod, namespace string, names []string) ([]v1.Pod, error) {
	var here []v1.Pod
	for _, p := range pods {
		if namespace == "" || p.Namespace == namespace {
			here = append(here, p)
		}
	}
	if len(names) == 0 {
		return here, nil
	}
	var found []v1.Pod
	for _, name := range names {
		matching := slices.DeleteFunc(slices.Clone(here), func(p v1.Pod) bool { return !podNamed(&p, name) })
		if len(matching) == 0 {
			return nil, notFound(pods, namespace, name)
		}
		found = append(found, matching...)
	}
	return found, nil
}

// serving is of several versions of a pod the one that is ready, else one that
// runs, of these one that is not to go, else the first that is not to go.
func serving(pods []v1.Pod) *v1.Pod {
	runs := func(p *v1.Pod) bool { return p.Status.Phase == v1.PodRunning }
	stays := func(p *v1.Pod) bool { return p.DeletionTimestamp == nil }
	for _, good := range []func(*v1.Pod) bool{Ready, func(p *v1.Pod) bool { return runs(p) && stays(p) }, runs, stays} {
		for i := range pods {
			if good(&pods[i]) {
				return &pods[i]
			}
		}
	}
	return &pods[0]
}

// notFound says what there is instead.
func notFound(pods []v1.Pod, namespace, name string) error {
	where := "in any namespace"
	if namespace != "" {
		where = "in namespace " + namespace
	}
	var elsewhere, near []string
	for i := range pods {
		p := &pods[i]
		switch {
		case podNamed(p, name):
			elsewhere = append(elsewhere, fmt.Sprintf("-n %s", p.Namespace))
		case namespace == "" || p.Namespace == namespace:
			if resembles(WrittenName(p), name) {
				near = append(near, WrittenName(p))
			}
		}
	}
	switch {
	case len(elsewhere) > 0:
		return fmt.Errorf("no pod %q %s; there is one elsewhere: try %s", name, where, strings.Join(elsewhere, " or "))
	case len(near) > 0:
		return fmt.Errorf("no pod %q %s; did you mean %s?", name, where, strings.Join(near, ", "))
	}
	return fmt.Errorf("no pod %q %s; `podstead get pods -A` lists them all, `podstead get sources` what is wrong with manifests", name, where)
}

// resembles reports whether two names are near: one begins with or holds the
// other, or at most two letters differ.
func resembles(a, b string) bool {
	return strings.Contains(a, b) || strings.Contains(b, a) || distance(a, b) <= 2
}

// distance is how many letters must be put in, taken out or changed.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
