package cli

import (
	"context"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/agent/api"
)

// RestartCmd is `podstead restart`.
type RestartCmd struct {
	connection
	namespaced
	Wait    bool          `help:"Wait until they run again and are ready."`
	Timeout time.Duration `default:"5m" placeholder:"5m" help:"How long to wait with --wait; 0 for as long as it takes."`
	Names   []string      `arg:"" name:"POD" help:"Pods, by their full name (web-n1) or as written in the manifest (web)."`
}

// Help says what a restart is.
func (*RestartCmd) Help() string {
	return `Every container of the pod gets a new instance in place, whatever its restart policy; it is stopped first, with its grace period, when its image, ConfigMaps, Secrets and volumes are there. The sandbox, its address and the volumes stay, and init containers do not run again. What waits in a back-off is started at once. No crash is counted.

The command returns once that is certain, before anything is stopped: the agent finishes it, once, whatever happens to it. A pod that has run to its end is not run again by it.`
}

// Examples are shown below the help.
func (*RestartCmd) Examples() []Example {
	return []Example{
		{"new instances of a pod's containers", "podstead restart web"},
		{"and wait until they are ready", "podstead restart web db --wait --timeout 1m"},
	}
}

// Run asks for the restarts and, if told to, waits for their end.
func (c *RestartCmd) Run(ctx context.Context, t Terminal) error {
	if c.Timeout < 0 {
		return &Exit{Code: ExitConfig, Err: fmt.Errorf("--timeout must not be negative, is %s", c.Timeout)}
	}
	client := c.client(t)
	all, err := client.Pods(ctx)
	if err != nil {
		return err
	}
	pods, err := selectPods(all, c.scope(), c.Names)
	if err != nil {
		return err
	}
	var goals []goal
	asked, failed := map[string]bool{}, false
	for i := range pods {
		p := &pods[i]
		full := p.Namespace + "/" + p.Name
		if asked[full] {
			continue // a version of it that is on its way in or out
		}
		asked[full] = true
		r, err := client.Restart(ctx, api.RestartRequest{Namespace: p.Namespace, Pod: p.Name, By: asker()})
		if err != nil {
			t.Say("podstead: %v", err)
			failed = true
			continue
		}
		if !c.Wait {
			fmt.Fprintf(t.Out, "pod/%s restarting\n", p.Name)
		}
		goals = append(goals, restarted(r))
	}
	if c.Wait && len(goals) > 0 {
		err = waiting{client: client, goals: goals, limit: c.limit(), done: "restarted"}.pods(ctx, t)
	}
	if err == nil && failed {
		err = &Exit{Code: ExitFailed}
	}
	return err
}

// limit is how long to wait; negative for ever.
func (c *RestartCmd) limit() time.Duration {
	if c.Timeout == 0 {
		return -1
	}
	return c.Timeout
}

// restarted is the goal that a restart is done and the pod is ready again.
func restarted(r api.Restart) goal {
	return goal{kind: "pod", name: r.Pod, judge: func(w sight) verdict {
		for i := range w.pods {
			if p := &w.pods[i]; string(p.UID) == r.UID {
				return judgeRestart(p, r.RestartCounts)
			}
		}
		return verdict{never: true, why: "it was replaced or removed meanwhile; `podstead get events` says why"}
	}}
}

// judgeRestart looks whether every container has its new instance and is ready.
func judgeRestart(p *v1.Pod, counts map[string]int) verdict {
	for _, s := range p.Status.ContainerStatuses {
		if int(s.RestartCount) < counts[s.Name] {
			v := readiness(p)
			if v.met {
				v = verdict{why: "container " + s.Name + " has its grace period to end in"}
			}
			return v
		}
	}
	return readiness(p)
}
