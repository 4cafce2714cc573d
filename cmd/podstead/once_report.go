package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/agent"
	"github.com/podstead/podstead/agent/api"
	"github.com/podstead/podstead/runtime"
)

// tailLines is how much of a failed container's log is reported.
const tailLines = 10

// onceReport is what run-once tells at its end.
type onceReport struct {
	Node     string       `json:"node"`
	ExitCode int          `json:"exitCode"`
	Error    string       `json:"error,omitempty"` // why the engine could not be asked
	Pods     []oncePod    `json:"pods"`
	Sources  []api.Source `json:"sources"`
}

// tail is the end of one container's log.
type tail struct {
	Container string   `json:"container"`
	Lines     []string `json:"lines"`
}

// report judges the last look. An engine that is out of reach outweighs the rest.
func (n *node) report(ctx context.Context, view onceView, engineErr error) *onceReport {
	if engineErr == nil && !view.over() {
		asked, cancel := context.WithTimeout(ctx, onceLook)
		defer cancel()
		_, engineErr = n.engine.Engine(asked)
	}
	r := &onceReport{Node: n.id.Name, ExitCode: view.exitCode(), Pods: []oncePod{}, Sources: []api.Source{}}
	r.Sources = append(r.Sources, view.sources...)
	for _, p := range view.pods {
		if p.Result == resultWaiting {
			p.Result = resultTimedOut
		}
		if !p.Result.good() && engineErr == nil {
			p.Log = n.tails(ctx, p.pod)
		}
		r.Pods = append(r.Pods, p)
	}
	if engineErr != nil {
		r.ExitCode, r.Error = exitNoEngine, engineErr.Error()
	}
	return r
}

// tails reads the last lines of each container that is not well.
func (n *node) tails(ctx context.Context, pod *v1.Pod) []tail {
	if pod == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, onceLook)
	defer cancel()
	var all []tail
	for _, list := range [][]v1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for _, c := range list {
			if c.Ready || c.State.Terminated != nil && c.State.Terminated.ExitCode == 0 {
				continue
			}
			var out bytes.Buffer
			lines := int64(tailLines)
			req := agent.LogRequest{Namespace: pod.Namespace, Pod: pod.Name, Container: c.Name, Options: runtime.LogOptions{Tail: &lines}}
			if n.agent.Logs(ctx, req, &out) != nil || out.Len() == 0 {
				continue // it never ran; the status says why
			}
			all = append(all, tail{Container: c.Name, Lines: strings.Split(strings.TrimRight(out.String(), "\n"), "\n")})
		}
	}
	return all
}

// print writes the report as a table with what went wrong below, or as JSON.
func (r *onceReport) print(t terminal, form string) error {
	if form == "json" {
		return encode(t.out, form, r)
	}
	if r.Error != "" {
		t.say("podstead: the engine cannot be reached: %s", r.Error)
	}
	var pods []v1.Pod
	for _, p := range r.Pods {
		if p.pod != nil {
			pods = append(pods, *p.pod)
		}
	}
	if err := newPrinter(podView(), "", true, t.out).all(pods, time.Now()); err != nil {
		return err
	}
	for _, p := range r.Pods {
		if err := p.printFault(t.out); err != nil {
			return err
		}
	}
	return printProblems(t.out, r.Sources, false)
}

// printFault names a pod that is not good, why, and the last it said.
func (p oncePod) printFault(out io.Writer) error {
	if p.Result.good() {
		return nil
	}
	reason := p.Status
	if p.Message != "" {
		reason += ": " + p.Message
	}
	text := fmt.Sprintf("\npod %s/%s of %s: %s: %s\n", p.Namespace, p.Name, p.Manifest, p.Result, reason)
	for _, l := range p.Log {
		for _, line := range l.Lines {
			text += fmt.Sprintf("  %s | %s\n", l.Container, line)
		}
	}
	_, err := io.WriteString(out, text)
	return err
}
