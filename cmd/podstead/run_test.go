package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/agent/api"
	"github.com/podstead/podstead/cli"
	"github.com/podstead/podstead/config"
	"github.com/podstead/podstead/runtime/docker"
	"github.com/podstead/podstead/runtime/runtimetest"
)

const image = "registry.example/app:1"

// bench is one machine: an engine that outlives its agents, a root-dir, a folder
// of manifests.
type bench struct {
	t      *testing.T
	engine *runtimetest.Fake
	cfg    config.Config
	out    surroundings
	log    *transcript
	folder string // of manifests, when a configuration file took the place of flags
	hangup func() // asks for the configuration to be read again
}

// manifests is the folder of manifests.
func (b *bench) manifests() string {
	if b.folder != "" {
		return b.folder
	}
	return b.cfg.Manifests[0]
}

// transcript is a log that many goroutines write.
type transcript struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *transcript) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *transcript) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func newBench(t *testing.T) *bench {
	t.Helper()
	dir := t.TempDir()
	fake := runtimetest.New(time.Now)
	fake.AddImage(image)
	b := &bench{t: t, engine: fake, log: &transcript{}, cfg: config.Defaults()}
	b.cfg.RootDir = filepath.Join(dir, "root")
	b.cfg.Manifests = []string{filepath.Join(dir, "manifests")}
	b.cfg.Socket = config.SocketPath(b.cfg.RootDir, "")
	b.cfg.OnceTimeout = 20 * time.Second
	if err := os.Mkdir(b.cfg.Manifests[0], 0o700); err != nil {
		t.Fatal(err)
	}
	b.out = surroundings{
		logger: slog.New(slog.NewTextHandler(b.log, nil)), host: host{Hostname: "n1", MachineID: "m1"},
		runDir:    filepath.Join(dir, "run"),
		newEngine: func(docker.Config) (engine, error) { return fake, nil },
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(b.log.String())
		}
	})
	return b
}

// start runs an agent until stop is called, which returns its error.
func (b *bench) start() (client *api.Client, stop func() error) {
	b.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, b.cfg, b.out, nil) }()
	var once sync.Once
	var err error
	stop = func() error {
		once.Do(func() { cancel(); err = <-ended })
		return err
	}
	b.t.Cleanup(func() { _ = stop() })
	client = api.NewClient(b.cfg.Socket)
	b.until("the agent answers", func() bool {
		_, err := client.Version(b.t.Context())
		return err == nil
	})
	return client, stop
}

// until asks again and again, and fails the test when the answer stays no.
func (b *bench) until(what string, holds func() bool) {
	b.t.Helper()
	limit := time.NewTimer(20 * time.Second)
	defer limit.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-limit.C:
			b.t.Fatalf("never came: %s", what)
		}
	}
}

// drop puts a manifest into the folder as careful tools do: whole, by rename.
func (b *bench) drop(name, text string) {
	b.t.Helper()
	temp := write(b.t, b.t.TempDir(), name, text)
	data, err := os.ReadFile(temp)
	if err != nil {
		b.t.Fatal(err)
	}
	hidden := write(b.t, b.manifests(), "."+name+".new", string(data))
	if err := os.Rename(hidden, filepath.Join(b.manifests(), name)); err != nil {
		b.t.Fatal(err)
	}
}

// podsWith waits until exactly one pod is shown, and holds.
func (b *bench) podsWith(client *api.Client, what string, holds func(v1.Pod) bool) v1.Pod {
	b.t.Helper()
	var pod v1.Pod
	b.until(what, func() bool {
		pods, err := client.Pods(b.t.Context())
		if err != nil || len(pods) != 1 || !holds(pods[0]) {
			return false
		}
		pod = pods[0]
		return true
	})
	return pod
}

func manifest(name, more string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: Pod\nmetadata:\n  name: %s\nspec:\n  terminationGracePeriodSeconds: 0\n%s  containers:\n  - name: main\n    image: %s\n", name, more, image)
}

func isReady(p v1.Pod) bool { return cli.Ready(&p) }

// command runs a client command as a user would and returns what it printed.
func (b *bench) command(args ...string) (code int, out, errs string) {
	b.t.Helper()
	b.t.Setenv("PODSTEAD_ROOT_DIR", b.cfg.RootDir)
	var o, e bytes.Buffer
	code = execute(b.t.Context(), cli.Terminal{Out: &o, Err: &e}, args)
	return code, o.String(), e.String()
}

func TestAManifestIsRunFollowedAndRemoved(t *testing.T) {
	b := newBench(t)
	client, stop := b.start()

	b.drop("web.yaml", manifest("web", ""))
	first := b.podsWith(client, "web is ready", isReady)
	if first.Name != "web-n1" || first.Namespace != "default" {
		t.Errorf("runs as %s/%s", first.Namespace, first.Name)
	}

	b.drop("web.yaml", manifest("web", "  hostname: edited\n"))
	second := b.podsWith(client, "the edited web is ready", func(p v1.Pod) bool { return isReady(p) && p.UID != first.UID })
	if second.Spec.Hostname != "edited" {
		t.Errorf("hostname %q", second.Spec.Hostname)
	}

	if err := os.Remove(filepath.Join(b.cfg.Manifests[0], "web.yaml")); err != nil {
		t.Fatal(err)
	}
	b.until("nothing is left", func() bool {
		pods, err := client.Pods(t.Context())
		return err == nil && len(pods) == 0 && len(b.engine.PeekAll()) == 0
	})
	if err := stop(); err != nil {
		t.Errorf("ended with %v", err)
	}
}

func TestStoppingLeavesPodsAndStartingAdoptsThem(t *testing.T) {
	b := newBench(t)
	b.drop("web.yaml", manifest("web", ""))
	client, stop := b.start()
	before := b.podsWith(client, "web is ready", isReady)
	began := time.Now()
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("the agent took %s to end", took)
	}
	if !b.engine.Peek(string(before.UID)).Running() {
		t.Fatal("the pod does not outlive the agent")
	}
	b.engine.ForgetCalls()
	client, _ = b.start()
	after := b.podsWith(client, "web is ready again", isReady)
	if after.Status.ContainerStatuses[0].ContainerID != before.Status.ContainerStatuses[0].ContainerID || b.engine.Writes() > 0 {
		t.Errorf("not adopted: %s then %s, %d writes", before.Status.ContainerStatuses[0].ContainerID, after.Status.ContainerStatuses[0].ContainerID, b.engine.Writes())
	}
}

func TestAStopWithAHungEngineStillEndsInTime(t *testing.T) {
	b := newBench(t)
	b.drop("web.yaml", manifest("web", ""))
	client, stop := b.start()
	b.podsWith(client, "web is ready", isReady)
	b.engine.Freeze()
	defer b.engine.Thaw()
	b.drop("db.yaml", manifest("db", ""))
	began := time.Now()
	if err := stop(); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("the agent took %s to end", took)
	}
}

func TestASecondAgentOnOneRootDirIsRefused(t *testing.T) {
	b := newBench(t)
	b.start()
	err := run(t.Context(), b.cfg, b.out, nil)
	if !errors.Is(err, errLocked) || !strings.Contains(err.Error(), fmt.Sprint(os.Getpid())) {
		t.Errorf("second agent: %v", err)
	}
	err = runOnce(t.Context(), cli.Terminal{Out: &bytes.Buffer{}, Err: &bytes.Buffer{}}, b.cfg, b.out)
	var ends *cli.Exit
	if !errors.As(err, &ends) || ends.Code != cli.ExitConfig {
		t.Errorf("run-once beside an agent: %v", err)
	}
}

func TestAnEngineThatDoesNotSeeTheRootDirIsRefused(t *testing.T) {
	b := newBench(t)
	b.engine.RefuseRoot(errors.New("engine does not see it"))
	if err := run(t.Context(), b.cfg, b.out, nil); err == nil || !strings.Contains(err.Error(), "does not see it") {
		t.Errorf("run: %v", err)
	}
}

func TestAnEmptyFolderIsIdleAndWell(t *testing.T) { // B119
	b := newBench(t)
	client, _ := b.start()
	b.until("the engine has answered", func() bool {
		s, err := client.Status(t.Context())
		return err == nil && s.Engine.Error == ""
	})
	b.until("the source has been read", func() bool {
		s, err := client.Sources(t.Context())
		return err == nil && len(s) == 1 && s[0].State == api.SourceReady
	})
	if code, out, errs := b.command("status"); code != 0 {
		t.Errorf("status: %d\n%s%s", code, out, errs)
	}
}

// contextUntil is a context that ends when holds does.
func contextUntil(t *testing.T, holds func() bool) (context.Context, context.CancelFunc) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for !holds() {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
		cancel()
	}()
	return ctx, func() { cancel(); <-ended }
}
