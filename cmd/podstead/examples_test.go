package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/podstead/podstead/cli"
	"github.com/podstead/podstead/config"
	"github.com/podstead/podstead/runtime/runtimetest"
)

// podsOfExamples is the world in which every example runs: pods web and db on node
// n1, from source file.
const podsOfExamples = `apiVersion: v1
kind: Pod
metadata: {name: web, labels: {app: web}}
spec:
  terminationGracePeriodSeconds: 0
  containers:
  - {name: main, image: registry.example/app:1, ports: [{name: http, containerPort: 80}]}
  - {name: side, image: registry.example/app:1}
`

// exampleBench is a bench with that world in it, and files in the working directory.
func exampleBench(t *testing.T) *bench {
	t.Helper()
	b := newBench(t)
	for _, c := range []string{"web-n1/main", "web-n1/side"} {
		b.engine.Behave(c, runtimetest.Forever().Printing("hello", "world"))
	}
	b.engine.Behave("db-n1/main", runtimetest.Exits(0, 1).Printing("no disk"), runtimetest.Forever())
	b.engine.Install("date", func(_ context.Context, p runtimetest.Session) int {
		fmt.Fprintln(p.Stdout, "Tue Jan  1 12:00:00 UTC 2030")
		return 0
	})
	b.engine.Install("sh", func(_ context.Context, p runtimetest.Session) int {
		var typed []byte
		for { // a shell ends with its input, or when it is told to
			next := make([]byte, 100)
			n, err := p.Stdin.Read(next)
			typed = append(typed, next[:n]...)
			if err != nil || bytes.Contains(typed, []byte("exit")) {
				return 0
			}
		}
	})
	dir := t.TempDir()
	t.Chdir(dir)
	write(t, dir, "web.conf", "workers 2\n")
	write(t, dir, "web.yaml", podsOfExamples)
	write(t, dir, "config.yaml", listed(b.folderSource("one")))
	if err := os.Mkdir(filepath.Join(dir, "manifests"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "manifests"), "db.yaml", manifest("db", ""))
	return b
}

// inhabit runs the world's pods.
func (b *bench) inhabit() {
	b.t.Helper()
	b.drop("web.yaml", podsOfExamples)
	b.drop("db.yaml", manifest("db", ""))
	client, _ := b.start()
	b.until("web and db are ready, and db has been restarted", func() bool {
		pods, err := client.Pods(b.t.Context())
		if err != nil || len(pods) != 2 || !cli.Ready(&pods[0]) || !cli.Ready(&pods[1]) {
			return false
		}
		return pods[0].Status.ContainerStatuses[0].RestartCount > 0
	})
}

// holdBack runs a URL source fleet, which then removes its pods and so is held.
func (b *bench) holdBack() {
	b.t.Helper()
	p := newPage(b.t, manifest("one", "")+"---\n"+manifest("two", ""))
	b.configure(listed(p.source("fleet")))
	client, _ := b.start()
	b.ready(client, "one", "two")
	p.answer(http.StatusOK, manifest("one", "  nodeName: elsewhere\n"))
	if code, out, _ := b.command("sync", "fleet"); code != cli.ExitFailed || !strings.Contains(out, "RemovalHeld") {
		b.t.Fatalf("is not held: %d, %s", code, out)
	}
}

func TestEveryCommandHasExamplesAndEachOfThemRuns(t *testing.T) {
	for _, node := range visible(model(t)) {
		t.Run(words(node), func(t *testing.T) {
			examples := cli.ExamplesOf(node)
			if len(examples) == 0 {
				t.Fatal("has no examples: give it a method Examples() []cli.Example")
			}
			for _, e := range examples {
				t.Run(e.Line, func(t *testing.T) {
					if !strings.Contains(e.Line, words(node)) && !strings.Contains(e.Line, shortWords(node)) {
						t.Errorf("is no example of %s", words(node))
					}
					if words(node) == "podstead run" {
						runAgentExample(t, e)
						return
					}
					runExample(t, e)
				})
			}
		})
	}
}

// shortWords has the kind in the singular, as many write it.
func shortWords(node interface{ Path() string }) string {
	path := regexp.MustCompile(` \(.*\)`).ReplaceAllString(node.Path(), "")
	return "podstead " + strings.TrimSuffix(path, "s")
}

// runExample runs a line in the shell that it is for, against an agent that runs
// the world's pods. What goes on by itself is ended by ^C once it has said something.
func runExample(t *testing.T, e cli.Example) {
	b := exampleBench(t)
	if strings.HasSuffix(e.Line, " fleet") {
		b.holdBack()
	} else {
		b.inhabit()
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	shell := "bash"
	for _, other := range []string{"zsh", "fish"} {
		if strings.Contains(e.Line, "completion "+other) {
			shell = other
		}
	}
	line := regexp.MustCompile(`\b\d+:(\d+)\b`).ReplaceAllString(e.Line, ":$1") // any free port
	cmd := exec.CommandContext(ctx, shell, "-c", line)
	if strings.Contains(line, " -it ") { // on a terminal
		cmd = exec.CommandContext(ctx, "script", "-qec", line, os.DevNull)
		cmd.Stdin = strings.NewReader("exit\n")
	}
	var out transcript
	cmd.Env, cmd.Stdout, cmd.Stderr = b.program(), &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	if goesOn(e.Line) {
		b.until("it is on its way", func() bool {
			return out.String() != "" || slices.ContainsFunc(b.engine.Calls(), func(c runtimetest.Call) bool { return c.Verb == "Attach" })
		})
		if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGINT); err != nil {
			t.Error(err)
		}
	}
	if err := <-ended; err != nil && !(goesOn(e.Line) && interrupted(err)) {
		t.Errorf("%v\n%s", err, &out)
	}
}

// interrupted reports an end by ^C, where a command leaves that to the system.
func interrupted(err error) bool {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGINT
}

// goesOn reports whether a line runs until it is told to end.
func goesOn(line string) bool {
	return regexp.MustCompile(` (-w|-f|--watch|--follow|port-forward|attach)\b`).MatchString(line)
}

// runAgentExample starts the agent that a line asks for, with everything that it
// names in this test's folders, until it answers; with --runonce until its end.
func runAgentExample(t *testing.T, e cli.Example) {
	b := exampleBench(t)
	etc := t.TempDir()
	if err := os.Mkdir(filepath.Join(etc, "manifests"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, etc, "config.yaml", listed(b.folderSource("one")))
	write(t, etc, "git-token", "secret")
	args := shellWords(t, strings.ReplaceAll(e.Line, "/etc/podstead", etc))
	var all commands
	parser, err := newParser(&all, cli.Terminal{}, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parser.Parse(append(args[1:], "--root-dir", b.cfg.RootDir)); err != nil {
		t.Fatal(err)
	}
	all.Run.Flags.Output = all.Run.Output
	cfg, _, err := config.Loader{Flags: all.Run.Flags, Etc: etc, Try: trySources}.Load()
	if err != nil {
		t.Fatal(err)
	}
	b.cfg = cfg
	if cfg.Once {
		var out, errs bytes.Buffer
		err := runOnce(t.Context(), cli.Terminal{Out: &out, Err: &errs}, cfg, b.out)
		var exit *cli.Exit
		if errors.As(err, &exit) || err != nil || !strings.Contains(out.String(), `"name": "db-n1"`) {
			t.Errorf("%v\n%s%s", err, &out, &errs)
		}
		return
	}
	client, _ := b.start()
	sources, err := client.Sources(t.Context())
	if err != nil || len(sources) != 1 {
		t.Errorf("sources %+v, %v", sources, err)
	}
}

// shellWords are the words of a line as the shell would pass them on.
func shellWords(t *testing.T, line string) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "bash", "-c", fmt.Sprintf(`printf '%%s\0' %s`, line)).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}
