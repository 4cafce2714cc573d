package cli

import (
	"context"
	"fmt"
	"io"
	"os"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/agent/api"
	"github.com/podstead/podstead/runtime"
)

// visiting is what exec and attach have in common.
type visiting struct {
	Namespace string `short:"n" default:"default" placeholder:"NAMESPACE" help:"Namespace of the pod."`
	Container string `short:"c" placeholder:"NAME" help:"Container, when the pod has more than one."`
	Stdin     bool   `short:"i" help:"Pass standard input to the container."`
	TTY       bool   `short:"t" name:"tty" help:"Standard input is a terminal; needs -i."`
	Quiet     bool   `short:"q" help:"Print what comes from the container and nothing else."`
}

// find returns the pod that serves under the name, and which of its containers is
// meant.
func (c *visiting) find(ctx context.Context, t Terminal, client *api.Client, name string) (*v1.Pod, string, error) {
	all, err := client.Pods(ctx)
	if err != nil {
		return nil, "", err
	}
	pods, err := selectPods(all, c.Namespace, []string{name})
	if err != nil {
		return nil, "", err
	}
	pod := serving(pods)
	container, chosen, err := containerOf(pod, c.Container)
	if err == nil && chosen != "" && !c.Quiet {
		t.Say("%s", chosen)
	}
	return pod, container, err
}

// targetOf names the pod by its UID too: no other that takes its name meanwhile is
// meant.
func targetOf(pod *v1.Pod, container string) api.Target {
	return api.Target{Namespace: pod.Namespace, Pod: pod.Name, UID: string(pod.UID), Container: container}
}

func specOf(pod *v1.Pod, container string) v1.Container {
	for _, c := range append(append([]v1.Container{}, pod.Spec.InitContainers...), pod.Spec.Containers...) {
		if c.Name == container {
			return c
		}
	}
	return v1.Container{Name: container}
}

// running refuses a container that is known not to run, with what to look at.
func running(pod *v1.Pod, container, purpose string) error {
	for _, s := range append(append([]v1.ContainerStatus{}, pod.Status.InitContainerStatuses...), pod.Status.ContainerStatuses...) {
		if s.Name != container {
			continue
		}
		cannot := fmt.Sprintf("cannot %s in container %q of pod %s, which is not running", purpose, container, pod.Name)
		switch name := WrittenName(pod); {
		case s.State.Terminated != nil:
			return fmt.Errorf("%s: it has ended with exit code %d (%s); `podstead logs %s -c %s` shows what it wrote",
				cannot, s.State.Terminated.ExitCode, s.State.Terminated.Reason, name, container)
		case s.State.Waiting != nil:
			return fmt.Errorf("%s: it is waiting (%s); `podstead describe pod %s` says for what", cannot, s.State.Waiting.Reason, name)
		}
	}
	return nil
}

// serve gives a visit its streams: those of the terminal, which is raw meanwhile,
// when one is asked for and there. As kubectl, it then ends at a signal with that
// signal's exit code; else signals have their own effect.
func (c *visiting) serve(ctx context.Context, t Terminal, visit func(context.Context, runtime.Streams) error) error {
	s := runtime.Streams{Stdout: t.Out, Stderr: t.Err}
	if c.Stdin && t.In != nil {
		s.Stdin = input{t.In}
	}
	if screen, ok := c.screen(t); ok {
		return screen.serve(ctx, t, s, visit)
	}
	return visit(released(ctx, t), s)
}

// screen is the terminal to use: one that was asked for, to read from.
func (c *visiting) screen(t Terminal) (*screen, bool) {
	if !c.TTY || !c.Stdin {
		return nil, false
	}
	in, ok := t.In.(*os.File)
	if !ok || !IsTerminal(in) {
		if !c.Quiet {
			t.Say("Unable to use a TTY - input is not a terminal or the right kind of file")
		}
		return nil, false
	}
	return &screen{in: in}, true
}

// released gives signals their own effect back, and a context that does not end with
// that.
func released(ctx context.Context, t Terminal) context.Context {
	if t.Signals == nil || ctx.Err() != nil {
		return ctx
	}
	t.ReleaseSignals()
	return context.WithoutCancel(ctx)
}

// input is what a command reads. A file's read cannot be ended, and needs not: it
// ends with the process.
type input struct{ io.Reader }

// Close ends reads of what is no file.
func (i input) Close() error {
	if c, ok := i.Reader.(io.Closer); ok {
		if _, file := c.(*os.File); !file {
			return c.Close()
		}
	}
	return nil
}
