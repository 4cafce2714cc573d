package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podstead/podstead/agent/api"
	"github.com/podstead/podstead/runtime"
	"github.com/podstead/podstead/test/rig"
)

// visited is an agent of one pod, web, whose containers run one program.
func visited(t *testing.T, program api.Session) connection {
	t.Helper()
	h := api.Handlers{
		Pods:   func(context.Context) ([]*v1.Pod, error) { return []*v1.Pod{webPod()}, nil },
		Exec:   func(context.Context, api.ExecRequest) (api.Session, error) { return program, nil },
		Attach: func(context.Context, api.Target) (api.Session, error) { return program, nil },
	}
	socket := filepath.Join(t.TempDir(), "s")
	server, err := api.New(api.Config{Socket: socket, Handlers: h, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for client := api.NewClient(socket); ; <-tick.C {
		if _, err := client.KnownPods(t.Context()); err == nil {
			return connection{Socket: socket}
		}
	}
}

// webPod has a container that runs, one that has ended, and one that waits.
func webPod() *v1.Pod {
	state := func(name string, s v1.ContainerState) v1.ContainerStatus {
		return v1.ContainerStatus{Name: name, State: s}
	}
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-n1", UID: "u1"},
		Spec: v1.PodSpec{NodeName: "n1", Containers: []v1.Container{
			{Name: "main", Image: "registry.example/web:1"}, {Name: "done"}, {Name: "late"},
		}},
		Status: v1.PodStatus{Phase: v1.PodRunning, ContainerStatuses: []v1.ContainerStatus{
			state("main", v1.ContainerState{Running: &v1.ContainerStateRunning{}}),
			state("done", v1.ContainerState{Terminated: &v1.ContainerStateTerminated{ExitCode: 3, Reason: "Error"}}),
			state("late", v1.ContainerState{Waiting: &v1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}),
		}},
	}
}

// ends is a program that ends so.
func ends(err error) api.Session {
	return func(_ context.Context, s runtime.Streams) error { s.CloseStdin(); return err }
}

func TestHowACommandEndsIsHowExecEnds(t *testing.T) {
	missing := &runtime.ExitError{Code: 127, Refused: `exec: "sh": executable file not found in $PATH`}
	cases := []struct {
		name    string
		program api.Session
		command ExecCmd
		code    int    // of an Exit; 0 for an error that is none
		err     string // in the error; "" for none
		said    string // beside the output; "" for nothing
	}{
		{name: "well", program: ends(nil), command: ExecCmd{Command: []string{"true"}}},
		{name: "with a code", program: ends(&runtime.ExitError{Code: 3}), command: ExecCmd{Command: []string{"--", "false"}},
			code: 3, err: "command terminated with exit code 3"},
		{name: "with a code, quietly", program: ends(&runtime.ExitError{Code: 3}), command: ExecCmd{Command: []string{"false"}, visiting: visiting{Quiet: true}},
			code: 3},
		{name: "without a shell", program: ends(missing), command: ExecCmd{Command: []string{"sh"}},
			code: 127, err: "127", said: `There is no "sh" in container "main" of pod web-n1, which has what its image registry.example/web:1 has. Images made FROM scratch`},
		{name: "without permission", program: ends(&runtime.ExitError{Code: 126, Refused: "permission denied"}), command: ExecCmd{Command: []string{"/etc"}},
			code: 126, err: "126", said: `"/etc" in container "main" of pod web-n1 is no program`},
		{name: "unknown", program: ends(errors.New("engine away")), command: ExecCmd{Command: []string{"sh"}}, err: "engine away"},
		{name: "not begun: no command", command: ExecCmd{Command: []string{"--"}}, code: ExitConfig, err: "no command is given"},
		{name: "not begun: ended", command: ExecCmd{Command: []string{"sh"}, visiting: visiting{Container: "done"}},
			err: "it has ended with exit code 3 (Error); `podstead logs web -c done`"},
		{name: "not begun: waiting", command: ExecCmd{Command: []string{"sh"}, visiting: visiting{Container: "late"}},
			err: "it is waiting (CrashLoopBackOff); `podstead describe pod web`"},
		{name: "not begun: no such container", command: ExecCmd{Command: []string{"sh"}, visiting: visiting{Container: "nope"}}, err: "it has: main, done, late"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			cmd := c.command
			cmd.connection, cmd.Pod, cmd.Namespace = visited(t, c.program), "web", "default"
			if cmd.Container == "" {
				cmd.Container = "main"
			}
			var out, said bytes.Buffer
			err := cmd.Run(t.Context(), Terminal{Out: &out, Err: &said})
			var exit *Exit
			if errors.As(err, &exit) != (c.code != 0) || exit != nil && exit.Code != c.code {
				t.Errorf("ended with %#v, want code %d", err, c.code)
			}
			if got := fmt.Sprint(err); c.err != "" && !strings.Contains(got, c.err) {
				t.Errorf("error %q, want %q", got, c.err)
			}
			if !strings.HasPrefix(said.String(), c.said) || c.said == "" && said.Len() > 0 {
				t.Errorf("said %q, want %q", said.String(), c.said)
			}
		})
	}
}

func TestInputThatIsNoTerminalIsPassedAsItIs(t *testing.T) {
	cmd := ExecCmd{Pod: "web", Command: []string{"cat"}, visiting: visiting{Namespace: "default", Container: "main", Stdin: true, TTY: true}}
	cmd.connection = visited(t, func(_ context.Context, s runtime.Streams) error {
		if s.TTY {
			return errors.New("it has a terminal")
		}
		_, err := io.Copy(s.Stdout, s.Stdin)
		return err
	})
	var out, said bytes.Buffer
	err := cmd.Run(t.Context(), Terminal{In: strings.NewReader("a\x03b"), Out: &out, Err: &said})
	if err != nil || out.String() != "a\x03b" {
		t.Errorf("%q, %v", out.String(), err)
	}
	if want := "Unable to use a TTY - input is not a terminal or the right kind of file\n"; said.String() != want {
		t.Errorf("said %q", said.String())
	}
}

// terminal is a new one of this size.
func terminal(t *testing.T, columns, rows uint16) rig.Terminal {
	t.Helper()
	made, err := rig.OpenTerminal()
	if err == nil {
		t.Cleanup(func() { _ = made.Close() })
		err = made.Resize(columns, rows)
	}
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func cooked(t *testing.T, of rig.Terminal) bool {
	t.Helper()
	is, err := of.Cooked()
	if err != nil {
		t.Error(err)
	}
	return is
}

func TestATerminalIsRawWhileACommandHasIt(t *testing.T) {
	cases := []struct {
		name string
		end  func(s runtime.Streams) error // of the program
		ends func()                        // done from outside
		code int
	}{
		{"the command ends", func(runtime.Streams) error { return &runtime.ExitError{Code: 42} }, nil, 42},
		{"a key ends it", func(s runtime.Streams) error {
			key := make([]byte, 1)
			if _, err := io.ReadFull(s.Stdin, key); err != nil || key[0] != 3 {
				return fmt.Errorf("read %q, %w", key, err)
			}
			return &runtime.ExitError{Code: 130}
		}, nil, 130},
		{"a signal ends it", nil, func() { _ = unix.Kill(os.Getpid(), unix.SIGTERM) }, 143},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			of := terminal(t, 101, 30)
			cmd := ExecCmd{Pod: "web", Command: []string{"sh"}, visiting: visiting{Namespace: "default", Container: "main", Stdin: true, TTY: true}}
			cmd.connection = visited(t, func(ctx context.Context, s runtime.Streams) error {
				defer s.CloseStdin()
				first := <-s.Sizes
				if !s.TTY || s.Stderr != nil || first != (runtime.TerminalSize{Width: 101, Height: 30}) || cooked(t, of) {
					t.Errorf("streams %+v, size %v, cooked %v", s, first, cooked(t, of))
				}
				if err := of.Resize(80, 24); err != nil {
					t.Error(err)
				}
				_ = unix.Kill(os.Getpid(), unix.SIGWINCH) // the kernel tells the foreground alone
				if next := <-s.Sizes; next.Width != 80 {
					t.Errorf("next size %v", next)
				}
				if c.end != nil {
					_, _ = of.Keys.Write([]byte{3}) // ^C is a key
					return c.end(s)
				}
				c.ends()
				<-ctx.Done()
				return ctx.Err()
			})
			var said bytes.Buffer
			err := cmd.Run(t.Context(), Terminal{In: of.Screen, Out: of.Screen, Err: &said})
			var exit *Exit
			if !errors.As(err, &exit) || exit.Code != c.code {
				t.Errorf("ended with %v, want code %d", err, c.code)
			}
			if !cooked(t, of) {
				t.Error("the terminal is still raw")
			}
		})
	}
}

func TestAttachAsksForNoMoreThanTheContainerGives(t *testing.T) {
	const (
		prompt  = "If you don't see a command prompt, try pressing enter.\n"
		noTTY   = "Unable to use a TTY - container main did not allocate one\n"
		noInput = "Unable to pass standard input - container main does not read any (its manifest has no stdin: true)\n"
	)
	cases := []struct {
		name string
		ask  visiting
		said string
	}{
		{"to look on", visiting{}, prompt},
		{"to type, in a container that does not read", visiting{Stdin: true, TTY: true}, noTTY + noInput + prompt},
		{"quietly", visiting{Stdin: true, TTY: true, Quiet: true}, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			cmd := AttachCmd{Pod: "web", visiting: c.ask}
			cmd.Namespace, cmd.Container = "default", "main"
			cmd.connection = visited(t, func(_ context.Context, s runtime.Streams) error {
				if s.Stdin != nil || s.TTY {
					return errors.New("it was given input")
				}
				_, err := io.WriteString(s.Stdout, "tick\n")
				return err
			})
			var out, said bytes.Buffer
			err := cmd.Run(t.Context(), Terminal{In: strings.NewReader("x"), Out: &out, Err: &said})
			if err != nil || out.String() != "tick\n" || said.String() != c.said {
				t.Errorf("%q, said %q, %v", out.String(), said.String(), err)
			}
		})
	}
	cmd := AttachCmd{visiting: visiting{Stdin: true}}
	var said bytes.Buffer
	cmd.fit(Terminal{Err: &said}, v1.Container{Name: "main", Stdin: true, TTY: true})
	if !cmd.TTY || !cmd.Stdin || said.Len() > 0 {
		t.Errorf("of a container with a terminal: %+v, said %q", cmd.visiting, said.String())
	}
}
