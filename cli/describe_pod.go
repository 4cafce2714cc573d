package cli

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/agent/api"
	"github.com/podstead/podstead/agent/status"
	"github.com/podstead/podstead/manifests"
)

// podDescription is all that one pod's description is made from.
type podDescription struct {
	pod      *v1.Pod
	versions []v1.Pod    // others of its name: what it replaces, or what is to replace it
	source   *api.Source // nil when it is not known
	events   []v1.Event
	now      time.Time
}

// setSource finds the source that the pod comes from.
func (d *podDescription) setSource(all []api.Source) {
	i := slices.IndexFunc(all, func(s api.Source) bool { return s.Name == d.pod.Annotations[manifests.AnnotationSource] })
	if i >= 0 {
		d.source = &all[i]
	}
}

func (d *podDescription) print(p page) {
	d.printIdentity(p)
	d.printStatus(p)
	d.printOrigin(p)
	if list := d.pod.Spec.InitContainers; len(list) > 0 {
		p.head(0, "Init Containers")
		printContainers(p, d.pod, list, d.pod.Status.InitContainerStatuses)
	}
	p.head(0, "Containers")
	printContainers(p, d.pod, d.pod.Spec.Containers, d.pod.Status.ContainerStatuses)
	d.printConditions(p)
	printVolumes(p, d.pod.Spec.Volumes)
	p.line(0, "QoS Class", cmp.Or(string(d.pod.Status.QOSClass), "<unknown>"))
	p.pairs(0, "Node-Selectors", "=", d.pod.Spec.NodeSelector)
	var tolerations []string
	for _, t := range d.pod.Spec.Tolerations {
		tolerations = append(tolerations, toleration(t))
	}
	slices.Sort(tolerations)
	p.list(0, "Tolerations", tolerations)
}

func (d *podDescription) printIdentity(p page) {
	pod := d.pod
	p.line(0, "Name", pod.Name)
	p.line(0, "Namespace", pod.Namespace)
	if pod.Spec.Priority != nil {
		p.line(0, "Priority", *pod.Spec.Priority)
	}
	if pod.Spec.PriorityClassName != "" {
		p.line(0, "Priority Class Name", pod.Spec.PriorityClassName)
	}
	if pod.Spec.RuntimeClassName != nil {
		p.line(0, "Runtime Class Name", *pod.Spec.RuntimeClassName)
	}
	p.line(0, "Node", strings.Trim(cmp.Or(pod.Spec.NodeName, "<none>")+"/"+pod.Status.HostIP, "/"))
	if pod.Status.StartTime != nil {
		p.line(0, "Start Time", at(pod.Status.StartTime.Time))
	}
	p.pairs(0, "Labels", "=", pod.Labels)
	own := maps.Clone(pod.Annotations)
	for _, told := range []string{manifests.AnnotationSource, manifests.AnnotationManifest, manifests.AnnotationRevision, manifests.AnnotationLastAct} {
		delete(own, told) // below, in words
	}
	p.pairs(0, "Annotations", ": ", own)
}

func (d *podDescription) printStatus(p page) {
	pod := d.pod
	word, _, _, _, _ := status.Reason(pod)
	switch {
	case pod.DeletionTimestamp != nil:
		p.line(0, "Status", fmt.Sprintf("Terminating (lasts %s)", age(begun(pod), d.now)))
		if pod.DeletionGracePeriodSeconds != nil {
			p.line(0, "Termination Grace Period", fmt.Sprintf("%ds", *pod.DeletionGracePeriodSeconds))
		}
	case word != string(pod.Status.Phase) && pod.Status.Reason != word:
		p.line(0, "Status", fmt.Sprintf("%s (%s)", pod.Status.Phase, word))
	default:
		p.line(0, "Status", string(pod.Status.Phase))
	}
	if pod.Status.Reason != "" {
		p.line(0, "Reason", pod.Status.Reason)
	}
	if pod.Status.Message != "" {
		p.line(0, "Message", pod.Status.Message)
	}
	p.line(0, "IP", pod.Status.PodIP)
	if len(pod.Status.PodIPs) == 0 {
		p.line(0, "IPs", "<none>")
		return
	}
	p.head(0, "IPs")
	for _, ip := range pod.Status.PodIPs {
		p.line(1, "IP", ip.IP)
	}
}

// begun is when a pod's end began: its deletion time is when its grace is over.
func begun(pod *v1.Pod) time.Time {
	end := pod.DeletionTimestamp.Time
	if pod.DeletionGracePeriodSeconds != nil {
		end = end.Add(-time.Duration(*pod.DeletionGracePeriodSeconds) * time.Second)
	}
	return end
}

// printOrigin says what kubectl cannot know: where the pod comes from, what was
// done to it last and why, and what keeps another version of it from running.
func (d *podDescription) printOrigin(p page) {
	told := d.pod.Annotations
	source := cmp.Or(told[manifests.AnnotationSource], "<none>")
	if d.source != nil {
		source += fmt.Sprintf(" (%s, %s, from %s)", d.source.Kind, stateText(d.source), d.source.Place)
	}
	p.line(0, "Source", source)
	p.line(0, "Manifest", cmp.Or(told[manifests.AnnotationManifest], "<none>"))
	p.line(0, "Revision", cmp.Or(told[manifests.AnnotationRevision], "<none>"))
	p.line(0, "UID", d.pod.UID)
	if act := told[manifests.AnnotationLastAct]; act != "" {
		when, what, _ := strings.Cut(act, " ")
		if t, err := time.Parse(time.RFC3339, when); err == nil {
			what += ", " + age(t, d.now) + " ago"
		}
		p.line(0, "Last Act", what)
	}
	d.printOthers(p)
	d.printHindrance(p)
}

// printOthers names the pods of the same name that are replaced by this one, or
// are to replace it.
func (d *podDescription) printOthers(p page) {
	for i := range d.versions {
		v := &d.versions[i]
		word, ready, total, _, _ := status.Reason(v)
		text := fmt.Sprintf("uid %s, revision %s: %s, %d/%d ready", v.UID, cmp.Or(v.Annotations[manifests.AnnotationRevision], "<none>"), word, ready, total)
		if message := Explanation(v); message != "" {
			text += ": " + message
		}
		p.line(0, "Other Version", text)
	}
}

// printHindrance says why what is written in the manifest now does not run.
func (d *podDescription) printHindrance(p page) {
	if d.source == nil {
		return
	}
	if d.source.Held != "" {
		p.line(0, "Newest Manifest", "not in force: "+d.source.Held)
	}
	for _, u := range d.source.Units {
		if !ofUnit(d.pod.Annotations[manifests.AnnotationManifest], u.Name) && d.source.Kind == "file" {
			continue
		}
		for _, f := range u.Faults {
			p.line(0, "Newest Manifest", "not in force: "+f.String())
		}
	}
	for _, f := range d.source.Faults {
		p.line(0, "Newest Manifest", "not known: "+f.String())
	}
}

// ofUnit reports whether a place, file:line, is in a unit.
func ofUnit(place, unit string) bool {
	rest, ok := strings.CutPrefix(place, unit)
	return ok && (rest == "" || rest[0] == ':')
}

func (d *podDescription) printConditions(p page) {
	if len(d.pod.Status.Conditions) == 0 {
		p.line(0, "Conditions", "<none>")
		return
	}
	p.head(0, "Conditions")
	p.row(1, "Type", "Status", "Reason")
	for _, c := range d.pod.Status.Conditions {
		p.row(1, string(c.Type), string(c.Status), strings.Trim(c.Reason+": "+c.Message, ": "))
	}
}

func toleration(t v1.Toleration) string {
	text := t.Key
	if t.Value != "" {
		text += "=" + t.Value
	}
	if t.Effect != "" {
		text += ":" + string(t.Effect)
	}
	if t.Operator == v1.TolerationOpExists && t.Value == "" {
		text += " op=Exists"
	}
	if t.TolerationSeconds != nil {
		text += fmt.Sprintf(" for %ds", *t.TolerationSeconds)
	}
	return strings.TrimSpace(text)
}
