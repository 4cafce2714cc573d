package cli

import (
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/agent/status"
)

// podGoal is a condition of the pod of a name, or with "" of all pods.
func podGoal(cond condition, namespace, name string) goal {
	return goal{kind: "pod", name: name, judge: func(w sight) verdict {
		var here []v1.Pod
		for i := range w.pods {
			if p := &w.pods[i]; (namespace == "" || p.Namespace == namespace) && (name == "" || podNamed(p, name)) {
				here = append(here, *p)
			}
		}
		switch {
		case cond.word == "gone":
			return absence(here)
		case len(here) == 0 && name == "":
			return verdict{why: "there are no pods; `podstead get sources` shows where manifests are expected"}
		case len(here) == 0:
			return verdict{why: notFound(w.pods, namespace, name).Error()}
		}
		judge := readiness
		if cond.word == "running" {
			judge = runs
		}
		return judgeAll(here, judge, name == "")
	}}
}

// absence is met when nothing is there.
func absence(here []v1.Pod) verdict {
	if len(here) == 0 {
		return verdict{met: true}
	}
	var words []string
	for i := range here {
		words = append(words, here[i].Name+" is still there: "+why(&here[i]))
	}
	return verdict{why: strings.Join(words, "; ")}
}

// judgeAll is met when every pod meets it that is not on its way out. Of two
// versions of a pod both must, for the older is about to go. What succeeded counts
// as done if all pods are asked for.
func judgeAll(here []v1.Pod, judge func(*v1.Pod) verdict, all bool) verdict {
	v := verdict{met: true, never: true}
	var open []string
	stays := false
	for i := range here {
		p := &here[i]
		if p.DeletionTimestamp != nil {
			continue
		}
		stays = true
		one := judge(p)
		if one.met || all && p.Status.Phase == v1.PodSucceeded {
			v.never = false
		} else {
			v.met = false
			v.never = v.never && one.never || all && one.never
			open = append(open, p.Name+": "+one.why)
		}
		if all {
			v.names = append(v.names, p.Name)
		}
	}
	if !stays {
		return verdict{why: "it is on its way out; `podstead get events` says why"}
	}
	if len(open) == 1 && !all {
		_, open[0], _ = strings.Cut(open[0], ": ")
	}
	v.why = strings.Join(open, "; ")
	v.never = v.never && !v.met
	return v
}

// readiness is met by a pod that is Ready.
func readiness(p *v1.Pod) verdict {
	switch {
	case Ready(p):
		return verdict{met: true}
	case ended(p):
		return verdict{never: true, why: "it can never be ready: " + endWords(p)}
	}
	return verdict{why: notReadyWords(p)}
}

// runs is met by a pod all of whose containers run.
func runs(p *v1.Pod) verdict {
	if ended(p) {
		return verdict{never: true, why: "it can never run: " + endWords(p)}
	}
	for _, s := range p.Status.ContainerStatuses {
		if s.State.Running == nil {
			return verdict{why: why(p)}
		}
	}
	if p.Status.Phase != v1.PodRunning {
		return verdict{why: why(p)}
	}
	return verdict{met: true}
}

func ended(p *v1.Pod) bool {
	return p.Status.Phase == v1.PodSucceeded || p.Status.Phase == v1.PodFailed
}

// endWords says how a pod came to its end.
func endWords(p *v1.Pod) string {
	text := "it has " + strings.ToLower(string(p.Status.Phase))
	if message := Explanation(p); message != "" {
		text += " (" + message + ")"
	}
	return text
}

// notReadyWords says why a pod is not ready: what its status is, or else what the
// condition says.
func notReadyWords(p *v1.Pod) string {
	word, _, _, _, _ := status.Reason(p)
	if Explanation(p) != "" || word != string(v1.PodRunning) {
		return why(p)
	}
	for _, c := range p.Status.Conditions {
		if c.Type == v1.PodReady && c.Message != "" {
			return fmt.Sprintf("%s: %s", word, c.Message)
		}
	}
	return word
}
