package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/agent/api"
	"github.com/podstead/podstead/agent/status"
)

// StatusCmd is `podstead status`.
type StatusCmd struct {
	connection
	coloured
	Output dataForm `short:"o" placeholder:"json|yaml" help:"Another form."`
}

// Examples are those of `podstead status`.
func (StatusCmd) Examples() []Example {
	return []Example{
		{"is all well", "podstead status"},
		{"for a monitor", "podstead status -o json"},
	}
}

// health is everything that `podstead status` judges.
type health struct {
	Agent    api.Status   `json:"agent"`
	Sources  []api.Source `json:"sources"`
	Pods     []v1.Pod     `json:"pods"`
	Problems []string     `json:"problems"`
}

// Run prints the state of agent, engine, sources and pods. What is not as it
// should be ends it with code 1.
func (c *StatusCmd) Run(ctx context.Context, t Terminal) error {
	h, err := ask(ctx, c.client(t))
	if err != nil {
		return err
	}
	h.Problems = problems(h)
	if c.Output != "" {
		err = Encode(t.Out, string(c.Output), h)
	} else {
		err = h.print(t.Out, time.Now(), c.on(t.Out))
	}
	if err == nil && len(h.Problems) > 0 {
		err = &Exit{Code: ExitFailed}
	}
	return err
}

// ask gathers the state. The agent looks at the engine for its own status, so
// what comes after is as new.
func ask(ctx context.Context, client *api.Client) (h health, err error) {
	warn := client.Warn
	client.Warn = func(string) {} // the engine's state is part of the answer
	defer func() { client.Warn = warn }()
	if h.Agent, err = client.Status(ctx); err != nil {
		return h, err
	}
	if h.Sources, err = client.Sources(ctx); err != nil {
		return h, err
	}
	h.Pods, err = client.KnownPods(ctx) // the agent has just looked
	return h, err
}

// problems names all that keeps the state from being good: the engine out of
// reach, sources in error or held, pods that are neither ready nor succeeded.
func problems(h health) []string {
	list := []string{}
	if h.Agent.Engine.Error != "" {
		list = append(list, "engine: "+h.Agent.Engine.Error)
	}
	if faults := h.Agent.Configuration.Error; faults != "" {
		for fault := range strings.SplitSeq(faults, "\n") {
			list = append(list, "configuration: its newest version has no effect: "+fault)
		}
	}
	if w := h.Agent.Webhook; w != nil && w.Error != "" {
		list = append(list, "webhook: "+w.Error)
	}
	if h.Agent.Drained != nil {
		list = append(list, "node: "+drainedWords(*h.Agent.Drained))
	}
	for _, s := range h.Sources {
		list = append(list, sourceProblems(s)...)
	}
	for i := range h.Pods {
		if p := &h.Pods[i]; !Ready(p) && p.Status.Phase != v1.PodSucceeded && !atRest(p) {
			list = append(list, fmt.Sprintf("pod %s/%s: %s", p.Namespace, p.Name, why(p)))
		}
	}
	return list
}

// sourceProblems are the faults of a source, and what it holds back.
func sourceProblems(s api.Source) []string {
	var list []string
	for _, f := range s.Problems() {
		list = append(list, fmt.Sprintf("source %s: %s", s.Name, f))
	}
	switch {
	case s.Held != "":
		list = append(list, fmt.Sprintf("source %s: %s", s.Name, s.Held))
	case len(list) == 0 && (s.State == api.SourceError || s.State == api.SourceHeld):
		list = append(list, fmt.Sprintf("source %s: %s", s.Name, s.State))
	}
	return list
}

// Ready reports whether the pod's Ready condition is true.
func Ready(p *v1.Pod) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == v1.PodReady {
			return c.Status == v1.ConditionTrue
		}
	}
	return false
}

// why is the word of the STATUS column, with the message that explains it.
func why(p *v1.Pod) string {
	word, _, _, _, _ := status.Reason(p)
	if message := Explanation(p); message != "" {
		return word + ": " + message
	}
	return word
}

// Explanation is the message of the first container that is not running, or
// the pod's own.
func Explanation(p *v1.Pod) string {
	for _, list := range [][]v1.ContainerStatus{p.Status.InitContainerStatuses, p.Status.ContainerStatuses} {
		for _, c := range list {
			switch w, e := c.State.Waiting, c.State.Terminated; {
			case w != nil && w.Message != "":
				return w.Message
			case e != nil && e.ExitCode != 0:
				return fmt.Sprintf("container %s ended with exit code %d", c.Name, e.ExitCode)
			}
		}
	}
	return p.Status.Message
}

// print writes one screen. Colours are in the last column, where nothing is aligned.
func (h health) print(out io.Writer, now time.Time, colour bool) error {
	paint := func(c hue, text string) string {
		if !colour {
			return text
		}
		return c.paint(text)
	}
	w := tabwriter.NewWriter(out, 0, 8, 3, ' ', 0)
	a := h.Agent
	fmt.Fprintf(w, "Node\t%s\n", a.Node)
	fmt.Fprintf(w, "Agent\tpodstead %s, process %d, up %s, root-dir %s\n", a.Version, a.PID, age(a.Started, now), a.RootDir)
	if a.Engine.Error == "" {
		fmt.Fprintf(w, "Engine\t%s %s (API %s) at %s\n", a.Engine.Name, a.Engine.Version, a.Engine.APIVersion, a.Engine.Endpoint)
	} else {
		fmt.Fprintf(w, "Engine\t%s at %s\n", paint(red, "not reachable"), a.Engine.Endpoint)
	}
	h.printConfiguration(w, now)
	for i, s := range h.Sources {
		fmt.Fprintf(w, "%s\t%s: %s, %s, from %s\n", label(i, "Sources"), s.Name, paint(sourceHue(&s), stateText(&s))+asideOf(&s), Count(s.Pods, "pod"), s.Place)
	}
	good, done, rest := 0, 0, 0
	for i := range h.Pods {
		switch {
		case Ready(&h.Pods[i]):
			good++
		case h.Pods[i].Status.Phase == v1.PodSucceeded:
			done++
		case atRest(&h.Pods[i]):
			rest++
		}
	}
	unwell := fmt.Sprintf("%d not well", len(h.Pods)-good-done-rest)
	if len(h.Pods) > good+done+rest {
		unwell = paint(red, unwell)
	}
	drained := ""
	if rest > 0 {
		drained = paint(yellow, fmt.Sprintf("%d drained", rest)) + ", "
	}
	fmt.Fprintf(w, "Pods\t%d: %s, %d succeeded, %s%s\n", len(h.Pods), paint(green, fmt.Sprintf("%d ready", good)), done, drained, unwell)
	for i, problem := range h.Problems {
		fmt.Fprintf(w, "%s\t%s\n", label(i, "Problems"), paint(red, OneLine(problem)))
	}
	return w.Flush()
}

// asideOf says for whom a retired source waits, and since when a suspended one is
// not looked at.
func asideOf(s *api.Source) string {
	if len(s.WaitsFor) == 0 {
		return suspendedWords(s)
	}
	return " (waits for an answer of " + strings.Join(s.WaitsFor, ", ") + ")"
}

// printConfiguration names the file in use, what of it waits for a start, and
// where pushes are listened for.
func (h health) printConfiguration(w io.Writer, now time.Time) {
	c := h.Agent.Configuration
	if c.File != "" {
		fmt.Fprintf(w, "Configuration\t%s, taken over %s ago\n", c.File, age(c.Taken, now))
	}
	for _, name := range c.Pending {
		fmt.Fprintf(w, "\t%s takes effect at the next start\n", name)
	}
	if hook := h.Agent.Webhook; hook != nil && hook.Error == "" && hook.Address != "" {
		fmt.Fprintf(w, "Webhook\tlistens on %s\n", hook.Address)
	}
}

// label heads the first line of a group only.
func label(i int, text string) string {
	if i > 0 {
		return ""
	}
	return text
}
