package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/podstead/podstead/cli"
	"github.com/podstead/podstead/runtime/runtimetest"
)

// commandSays runs a command and checks its code and part of what it printed.
func (b *bench) commandSays(code int, part string, args ...string) {
	b.t.Helper()
	got, out, errs := b.command(args...)
	if got != code || !strings.Contains(out+errs, part) {
		b.t.Errorf("podstead %s: code %d, want %d with %q\n%s%s", strings.Join(args, " "), got, code, part, out, errs)
	}
}

func TestRestartOfPods(t *testing.T) {
	b := newBench(t)
	b.engine.Behave("job-n1/main", runtimetest.Exits(0, 0))
	b.drop("web.yaml", manifest("web", ""))
	b.drop("db.yaml", manifest("db", ""))
	b.drop("job.yaml", manifest("job", "  restartPolicy: Never\n"))
	client, _ := b.start()
	b.commandSays(0, "db-n1 condition met", "wait", "--for=ready", "--all")
	t.Setenv("SUDO_USER", "alice")
	b.commandSays(0, "pod/web-n1 restarted\n", "restart", "web", "pod/db-n1", "--wait")
	pods, err := client.Pods(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range pods {
		s := pods[i].Status.ContainerStatuses[0]
		switch last := s.LastTerminationState.Terminated; {
		case cli.WrittenName(&pods[i]) == "job":
		case s.RestartCount != 1 || !s.Ready || last == nil || last.Message != "restart asked for by alice (sudo)":
			t.Errorf("pod %s: %+v", pods[i].Name, s)
		}
	}
	b.commandSays(0, "RestartAsked", "get", "events", "web")
	b.commandSays(0, "pod/web-n1 restarting", "restart", "web")
	b.commandSays(cli.ExitFailed, "it has run to its end (Succeeded)", "restart", "job")
	b.commandSays(cli.ExitFailed, "did you mean db, web?", "restart", "wbe")
	b.commandSays(cli.ExitConfig, "--timeout must not be negative", "restart", "web", "--timeout=-1s")
	b.engine.Down()
	b.commandSays(cli.ExitFailed, "engine unavailable", "restart", "web")
}

func TestDrainOverAnAgentRestart(t *testing.T) {
	b := newBench(t)
	b.drop("web.yaml", manifest("web", ""))
	client, stop := b.start()
	before := b.podsWith(client, "web is ready", isReady)
	b.commandSays(0, "pod/web-n1 drained\nnode drained; `podstead resume`", "drain")
	b.commandSays(0, "node is drained already", "drain", "--no-wait")
	b.commandSays(0, "Drained", "get", "pods")
	b.commandSays(cli.ExitFailed, "node: drained since", "status")
	b.commandSays(cli.ExitFailed, "1: 0 ready, 0 succeeded, 1 drained, 0 not well", "status")
	b.commandSays(cli.ExitFailed, "`podstead resume` starts its pods again", "restart", "web")
	b.commandSays(cli.ExitFailed, "pods/web: Drained: the node is drained at", "wait", "--for=ready", "web", "--timeout=10ms")
	if err := stop(); err != nil {
		t.Fatal(err)
	}

	code, out := b.once()
	if code != cli.ExitConfig || !strings.Contains(out, "nothing is run once: the node is drained") {
		t.Errorf("run-once: code %d\n%s", code, out)
	}
	b.cfg.Once = false
	b.drop("new.yaml", manifest("new", ""))
	b.start()
	b.until("the new pod is shown", func() bool {
		_, out, _ := b.command("get", "pods", "new")
		return strings.Contains(out, "Drained")
	})
	if n := len(b.engine.PeekAll()); n != 1 || b.engine.PeekAll()[0].Running() {
		t.Errorf("%d pods are on the engine, or one runs", n)
	}
	b.commandSays(0, "node resumed", "resume")
	b.commandSays(0, "pod/new-n1 condition met", "wait", "--for=ready", "--all")
	b.commandSays(0, string(before.UID), "get", "pods", "web", "-o", "wide")
	b.commandSays(0, "node was not drained", "resume")
	b.commandSays(0, "asked for by", "get", "events")
}

func TestADrainNamesWhatHasNotEnded(t *testing.T) {
	b := newBench(t)
	b.engine.Behave("web-n1/main", runtimetest.Deaf())
	b.drop("web.yaml", strings.Replace(manifest("web", ""), "Seconds: 0", "Seconds: 600", 1))
	client, _ := b.start()
	b.podsWith(client, "web is ready", isReady)
	b.commandSays(cli.ExitFailed, "default/web-n1 (Draining: running main)", "drain", "--timeout=500ms")
	b.commandSays(0, "node is drained already", "drain", "--no-wait")
	b.commandSays(0, "node resumed", "resume")
}

func TestASuspendedSourceOverRestartAndReload(t *testing.T) {
	b, r := newBench(t), newRepository(t)
	first := r.push("pods/one.yaml", manifest("one", ""))
	b.drop("local.yaml", manifest("local", ""))
	b.configure(listed(r.source("fleet"), b.folderSource("local")))
	client, stop := b.start()
	ids := b.ready(client, "one", "local")
	b.commandSays(0, "source/fleet suspended", "suspend", "fleet")
	b.commandSays(0, "is suspended already", "suspend", "source/fleet")
	b.commandSays(cli.ExitFailed, "there are: fleet, local", "suspend", "flete")
	second := r.push("pods/two.yaml", manifest("two", ""))
	b.commandSays(cli.ExitFailed, "it is not looked at: suspended since", "sync", "fleet")
	b.commandSays(cli.ExitFailed, "local: in force", "sync")
	b.commandSays(0, "fleet: Suspended (not looked at since", "status")
	b.commandSays(0, "Suspended", "get", "sources")

	// Other settings change nothing in that, and another source is followed.
	b.configure(listed(strings.Replace(r.source("fleet"), "1h", "1s", 1), b.folderSource("local")))
	b.hangup()
	b.drop("more.yaml", manifest("more", ""))
	now := b.ready(client, "one", "local", "more")
	if now["one"] != ids["one"] {
		t.Error("a pod of the suspended source was restarted")
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	client, _ = b.start()
	b.ready(client, "one", "local", "more")
	b.commandSays(0, "fleet: suspended (not looked at since", "get", "sources")
	b.commandSays(cli.ExitFailed, "in force is "+first[:7]+", and its state is Suspended", "wait", "--for=revision="+second, "fleet", "--timeout=0")
	b.commandSays(0, "suspended are these sources: fleet", "resume")
	b.commandSays(0, "source/fleet resumed", "resume", "fleet")
	b.commandSays(0, "source/fleet condition met", "wait", "--for=revision="+second[:8], "source/fleet")
	b.ready(client, "one", "two", "local", "more")
	b.commandSays(0, "It is looked at again: asked for by", "get", "events")

	// One that is taken out of the configuration behaves as one taken out.
	b.commandSays(0, "source/fleet suspended", "suspend", "fleet")
	b.configure(listed(b.folderSource("local")))
	b.hangup()
	b.commandSays(0, "source/fleet condition met", "wait", "--for=gone", "source/fleet")
	b.ready(client, "local", "more")
	b.until("its state is gone", func() bool {
		_, err := os.Stat(filepath.Join(b.cfg.RootDir, "sources", "fleet"))
		return os.IsNotExist(err)
	})
}

func TestSuspendingWhatNeverAnswered(t *testing.T) {
	b := newBench(t)
	b.configure(listed(silence(t), b.folderSource("local")))
	b.start()
	b.commandSays(0, "source silence has never answered: nothing of it is in force", "suspend", "silence")
	b.commandSays(cli.ExitFailed, "nothing of it is in force, and its state is Suspended", "wait", "--for=revision=abcd", "silence", "--timeout=0")
}

// A wait ends as soon as what it waits for has come, whenever that is.
func TestWaitSeesWhatComesLater(t *testing.T) {
	b := newBench(t)
	client, _ := b.start()
	b.drop("web.yaml", manifest("web", ""))
	b.commandSays(0, "pod/web condition met", "wait", "--for=ready", "web", "--timeout=20s")
	b.ready(client, "web")
	b.engine.Behave("job-n1/main", runtimetest.Exits(0, 3))
	b.drop("job.yaml", manifest("job", "  restartPolicy: Never\n"))
	b.commandSays(cli.ExitFailed, "pod/job: it can never be ready: it has failed", "wait", "--for=ready", "job")
	b.commandSays(cli.ExitFailed, "timed out waiting for the condition on pods/web: web-n1 is still there: Running", "wait", "--for=gone", "web", "--timeout=10ms")
	b.commandSays(cli.ExitConfig, "is not one of ready, running, gone", "wait", "--for=happy", "web")
	if err := os.Remove(filepath.Join(b.manifests(), "web.yaml")); err != nil {
		t.Fatal(err)
	}
	b.commandSays(0, "pod/web condition met", "wait", "--for=delete", "pod/web")
}
