package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/agent/api"
	"github.com/podstead/podstead/runtime"
)

// defaultContainer is the annotation by which a pod says whose log is meant.
const defaultContainer = "kubectl.kubernetes.io/default-container"

// LogsCmd is `podstead logs`.
type LogsCmd struct {
	connection
	Namespace  string        `short:"n" default:"default" placeholder:"NAMESPACE" help:"Namespace of the pod."`
	Container  string        `short:"c" placeholder:"NAME" help:"Container, when the pod has more than one."`
	Follow     bool          `short:"f" help:"Go on until the container ends."`
	Previous   bool          `short:"p" help:"Log of the run before the newest."`
	Tail       int64         `default:"-1" placeholder:"LINES" help:"Only the newest lines; -1 for all."`
	Since      time.Duration `placeholder:"5m" help:"Only what is newer than this long ago."`
	SinceTime  time.Time     `placeholder:"2006-01-02T15:04:05Z" help:"Only what is newer than this time."`
	Timestamps bool          `help:"Put the time before each line."`
	LimitBytes int64         `placeholder:"BYTES" help:"At most this much."`
	Pod        string        `arg:"" name:"POD" help:"Pod, by its full name (web-n1) or as written in the manifest (web)."`
}

// Examples are those of `podstead logs`.
func (LogsCmd) Examples() []Example {
	return []Example{
		{"what a pod has said", "podstead logs web -c main"},
		{"follow it", "podstead logs -f pod/web --tail 20"},
		{"what it said before its last restart", "podstead logs db --previous"},
		{"the last five minutes, with times", "podstead logs web -c side --since 5m --timestamps"},
	}
}

// Run copies the log to the output.
func (c *LogsCmd) Run(ctx context.Context, t Terminal) error {
	if err := c.check(); err != nil {
		return &Exit{Code: ExitConfig, Err: err}
	}
	client := c.client(t)
	all, err := client.Pods(ctx)
	if err != nil {
		return err
	}
	pods, err := selectPods(all, c.Namespace, []string{c.Pod})
	if err != nil {
		return err
	}
	pod := &pods[0] // of two versions of one name the agent takes the one that runs
	container, chosen, err := containerOf(pod, c.Container)
	if err != nil {
		return err
	}
	if chosen != "" {
		t.Say("%s", chosen)
	}
	req := api.LogRequest{Namespace: pod.Namespace, Pod: pod.Name, Container: container, Previous: c.Previous, LogOptions: c.options(time.Now())}
	return client.Logs(ctx, req, t.Out)
}

// check refuses, with all that is wrong, numbers that mean nothing.
func (c *LogsCmd) check() error {
	var bad []error
	unless := func(ok bool, format string, args ...any) {
		if !ok {
			bad = append(bad, fmt.Errorf(format, args...))
		}
	}
	unless(c.Tail >= -1, "--tail: must be a number of lines, or -1 for all, is %d", c.Tail)
	unless(c.Since >= 0, "--since: must not be below 0, is %s", c.Since)
	unless(c.LimitBytes >= 0, "--limit-bytes: must not be below 0, is %d", c.LimitBytes)
	unless(c.Since == 0 || c.SinceTime.IsZero(), "--since: cannot be together with --since-time")
	return errors.Join(bad...)
}

func (c *LogsCmd) options(now time.Time) runtime.LogOptions {
	opts := runtime.LogOptions{Follow: c.Follow, Timestamps: c.Timestamps}
	if c.Tail >= 0 {
		opts.Tail = &c.Tail
	}
	if c.LimitBytes > 0 {
		opts.LimitBytes = &c.LimitBytes
	}
	switch {
	case !c.SinceTime.IsZero():
		opts.Since = &c.SinceTime
	case c.Since > 0:
		since := now.Add(-c.Since)
		opts.Since = &since
	}
	return opts
}

// containerOf chooses as kubectl does: the named one, the only one, the one that
// the pod's annotation names, else the first, which is told.
func containerOf(pod *v1.Pod, asked string) (name, told string, err error) {
	var names []string
	for _, c := range pod.Spec.Containers {
		names = append(names, c.Name)
	}
	main := len(names)
	for _, c := range pod.Spec.InitContainers {
		names = append(names, c.Name)
	}
	switch {
	case asked != "" && slices.Contains(names, asked):
		return asked, "", nil
	case asked != "":
		return "", "", fmt.Errorf("pod %s has no container %q; it has: %s", pod.Name, asked, strings.Join(names, ", "))
	case main == 1:
		return names[0], "", nil
	case slices.Contains(names[:main], pod.Annotations[defaultContainer]):
		return pod.Annotations[defaultContainer], "", nil
	}
	return names[0], fmt.Sprintf("Defaulted container %q out of: %s", names[0], strings.Join(names, ", ")), nil
}
