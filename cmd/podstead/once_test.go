package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/podstead/podstead/cli"
	"github.com/podstead/podstead/runtime/runtimetest"
)

// once runs run-once on the bench.
func (b *bench) once() (code int, out string) {
	b.t.Helper()
	b.cfg.Once = true
	var o, e bytes.Buffer
	t := cli.Terminal{Out: &o, Err: &e}
	code = conclude(b.t.Context(), t, runOnce(b.t.Context(), t, b.cfg, b.out))
	return code, o.String() + e.String()
}

func TestRunOnceRunsWithVolumesAndInitContainersAndLeavesThemRunning(t *testing.T) { // B116
	b := newBench(t)
	b.drop("web.yaml", manifest("web", "  volumes: [{name: v, emptyDir: {}}]\n  initContainers:\n  - {name: first, image: "+image+", command: [init], volumeMounts: [{name: v, mountPath: /v}]}\n"))
	b.drop("job.yaml", manifest("job", "  restartPolicy: OnFailure\n"))
	b.engine.Behave("first", runtimetest.Exits(0, 0))
	b.engine.Behave("job-n1/main", runtimetest.Exits(time.Millisecond, 1), runtimetest.Exits(time.Millisecond, 0))
	code, out := b.once()
	if code != 0 || !strings.Contains(out, "web-n1") || !strings.Contains(out, "Completed") {
		t.Fatalf("code %d\n%s", code, out)
	}
	running := 0
	for _, p := range b.engine.PeekAll() {
		if p.Running() {
			running++
		}
	}
	if running != 1 {
		t.Errorf("%d pods run, want web alone", running)
	}
	b.engine.ForgetCalls()
	if code, out := b.once(); code != 0 || b.engine.Writes() > 0 {
		t.Errorf("running it again: code %d, %d writes\n%s", code, b.engine.Writes(), out)
	}
}

func TestRunOnceNamesWhatFailsAndRunsTheRest(t *testing.T) { // B118
	b := newBench(t)
	b.drop("web.yaml", manifest("web", ""))
	b.drop("job.yaml", manifest("job", "  restartPolicy: Never\n"))
	b.drop("bad.yaml", "apiVersion: v1\nkind: Pod\nmetadata: {name: bad}\nspec: {containerz: []}\n")
	b.engine.Behave("job-n1/main", runtimetest.Exits(time.Millisecond, 3).Printing("about to fail"))
	code, out := b.once()
	if code != cli.ExitFailed {
		t.Errorf("code %d", code)
	}
	for _, part := range []string{"web-n1", "pod default/job-n1", "Failed", "main | about to fail", "bad.yaml:4", "containerz"} {
		if !strings.Contains(out, part) {
			t.Errorf("not told: %s", part)
		}
	}
	if t.Failed() {
		t.Log(out)
	}
}

func TestRunOnceReportsAsJSON(t *testing.T) {
	b := newBench(t)
	b.drop("web.yaml", manifest("web", ""))
	b.cfg.OnceOutput = "json"
	code, out := b.once()
	var report onceReport
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatal(err, out)
	}
	if code != 0 || report.Node != "n1" || len(report.Pods) != 1 || report.Pods[0].Result != resultReady || len(report.Sources) != 1 {
		t.Errorf("code %d, report %+v", code, report)
	}
}

func TestRunOnceGivesUpInTime(t *testing.T) {
	b := newBench(t)
	b.cfg.OnceTimeout = 500 * time.Millisecond
	b.drop("web.yaml", manifest("web", ""))
	b.engine.Behave("web-n1/main", runtimetest.Exits(time.Millisecond, 1).Printing("no database"))
	code, out := b.once()
	if code != cli.ExitFailed || !strings.Contains(out, "not ready after 500ms: its status is") || !strings.Contains(out, "no database") {
		t.Errorf("code %d\n%s", code, out)
	}
}

func TestRunOnceWithoutAnEngine(t *testing.T) {
	b := newBench(t)
	b.cfg.OnceTimeout = 200 * time.Millisecond
	b.drop("web.yaml", manifest("web", ""))
	b.engine.Down()
	if code, out := b.once(); code != cli.ExitNoEngine || !strings.Contains(out, "engine cannot be reached") {
		t.Errorf("code %d\n%s", code, out)
	}
}

func TestRunOnceEndsOrphans(t *testing.T) {
	b := newBench(t)
	b.drop("web.yaml", manifest("web", ""))
	if code, out := b.once(); code != 0 {
		t.Fatal(code, out)
	}
	if err := os.Remove(filepath.Join(b.cfg.Manifests[0], "web.yaml")); err != nil {
		t.Fatal(err)
	}
	b.drop("other.yaml", manifest("other", ""))
	code, out := b.once()
	pods := b.engine.PeekAll()
	if code != 0 || len(pods) != 1 || pods[0].Name != "other-n1" {
		t.Errorf("code %d, pods %v\n%s", code, pods, out)
	}
}

func TestRunOnceWithNothingUsable(t *testing.T) {
	b := newBench(t)
	b.drop("bad.yaml", "kind: Pod\n")
	if code, out := b.once(); code != cli.ExitConfig {
		t.Errorf("code %d\n%s", code, out)
	}
}

func TestRunOnceThatIsInterruptedLeavesPodsAsTheyAre(t *testing.T) {
	b := newBench(t)
	b.cfg.Once = true
	b.drop("job.yaml", manifest("job", "  restartPolicy: Never\n"))
	ctx, cancel := contextUntil(t, func() bool { return b.engine.Count("StartContainer") > 0 })
	defer cancel()
	err := runOnce(ctx, cli.Terminal{Out: &bytes.Buffer{}, Err: &bytes.Buffer{}}, b.cfg, b.out)
	var ends *cli.Exit
	if !errors.As(err, &ends) || ends.Code != cli.ExitFailed {
		t.Errorf("ended with %v", err)
	}
	if pods := b.engine.PeekAll(); len(pods) != 1 || !pods[0].Running() {
		t.Errorf("pods %v", pods)
	}
}
