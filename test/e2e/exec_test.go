//go:build e2e

package e2e

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/podstead/podstead/test/rig"
)

// visitor is a podstead exec or attach that goes on beside the test.
type visitor struct {
	n     *node
	cmd   *exec.Cmd
	ended chan error

	mu    sync.Mutex
	shown bytes.Buffer
}

// Write is the visitor's output.
func (v *visitor) Write(p []byte) (int, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.shown.Write(p)
}

func (v *visitor) text() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.shown.String()
}

// visit starts a command line of this node's user, on a terminal if one is given.
func (n *node) visit(screen *rig.Terminal, input io.Reader, args ...string) *visitor {
	n.Helper()
	v := &visitor{n: n, cmd: exec.Command(program, args...), ended: make(chan error, 1)}
	v.cmd.Env = append(environment(), "PODSTEAD_ROOT_DIR="+n.root)
	v.cmd.Stdin, v.cmd.Stdout, v.cmd.Stderr = input, v, v
	if screen != nil {
		v.cmd.Stdin, v.cmd.Stdout, v.cmd.Stderr = screen.Screen, screen.Screen, screen.Screen
		v.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
		go func() { _, _ = io.Copy(v, screen.Keys) }() // until the terminal is closed
	}
	n.must(v.cmd.Start())
	go func() { v.ended <- v.cmd.Wait() }()
	n.Cleanup(func() { _ = v.cmd.Process.Kill() }) // if the test has failed
	return v
}

// sees waits until the visitor's output holds the text.
func (v *visitor) sees(text string) {
	v.n.Helper()
	v.n.await("the visitor to see "+text, func() error {
		if shown := v.text(); !strings.Contains(shown, text) {
			return fmt.Errorf("it sees %q", shown)
		}
		return nil
	})
}

// end waits for the visitor's end and returns its exit code, -1 for a signal.
func (v *visitor) end() int {
	v.n.Helper()
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case err := <-v.ended:
		var failed *exec.ExitError
		if err != nil && !errors.As(err, &failed) {
			v.n.Error(err)
		}
	case <-late.C:
		v.n.Fatalf("the visitor does not end; it saw %q", v.text())
	}
	return v.cmd.ProcessState.ExitCode()
}

func TestACommandsEndIsExecs(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	n.put("lamp.yaml", lamp("lamp"))
	n.awaitReady("lamp")
	cases := []struct {
		name     string
		script   []string
		out, err string // err: part of it
		codes    []int
	}{
		{"well", []string{"sh", "-c", "echo out; echo err >&2"}, "out\n", "err\n", []int{0}},
		{"with 1", []string{"sh", "-c", "exit 1"}, "", "command terminated with exit code 1", []int{1}},
		{"killed", []string{"sh", "-c", "kill -9 $$"}, "", "137", []int{137}},
		{"missing", []string{"/nosuch"}, "", `There is no "/nosuch" in container "main"`, []int{126, 127}},
		{"no program", []string{"/etc"}, "", "is no program", []int{126, 127}},
		{"later than its output", []string{"sh", "-c", "exec >&- 2>&-; sleep 1; exit 5"}, "", "5", []int{5}},
	}
	for _, c := range cases {
		o := n.run(append([]string{"exec", "lamp", "--"}, c.script...)...)
		good := false
		for _, code := range c.codes {
			good = good || o.code == code
		}
		if o.out != c.out || !strings.Contains(o.err, c.err) || !good {
			t.Errorf("%s: exit %d, %q, %q", c.name, o.code, o.out, o.err)
		}
	}
	v := n.visit(nil, nil, "exec", "lamp", "--", "sh", "-c", "echo begun; sleep 100000")
	v.sees("begun")
	n.kill("lamp", "main")
	if code := v.end(); code != 137 {
		t.Errorf("when its container dies: exit %d, %q", code, v.text())
	}
}

func TestEightMegabytesGoInAndComeBack(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	n.put("lamp.yaml", lamp("lamp"))
	n.awaitReady("lamp")
	sent := make([]byte, 8<<20)
	_, _ = rand.Read(sent) // never fails
	v := n.visit(nil, bytes.NewReader(sent), "exec", "-i", "-q", "lamp", "--", "cat")
	if code := v.end(); code != 0 || sha256.Sum256([]byte(v.text())) != sha256.Sum256(sent) {
		t.Errorf("exit %d, %d bytes came back of %d, or others", code, len(v.text()), len(sent))
	}
	v = n.visit(nil, bytes.NewReader(sent), "exec", "-i", "lamp", "--", "true")
	if code := v.end(); code != 0 || v.text() != "" {
		t.Errorf("a command that does not read: exit %d, %q", code, v.text())
	}
}

func TestAShellOnATerminal(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	n.put("lamp.yaml", lamp("lamp"))
	n.awaitReady("lamp")
	screen, err := rig.OpenTerminal()
	n.must(err)
	defer screen.Close()
	n.must(screen.Resize(101, 30))
	types := func(line string) {
		_, err := io.WriteString(screen.Keys, line)
		n.must(err)
	}
	v := n.visit(&screen, nil, "exec", "-it", "lamp", "--", "sh")
	v.sees("# ")
	types("stty size; echo is $TERM\r")
	v.sees("30 101\r\nis xterm")
	n.must(screen.Resize(133, 50))
	n.await("the new size", func() error {
		types("stty size\r")
		if shown := v.text(); !strings.Contains(shown, "50 133") {
			return errors.New(shown)
		}
		return nil
	})
	types("echo sleeps; sleep 100000\r")
	v.sees("sleeps\r\n")
	types("\x03echo code $?\r")
	v.sees("code 130")
	types("exit 42\r")
	if code := v.end(); code != 42 {
		t.Errorf("exit %d, %q", code, v.text())
	}
	if cooked, err := screen.Cooked(); err != nil || !cooked {
		t.Errorf("the terminal is left raw: %v, %v", cooked, err)
	}
}

// What was begun in a container goes on when the agent ends; who waits for it is told.
func TestTheAgentEndsWhileACommandRuns(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	n.put("lamp.yaml", lamp("lamp"))
	n.awaitReady("lamp")
	for _, c := range []struct {
		signal syscall.Signal
		told   string
	}{
		{syscall.SIGTERM, "the agent is being stopped"},
		{syscall.SIGKILL, "without telling how the command ended"},
	} {
		mark := "100" + fmt.Sprint(int(c.signal))
		v := n.visit(nil, nil, "exec", "lamp", "--", "sh", "-c", "echo begun; exec sleep "+mark)
		v.sees("begun")
		if took, err := n.end(c.signal); took > 2*time.Second || err != nil && c.signal == syscall.SIGTERM {
			t.Errorf("%s: the agent ended after %s with %v", c.signal, took, err)
		}
		if code := v.end(); code != 1 || !strings.Contains(v.text(), c.told) {
			t.Errorf("%s: exit %d, %q", c.signal, code, v.text())
		}
		n.start()
		n.awaitReady("lamp")
		if o := n.run("exec", "lamp", "--", "ps", "-o", "args"); !strings.Contains(o.out, "\nsleep "+mark+"\n") {
			t.Errorf("%s: the command has not gone on: %s%s", c.signal, o.out, o.err)
		}
	}
}

// A client that is killed leaves nothing behind in the agent, though its command is
// silent or does not read.
func TestWhoGoesAwayLeavesNothingInTheAgent(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	n.put("lamp.yaml", lamp("lamp"))
	n.awaitReady("lamp")
	n.run("exec", "lamp", "--", "true")
	goroutines, files := n.metric("go_goroutines"), n.metric("process_open_fds")
	for _, verb := range [][]string{
		{"exec", "-i", "lamp", "--", "sh", "-c", "echo begun >&2; exec sleep 100000"},
		{"attach", "lamp"},
	} {
		over := make(chan struct{})
		v := n.visit(nil, endless{over}, verb...)
		n.await("the visit", func() error {
			if n.metric("process_open_fds") == files {
				return errors.New("nobody has come")
			}
			return nil
		})
		n.must(v.cmd.Process.Kill())
		close(over)
		v.end()
	}
	n.await("goroutines and files to be as before", func() error {
		g, f := n.metric("go_goroutines"), n.metric("process_open_fds")
		if g > goroutines || f > files {
			return fmt.Errorf("%v goroutines, before %v; %v files, before %v", g, goroutines, f, files)
		}
		return nil
	})
}

// endless is input without end, until it is closed.
type endless struct{ over <-chan struct{} }

func (e endless) Read(p []byte) (int, error) {
	select {
	case <-e.over:
		return 0, io.EOF
	default:
		return len(p), nil
	}
}

func TestAttachShowsWhatIsWrittenFromThenOn(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	n.put("clock.yaml", pod("clock", "containers:", run1("main", "i=0; while :; do echo tick $((i+=1)); sleep 0.2; done")))
	n.awaitReady("clock")
	n.await("some ticks", func() error {
		if !strings.Contains(n.logs("clock", "main"), "tick 5\n") {
			return errors.New("not yet")
		}
		return nil
	})
	v := n.visit(nil, nil, "attach", "clock")
	v.sees("tick ")
	if strings.Contains(v.text(), "tick 1\n") {
		t.Errorf("it shows what was before: %q", v.text())
	}
	n.kill("clock", "main")
	if code := v.end(); code != 0 {
		t.Errorf("exit %d, %q", code, v.text())
	}
}

func TestACommandRunsInAPodOnItsWayOut(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	n.put("slow.yaml", pod("slow", "terminationGracePeriodSeconds: 600", "containers:", run1("main", stubborn)))
	n.awaitReady("slow")
	n.drop("slow.yaml")
	n.await("the pod to be told to end", func() error { return atLeast(1, n.story.of("kill", "main")) })
	if o := n.run("exec", "slow", "--", "echo", "here"); o.code != 0 || o.out != "here\n" {
		t.Errorf("exit %d, %q, %q", o.code, o.out, o.err)
	}
	n.kill("slow", "main")
	n.awaitGone("slow")
}
