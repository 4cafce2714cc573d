package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
)

// printContainers writes a list of containers with the state of each.
func printContainers(p page, pod *v1.Pod, list []v1.Container, statuses []v1.ContainerStatus) {
	for i := range list {
		c := &list[i]
		var s *v1.ContainerStatus
		if at := slices.IndexFunc(statuses, func(s v1.ContainerStatus) bool { return s.Name == c.Name }); at >= 0 {
			s = &statuses[at]
		}
		p.head(1, c.Name)
		printImage(p, c, s)
		printPorts(p, c)
		printWords(p, "Command", c.Command)
		printWords(p, "Args", c.Args)
		if s != nil {
			printState(p, "State", s.State)
			if s.LastTerminationState.Terminated != nil {
				printState(p, "Last State", s.LastTerminationState)
			}
			p.line(2, "Ready", word(s.Ready))
			p.line(2, "Restart Count", s.RestartCount)
		}
		printResources(p, "Limits", c.Resources.Limits)
		printResources(p, "Requests", c.Resources.Requests)
		printProbe(p, "Liveness", c.LivenessProbe)
		printProbe(p, "Readiness", c.ReadinessProbe)
		printProbe(p, "Startup", c.StartupProbe)
		printEnvironment(p, pod, c)
		var mounts []string
		for _, m := range c.VolumeMounts {
			mounts = append(mounts, mount(m))
		}
		slices.Sort(mounts)
		if len(mounts) == 0 {
			p.line(2, "Mounts", "<none>")
			continue
		}
		p.head(2, "Mounts")
		for _, m := range mounts {
			p.text(3, m)
		}
	}
}

func printImage(p page, c *v1.Container, s *v1.ContainerStatus) {
	if s != nil {
		p.line(2, "Container ID", s.ContainerID)
	}
	p.line(2, "Image", c.Image)
	if s != nil {
		p.line(2, "Image ID", s.ImageID)
	}
}

func printPorts(p page, c *v1.Container) {
	var inside, outside []string
	for _, port := range c.Ports {
		protocol := "/" + cmp.Or(string(port.Protocol), "TCP")
		name := ""
		if port.Name != "" {
			name = " (" + port.Name + ")"
		}
		inside = append(inside, fmt.Sprint(port.ContainerPort)+protocol+name)
		outside = append(outside, fmt.Sprint(port.HostPort)+protocol+name)
	}
	label := func(text string) string {
		if len(c.Ports) > 1 {
			return text + "s"
		}
		return text
	}
	p.line(2, label("Port"), cmp.Or(strings.Join(inside, ", "), "<none>"))
	p.line(2, label("Host Port"), cmp.Or(strings.Join(outside, ", "), "<none>"))
}

// printWords writes the words of a command below each other.
func printWords(p page, label string, words []string) {
	if len(words) == 0 {
		return
	}
	p.head(2, label)
	for _, w := range words {
		for line := range strings.SplitSeq(w, "\n") {
			p.text(3, line)
		}
	}
}

func printState(p page, label string, s v1.ContainerState) {
	switch {
	case s.Running != nil:
		p.line(2, label, "Running")
		p.line(3, "Started", at(s.Running.StartedAt.Time))
	case s.Terminated != nil:
		p.line(2, label, "Terminated")
		if s.Terminated.Reason != "" {
			p.line(3, "Reason", s.Terminated.Reason)
		}
		if s.Terminated.Message != "" {
			p.line(3, "Message", strings.TrimSpace(s.Terminated.Message))
		}
		p.line(3, "Exit Code", s.Terminated.ExitCode)
		if s.Terminated.Signal > 0 {
			p.line(3, "Signal", s.Terminated.Signal)
		}
		p.line(3, "Started", at(s.Terminated.StartedAt.Time))
		p.line(3, "Finished", at(s.Terminated.FinishedAt.Time))
	default:
		p.line(2, label, "Waiting")
		if s.Waiting != nil && s.Waiting.Reason != "" {
			p.line(3, "Reason", s.Waiting.Reason)
		}
		if s.Waiting != nil && s.Waiting.Message != "" {
			p.line(3, "Message", s.Waiting.Message)
		}
	}
}

func printResources(p page, label string, list v1.ResourceList) {
	if len(list) == 0 {
		return
	}
	p.head(2, label)
	for _, name := range sortedNames(list) {
		quantity := list[name]
		p.line(3, string(name), quantity.String())
	}
}

func sortedNames(list v1.ResourceList) []v1.ResourceName {
	var names []v1.ResourceName
	for name := range list {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func printProbe(p page, label string, probe *v1.Probe) {
	if probe == nil {
		return
	}
	p.line(2, label, fmt.Sprintf("%s delay=%ds timeout=%ds period=%ds #success=%d #failure=%d", probed(probe.ProbeHandler),
		probe.InitialDelaySeconds, probe.TimeoutSeconds, probe.PeriodSeconds, probe.SuccessThreshold, probe.FailureThreshold))
}

// probed is what a probe asks, in kubectl's words.
func probed(h v1.ProbeHandler) string {
	switch {
	case h.Exec != nil:
		return fmt.Sprintf("exec %v", h.Exec.Command)
	case h.HTTPGet != nil:
		scheme := strings.ToLower(cmp.Or(string(h.HTTPGet.Scheme), "http"))
		return fmt.Sprintf("http-get %s://%s:%s%s", scheme, h.HTTPGet.Host, h.HTTPGet.Port.String(), h.HTTPGet.Path)
	case h.TCPSocket != nil:
		return fmt.Sprintf("tcp-socket %s:%s", h.TCPSocket.Host, h.TCPSocket.Port.String())
	case h.GRPC != nil:
		service := ""
		if h.GRPC.Service != nil {
			service = *h.GRPC.Service
		}
		return fmt.Sprintf("grpc <pod>:%d %s", h.GRPC.Port, service)
	}
	return "unknown"
}

func mount(m v1.VolumeMount) string {
	flags := "rw"
	if m.ReadOnly {
		flags = "ro"
	}
	if path := cmp.Or(m.SubPath, m.SubPathExpr); path != "" {
		flags += `,path="` + path + `"`
	}
	return fmt.Sprintf("%s from %s (%s)", m.MountPath, m.Name, flags)
}

// word is a truth value as kubectl writes it.
func word(b bool) string {
	if b {
		return "True"
	}
	return "False"
}
