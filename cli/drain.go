package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/agent/api"
	"github.com/podstead/podstead/agent/status"
)

// DrainCmd is `podstead drain`.
type DrainCmd struct {
	connection
	Timeout time.Duration `default:"0" placeholder:"0" help:"How long to wait until every pod has ended; 0 for as long as it takes."`
	NoWait  bool          `help:"Do not wait until every pod has ended."`
}

// Help says what a drain is.
func (*DrainCmd) Help() string {
	return `Every pod of this node ends, each with its grace period, and none is started until podstead resume: not by a changed manifest, a restart of the agent or a reboot. Sources go on being read. A pod that was drained stays what it is, with its volumes and its restart counts, and runs again when the node is resumed; its containers then count one restart more. What had run to its end stays so. Pods that are new or changed meanwhile are shown as Drained and start when the node is resumed; what is removed goes for good.

Volumes in memory do not outlive a reboot, and docker system prune -a takes the images of pods that do not run.`
}

// Examples are shown below the help.
func (*DrainCmd) Examples() []Example {
	return []Example{
		{"end every pod, to work on the machine", "podstead drain --timeout 2m"},
		{"the same, without waiting for them", "podstead drain --no-wait"},
	}
}

// Run drains the node and waits until nothing of its pods runs.
func (c *DrainCmd) Run(ctx context.Context, t Terminal) error {
	if c.Timeout < 0 {
		return &Exit{Code: ExitConfig, Err: fmt.Errorf("--timeout must not be negative, is %s", c.Timeout)}
	}
	client := c.client(t)
	d, err := client.Drain(ctx, asker())
	if err != nil {
		return err
	}
	if c.NoWait {
		fmt.Fprintf(t.Out, "node %s; `podstead get pods -A` shows what has ended, `podstead resume` runs the pods again\n",
			whether(d.Changed, "is being drained", "is drained already"))
		return nil
	}
	limited, cancel := ctx, func() {}
	if c.Timeout > 0 {
		limited, cancel = context.WithTimeout(ctx, c.Timeout)
	}
	defer cancel()
	w := emptying{client: client, t: t, progress: NewProgress(t), told: map[string]bool{}}
	err = client.FollowPods(limited, func(pods []v1.Pod) error { return w.look(ctx, pods) })
	switch {
	case errors.Is(err, errMet):
		fmt.Fprintln(t.Out, "node drained; `podstead resume` runs its pods again")
		return nil
	case limited.Err() != nil && ctx.Err() == nil:
		return &Exit{Code: ExitFailed, Err: fmt.Errorf("after %s these have not ended, and go on ending: %s", c.Timeout, w.left)}
	}
	return err
}

// emptying follows a node whose pods end.
type emptying struct {
	client   *api.Client
	t        Terminal
	progress *Progress
	told     map[string]bool // pods that were there and did run
	left     string          // what has not ended, for people
}

// look tells what has ended since the last time; errMet when that is all.
func (e *emptying) look(ctx context.Context, pods []v1.Pod) error {
	var left []string
	there := map[string]bool{}
	for i := range pods {
		p := &pods[i]
		full := p.Namespace + "/" + p.Name
		if still := stillRuns(p); still != "" {
			there[full], e.told[full] = true, true
			left = append(left, full+" ("+still+")")
		}
	}
	for full := range e.told {
		if !there[full] {
			delete(e.told, full)
			_, name, _ := strings.Cut(full, "/")
			fmt.Fprintf(e.t.Out, "pod/%s drained\n", name)
		}
	}
	if len(left) == 0 {
		return errMet
	}
	e.left = OneLine(strings.Join(left, ", "))
	e.progress.Show("waiting for " + Count(len(left), "pod") + " to end: " + e.left)
	if d, err := e.client.Drained(ctx); err == nil && !d.Drained {
		return &Exit{Code: ExitFailed, Err: errors.New("the node was resumed meanwhile")}
	}
	return nil
}

// stillRuns says what of a pod has not ended; "" for nothing.
func stillRuns(p *v1.Pod) string {
	word, _, _, _, _ := status.Reason(p)
	var running []string
	for _, s := range append(append([]v1.ContainerStatus{}, p.Status.InitContainerStatuses...), p.Status.ContainerStatuses...) {
		if s.State.Running != nil {
			running = append(running, s.Name)
		}
	}
	switch {
	case len(running) > 0:
		return word + ": running " + strings.Join(running, ", ")
	case p.DeletionTimestamp == nil && (p.Status.Reason == status.ReasonDrained || ended(p)):
		return ""
	}
	return word
}

// atRest reports a pod that the drained node keeps from running.
func atRest(p *v1.Pod) bool {
	return p.Status.Reason == status.ReasonDrained || p.Status.Reason == status.ReasonDraining
}

// drainedWords says since when the node is drained, and what to do.
func drainedWords(d api.Drain) string {
	text := "drained"
	if !d.Since.IsZero() {
		text += " since " + at(d.Since)
	}
	if d.By != "" {
		text += " (asked for by " + d.By + ")"
	}
	return text + ": no pod runs; `podstead resume` runs them again"
}
