package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/cli"
	"github.com/podstead/podstead/runtime/runtimetest"
)

func TestTheClientCommandsAgainstARunningAgent(t *testing.T) {
	b := newBench(t)
	b.engine.Behave("web-n1/main", runtimetest.Forever().Printing("hello", "world"))
	b.drop("web.yaml", manifest("web", ""))
	client, _ := b.start()
	b.podsWith(client, "web is ready", isReady)
	cases := []struct {
		name string
		args string
		code int
		want []string
	}{
		{"pods", "get pods", 0, []string{"NAME ", "web-n1 ", "1/1 ", "Running "}},
		{"pods, wide", "get po -A -o wide", 0, []string{"NAMESPACE", "default ", " file ", "sha256:"}},
		{"one pod as written", "get pods web -o name", 0, []string{"pod/web-n1\n"}},
		{"pods as YAML", "get pods -o yaml", 0, []string{"kind: List"}},
		{"a pod as YAML", "get pods web -o yaml", 0, []string{"kind: Pod\n", "podstead/manifest: " + filepath.Join(b.cfg.Manifests[0], "web.yaml") + ":1"}},
		{"no pod there", "get pods -n other", 0, []string{"No pods in namespace other; 1 in others"}},
		{"no such pod", "get pods wbe", cli.ExitFailed, []string{"did you mean web?"}},
		{"sources", "get sources", 0, []string{"file ", " Ready ", b.cfg.Manifests[0]}},
		{"no such source", "get sources nope", cli.ExitFailed, []string{"there are: file"}},
		{"events of a pod", "get events web", 0, []string{"pod/web-n1", "Started"}},
		{"events of the node", "get events", 0, []string{"node/n1", "Starting podstead."}},
		{"log", "logs web", 0, []string{"hello\nworld\n"}},
		{"newest line", "logs web-n1 --tail 1", 0, []string{"world\n"}},
		{"no previous log", "logs -p web", cli.ExitFailed, []string{"previous terminated container"}},
		{"no such container", "logs web -c side", cli.ExitFailed, []string{`no container "side"; it has: main`}},
		{"status", "status", 0, []string{"n1", "docker 20.10.24", "1: 1 ready"}},
		{"version", "version", 0, []string{"podstead ", "agent "}},
		{"help", "get pods --help", 0, []string{"Usage: podstead get pods"}},
		{"a pod described", "describe po/web", 0, []string{"Name:  ", "web.yaml:1", "Last Act:", "start-container main: New", "Started container main"}},
		{"a source described", "describe source file", 0, []string{"default/web-n1 of ", "Faults:"}},
		{"the node described", "describe node", 0, []string{"Starting podstead.", "docker 20.10.24"}},
		{"another node described", "describe node n2", cli.ExitFailed, []string{"an agent knows its own, which is n1"}},
		{"kind and name in one word, a flag before", "-n default get pod/web -o name", 0, []string{"pod/web-n1\n"}},
		{"events of a pod in one word", "get events pod/web", 0, []string{"Started"}},
		{"events by type", "get events --field-selector type=Warning,reason=Nope", 0, []string{"No events found"}},
		{"a field of an event that is none", "get events --field-selector kind=Pod", cli.ExitConfig, []string{`"kind" is not one of involvedObject.fieldPath, `}},
		{"pods that no selector takes", "get pods -l app=nope", 0, []string{"No pods are selected; without --selector and --field-selector there are 1."}},
		{"a template that is none", "get pods -o jsonpath={.items", cli.ExitConfig, []string{`jsonpath "{.items" cannot be read: unclosed action`}},
		{"a template without one", "get pods -o jsonpath", cli.ExitConfig, []string{"jsonpath needs a template: -o jsonpath=…"}},
		{"in colour in spite of the pipe", "get pods --color=always", 0, []string{"\x1b[32mRunning\x1b[0m"}},
		{"a script", "completion bash", 0, []string{"complete -F _podstead podstead"}},
		{"a script for no shell", "completion tcsh", cli.ExitConfig, []string{`"bash","zsh","fish"`}},
		{"delete", "delete pod web --force", cli.ExitConfig, []string{"manifests rule: pod web-n1 is written in " + filepath.Join(b.cfg.Manifests[0], "web.yaml") + ":1 (source file); delete it there"}},
		{"apply", "apply -f web.yaml", cli.ExitConfig, []string{"copy the file into the folder of a source"}},
		{"run an image", "run web --image=busybox", cli.ExitConfig, []string{"write a Pod manifest"}},
		{"a mistyped command", "stauts", cli.ExitConfig, []string{`did you mean "status"?`, "`podstead --help` shows"}},
		{"a mistyped flag", "get pods --al-namespaces", cli.ExitConfig, []string{`did you mean "--all-namespaces"?`, "`podstead get pods --help` shows"}},
		{"no command", "", cli.ExitConfig, []string{"podstead --help"}},
		{"unknown flag", "get pods --colour", cli.ExitConfig, []string{"--colour"}},
		{"unknown form", "get pods -o bogus", cli.ExitConfig, []string{`"bogus" is not one of wide, json, yaml, name, jsonpath=…`}},
		{"unknown form of one thing", "status -o wide", cli.ExitConfig, []string{`"wide" is not one of json, yaml`}},
		{"events of a pod that is not there", "get events nope", 0, []string{"No events found of nope in namespace default"}},
		{"a tail that means nothing", "logs web --tail=-5", cli.ExitConfig, []string{"--tail: must be a number of lines, or -1 for all, is -5"}},
		{"the whole log", "logs web --tail=-1", 0, []string{"hello\nworld\n"}},
		{"the future of a log", "logs web --since=-5m --limit-bytes=-1", cli.ExitConfig, []string{"--since: must not be below 0, is -5m0s", "--limit-bytes: must not be below 0"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			code, out, errs := b.command(strings.Fields(c.args)...)
			if code != c.code {
				t.Errorf("code %d, want %d", code, c.code)
			}
			for _, part := range c.want {
				if !strings.Contains(out+errs, part) {
					t.Errorf("not printed: %s", part)
				}
			}
			if t.Failed() {
				t.Log(out + errs)
			}
		})
	}
}

func TestStatusTellsWhatIsNotWell(t *testing.T) {
	b := newBench(t)
	b.drop("web.yaml", manifest("web", ""))
	b.drop("bad.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: bad}\nspec: {containerz: []}\n")
	client, _ := b.start()
	b.podsWith(client, "web is ready", isReady)
	code, out, _ := b.command("status")
	if code != cli.ExitFailed || !strings.Contains(out, "bad.yaml:4") || !strings.Contains(out, "1 ready") {
		t.Errorf("code %d\n%s", code, out)
	}
	b.engine.Down()
	code, out, _ = b.command("status")
	if code != cli.ExitFailed || !strings.Contains(out, "not reachable") {
		t.Errorf("code %d with the engine down\n%s", code, out)
	}
}

func TestStatusOfAHungEngineWaitsForItOnce(t *testing.T) {
	b := newBench(t)
	b.start()
	b.engine.Freeze()
	defer b.engine.Thaw()
	began := time.Now()
	code, out, _ := b.command("status")
	if took := time.Since(began); code != cli.ExitFailed || took > 3500*time.Millisecond {
		t.Errorf("code %d after %s\n%s", code, took, out)
	}
}

func TestAnEngineThatRefusesSaysWhatHelps(t *testing.T) {
	for _, err := range []error{errors.New("dial unix /var/run/docker.sock: connect: permission denied"), fmt.Errorf("ask: %w", fs.ErrPermission)} {
		if text := engineHint(err); !strings.Contains(text, "run podstead as root") {
			t.Error(text)
		}
	}
	if text := engineHint(errors.New("refused")); text != "refused" {
		t.Error(text)
	}
}

func TestCommandsWithoutAnAgentSayHowToStartOne(t *testing.T) {
	b := newBench(t)
	for _, args := range []string{"status", "get pods", "logs web"} {
		if code, _, errs := b.command(strings.Fields(args)...); code != cli.ExitNotRunning || !strings.Contains(errs, "podstead run") {
			t.Errorf("%s: code %d, %s", args, code, errs)
		}
	}
	if code, out, _ := b.command("version"); code != 0 || !strings.Contains(out, "podstead ") {
		t.Errorf("version: code %d, %s", code, out)
	}
}

func TestAWatchedPodIsSeenThroughItsLife(t *testing.T) {
	b := newBench(t)
	b.start()
	var seen transcript
	ctx, cancel := contextUntil(t, func() bool { return strings.Contains(seen.String(), `"Running"`) })
	defer cancel()
	b.drop("web.yaml", manifest("web", ""))
	b.t.Setenv("PODSTEAD_ROOT_DIR", b.cfg.RootDir)
	var errs bytes.Buffer
	if code := execute(ctx, cli.Terminal{Out: &seen, Err: &errs}, []string{"get", "pods", "-w", "-o", "json"}); code != 0 {
		t.Errorf("code %d\n%s", code, &errs)
	}
	var first v1.Pod
	if err := json.NewDecoder(strings.NewReader(seen.String())).Decode(&first); err != nil || first.Name != "web-n1" {
		t.Errorf("first line: %s, %v", first.Name, err)
	}
}

func TestAHungEngineIsToldBesideTheLastThatWasKnown(t *testing.T) {
	b := newBench(t)
	b.drop("web.yaml", manifest("web", ""))
	client, _ := b.start()
	b.podsWith(client, "web is ready", isReady)
	b.engine.Freeze()
	defer b.engine.Thaw()
	code, out, errs := b.command("get", "pods")
	if code != 0 || !strings.Contains(out, "web-n1") || !strings.Contains(errs, "Warning: the engine cannot be seen") {
		t.Errorf("code %d\n%s%s", code, out, errs)
	}
}

func TestTheKubeletsPathsAnswer(t *testing.T) {
	b := newBench(t)
	b.engine.Behave("web-n1/main", runtimetest.Forever().Printing("hello", "world"))
	b.drop("web.yaml", manifest("web", ""))
	client, _ := b.start()
	b.podsWith(client, "web is ready", isReady)
	transport := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", b.cfg.Socket)
	}}
	cases := []struct {
		path string
		code int
		want string
	}{
		{"/healthz", 200, "ok"},
		{"/pods", 200, `"kind":"PodList"`},
		{"/runningpods/", 200, `"name":"web-n1"`},
		{"/metrics", 200, "process_resident_memory_bytes"},
		{"/containerLogs/default/web-n1/main?tailLines=1", 200, "world\n"},
		{"/containerLogs/default/web-n1/main?tailLines=x", 400, "tailLines"},
		{"/containerLogs/default/web-n1/side", 400, "side"},
		{"/containerLogs/default/nope/main", 404, "nope"},
		{"/podstead/v1/sources", 200, `"state":"Ready"`},
		{"/nothing", 404, ""},
	}
	for _, c := range cases {
		t.Run(c.path, func(t *testing.T) {
			resp, err := (&http.Client{Transport: transport}).Get("http://podstead" + c.path)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			if err != nil || resp.StatusCode != c.code || !strings.Contains(string(body), c.want) {
				t.Errorf("%d %s, %v; want %d %s", resp.StatusCode, body, err, c.code, c.want)
			}
		})
	}
}
