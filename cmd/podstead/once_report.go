package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/agent"
	"github.com/podstead/podstead/agent/api"
	"github.com/podstead/podstead/cli"
	"github.com/podstead/podstead/config"
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

	limit time.Duration // how long it was waited for
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
	r := &onceReport{Node: n.id.Name, ExitCode: view.exitCode(), Pods: []oncePod{}, Sources: []api.Source{}, limit: n.cfg.OnceTimeout}
	r.Sources = append(r.Sources, n.answered(view.sources)...)
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
		r.ExitCode, r.Error = cli.ExitNoEngine, engineHint(engineErr)
	}
	return r
}

// answered adds to the sources that have not answered that they have not.
func (n *node) answered(views []api.Source) []api.Source {
	specs := n.setup.sources()
	for i := range views {
		v := &views[i]
		if v.Attempted {
			continue
		}
		if at := slices.IndexFunc(specs, func(s config.Source) bool { return s.Name == v.Name }); at >= 0 {
			v.Place, v.Kind = cmp.Or(v.Place, specs[at].Place()), cmp.Or(v.Kind, specs[at].Kind())
		}
		v.Faults = append(v.Faults, api.Fault{Place: v.Place, Message: fmt.Sprintf("has not answered within %s", n.cfg.OnceTimeout)})
		v.State = api.SourceError
	}
	return views
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
func (r *onceReport) print(t cli.Terminal, form string) error {
	if form == "json" {
		return cli.Encode(t.Out, form, r)
	}
	if r.Error != "" {
		t.Say("podstead: the engine cannot be reached: %s", r.Error)
	}
	var pods []v1.Pod
	for _, p := range r.Pods {
		if p.pod != nil {
			pods = append(pods, *p.pod)
		}
	}
	if err := cli.PrintPods(t.Out, pods, time.Now()); err != nil {
		return err
	}
	for _, p := range r.Pods {
		if err := p.printFault(t.Out, r.limit); err != nil {
			return err
		}
	}
	return cli.PrintProblems(t.Out, r.Sources, false)
}

// verdict says in words what became of a pod that is not good.
func (p oncePod) verdict(limit time.Duration) string {
	text := "Failed: " + p.Status
	if p.Result == resultTimedOut {
		text = fmt.Sprintf("not ready after %s: its status is %s", limit, p.Status)
		if p.pod != nil && p.pod.Spec.RestartPolicy != v1.RestartPolicyAlways {
			text = fmt.Sprintf("not finished after %s: its status is %s", limit, p.Status)
		}
	}
	if p.Message != "" {
		text += ": " + p.Message
	}
	return text
}

// printFault names a pod that is not good, why, and the last it said.
func (p oncePod) printFault(out io.Writer, limit time.Duration) error {
	if p.Result.good() {
		return nil
	}
	text := fmt.Sprintf("\npod %s/%s of %s: %s\n", p.Namespace, p.Name, cli.OneLine(p.Manifest), cli.OneLine(p.verdict(limit)))
	for _, l := range p.Log {
		for _, line := range l.Lines {
			text += fmt.Sprintf("  %s | %s\n", l.Container, line)
		}
	}
	_, err := io.WriteString(out, text)
	return err
}
