package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/podstead/podstead/agent/api"
	"github.com/podstead/podstead/cli"
	"github.com/podstead/podstead/config"
	"github.com/podstead/podstead/manifests"
	"github.com/podstead/podstead/sources"
	"github.com/podstead/podstead/test/rig"
)

// page is a URL whose answer tests change.
type page struct {
	*httptest.Server
	mu   sync.Mutex
	code int
	body string
}

func newPage(t *testing.T, body string) *page {
	t.Helper()
	p := &page{code: http.StatusOK, body: body}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		p.mu.Lock()
		code, body := p.code, p.body
		p.mu.Unlock()
		w.WriteHeader(code)
		fmt.Fprint(w, body)
	}))
	t.Cleanup(p.Close)
	return p
}

func (p *page) answer(code int, body string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.code, p.body = code, body
}

// repository is a git repository behind smart HTTP.
type repository struct {
	t      *testing.T
	bare   *rig.Repository
	folder string
	URL    string
}

func newRepository(t *testing.T) *repository {
	t.Helper()
	root := t.TempDir()
	bare, err := rig.NewRepository(filepath.Join(root, "fleet.git"))
	if err != nil {
		t.Fatal(err)
	}
	backend, err := rig.GitBackend(root)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(backend)
	t.Cleanup(server.Close)
	return &repository{t: t, bare: bare, folder: t.TempDir(), URL: server.URL + "/fleet.git"}
}

// push commits one file more, or another version of it.
func (r *repository) push(name, text string) (commit string) {
	r.t.Helper()
	path := filepath.Join(r.folder, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		r.t.Fatal(err)
	}
	write(r.t, r.folder, name, text)
	commit, err := r.bare.Commit(r.folder, "change "+name)
	if err != nil {
		r.t.Fatal(err)
	}
	return commit
}

// configure makes the bench's configuration that of a file, which the agent
// follows when it runs. Folder and root-dir stay the bench's.
func (b *bench) configure(text string) {
	b.t.Helper()
	path := filepath.Join(filepath.Dir(b.cfg.RootDir), "config.yaml")
	temp := write(b.t, filepath.Dir(path), ".config.new", text)
	if err := os.Rename(temp, path); err != nil {
		b.t.Fatal(err)
	}
	flags := config.Flags{Config: path, RootDir: b.cfg.RootDir, RunOnceTimeout: b.cfg.OnceTimeout.String()}
	if b.out.reload != nil {
		return
	}
	loader := config.Loader{Flags: flags, Etc: b.t.TempDir(), Try: trySources}
	cfg, _, err := loader.Load()
	if err != nil {
		b.t.Fatal(err)
	}
	folder := b.cfg.Manifests
	b.cfg, b.out.reload = cfg, &rereading{loader: loader}
	hangup := make(chan os.Signal, 1)
	b.out.hangup, b.hangup = hangup, func() { hangup <- syscall.SIGHUP }
	b.folder = folder[0]
}

func listed(all ...string) string {
	return documentHeader + "sources:\n" + strings.Join(all, "")
}

func (b *bench) folderSource(name string) string {
	return fmt.Sprintf("- {name: %s, file: {path: %s}}\n", name, b.manifests())
}

func (p *page) source(name string) string {
	return fmt.Sprintf("- {name: %s, interval: 1h, http: {url: %s/pods}}\n", name, p.URL)
}

func (r *repository) source(name string) string {
	return fmt.Sprintf("- {name: %s, interval: 1h, git: {url: %s, ref: main, paths: [pods]}}\n", name, r.URL)
}

// ready waits until exactly these pods run, and returns their container's ids.
func (b *bench) ready(client *api.Client, names ...string) map[string]string {
	b.t.Helper()
	ids := map[string]string{}
	b.until("ready: "+strings.Join(names, ", "), func() bool {
		pods, err := client.Pods(b.t.Context())
		clear(ids)
		for _, p := range pods {
			if isReady(p) {
				ids[cli.WrittenName(&p)] = p.Status.ContainerStatuses[0].ContainerID
			}
		}
		return err == nil && len(pods) == len(names) && !slices.ContainsFunc(names, func(n string) bool { return ids[n] == "" })
	})
	return ids
}

func TestThreeKindsOfSourcesAtOnce(t *testing.T) {
	b, p, r := newBench(t), newPage(t, manifest("url", "")), newRepository(t)
	b.drop("folder.yaml", manifest("folder", ""))
	commit := r.push("pods/repo.yaml", manifest("repo", ""))
	b.configure(listed(b.folderSource("local"), p.source("page"), r.source("fleet")))
	client, _ := b.start()
	first := b.ready(client, "folder", "url", "repo")

	code, out, errs := b.command("get", "sources")
	for _, part := range []string{"local   file   Ready", "page    http   Ready", "fleet   git    Ready", commit[:7], p.URL + "/pods", "@main:pods"} {
		if code != 0 || !strings.Contains(out, part) {
			t.Errorf("get sources: %d, lacks %q\n%s%s", code, part, out, errs)
		}
	}
	if code, out, _ := b.command("sync", "fleet"); code != 0 || out != "fleet: in force at "+commit[:7]+"\n" {
		t.Errorf("sync: %d, %s", code, out)
	}

	commit = r.push("pods/more.yaml", manifest("more", ""))
	p.answer(http.StatusBadGateway, "")
	code, out, _ = b.command("sync")
	if code != cli.ExitFailed || !strings.Contains(out, "fleet: in force at "+commit[:7]+"\n") || !strings.Contains(out, "page: ") || !strings.Contains(out, "502") || !strings.Contains(out, "local: in force") {
		t.Errorf("sync: %d, %s", code, out)
	}
	second := b.ready(client, "folder", "url", "repo", "more")
	for name, id := range first {
		if second[name] != id {
			t.Errorf("%s was restarted", name)
		}
	}
	if code, out, _ := b.command("status"); code != cli.ExitFailed || !strings.Contains(out, "source page: ") {
		t.Errorf("status: %d\n%s", code, out)
	}
	if code, out, _ := b.command("get", "events", "page"); code != 0 || !strings.Contains(out, "SourceFault") {
		t.Errorf("events: %d\n%s", code, out)
	}
	p.answer(http.StatusOK, manifest("url", ""))
	if code, out, _ := b.command("sync", "source/page"); code != 0 {
		t.Errorf("sync: %d, %s", code, out)
	}
	if _, out, _ := b.command("get", "events", "page"); !strings.Contains(out, "SourceRecovered") {
		t.Errorf("events:\n%s", out)
	}
}

func TestSyncSaysWhatIsAskedWrongly(t *testing.T) {
	b := newBench(t)
	if code, _, errs := b.command("sync"); code != cli.ExitNotRunning {
		t.Errorf("without an agent: %d, %s", code, errs)
	}
	b.start()
	cases := []struct {
		name, args string
		code       int
		want       string
	}{
		{"no such source", "sync nope", cli.ExitFailed, `no source "nope"; there are: file`},
		{"removal of everything", "sync --allow-removal", cli.ExitConfig, "needs the name of a source"},
		{"no time", "sync --timeout 0s", cli.ExitConfig, "--timeout must be above 0"},
		{"all", "sync -o json", 0, `"source": "file"`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if code, out, errs := b.command(strings.Fields(c.args)...); code != c.code || !strings.Contains(out+errs, c.want) {
				t.Errorf("%d, %s%s", code, out, errs)
			}
		})
	}
}

// silence accepts and never answers.
func silence(t *testing.T) string {
	t.Helper()
	over := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-over:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(func() { close(over); s.Close() })
	return fmt.Sprintf("- {name: silence, interval: 1h, http: {url: %s, idleTimeout: 1h, timeout: 1h}}\n", s.URL)
}

func TestASourceThatHangsHoldsUpNoOther(t *testing.T) {
	b, p := newBench(t), newPage(t, manifest("url", ""))
	b.configure(listed(silence(t), p.source("page")))
	client, _ := b.start()
	b.ready(client, "url")
	code, out, _ := b.command("sync", "--timeout", "300ms")
	if code != cli.ExitFailed || !strings.Contains(out, "page: in force") || !strings.Contains(out, "silence: has not answered in time") {
		t.Errorf("%d\n%s", code, out)
	}
}

func TestRunOnceOfThreeKindsOfSources(t *testing.T) {
	b, p, r := newBench(t), newPage(t, manifest("url", "")), newRepository(t)
	b.drop("folder.yaml", manifest("folder", ""))
	r.push("pods/repo.yaml", manifest("repo", ""))
	b.configure(listed(b.folderSource("local"), p.source("page"), r.source("fleet")))
	code, out := b.once()
	if code != 0 || len(b.engine.PeekAll()) != 3 {
		t.Fatalf("code %d, %d pods\n%s", code, len(b.engine.PeekAll()), out)
	}

	// A source that fails later runs from its last good set, and is told of.
	p.answer(http.StatusNotFound, "")
	b.engine.ForgetCalls()
	code, out = b.once()
	if code != cli.ExitFailed || len(b.engine.PeekAll()) != 3 || b.engine.Writes() > 0 || !strings.Contains(out, "page: error: ") || !strings.Contains(out, "url-n1") {
		t.Errorf("code %d, %d pods, %d writes\n%s", code, len(b.engine.PeekAll()), b.engine.Writes(), out)
	}
}

func TestRunOnceWaitsForASourceThatHangsForItsTimeOnly(t *testing.T) {
	b := newBench(t)
	b.drop("folder.yaml", manifest("folder", ""))
	b.cfg.OnceTimeout = 2 * time.Second
	b.configure(listed(silence(t), b.folderSource("local")))
	began := time.Now()
	code, out := b.once()
	if took := time.Since(began); code != cli.ExitFailed || took > 6*time.Second || !strings.Contains(out, "folder-n1") || !strings.Contains(out, "silence: ") {
		t.Errorf("code %d after %s\n%s", code, took, out)
	}
}

func TestSourcesComeAndGoWithoutTouchingOthers(t *testing.T) {
	b, p, r := newBench(t), newPage(t, manifest("url", "")), newRepository(t)
	b.drop("folder.yaml", manifest("folder", ""))
	r.push("pods/repo.yaml", manifest("repo", ""))
	b.configure(listed(b.folderSource("local"), p.source("page")))
	client, _ := b.start()
	first := b.ready(client, "folder", "url")

	b.configure(listed(b.folderSource("local"), p.source("page"), r.source("fleet")))
	same(t, first, b.ready(client, "folder", "url", "repo"))

	b.configure(listed(b.folderSource("local"), r.source("fleet"), p.source("renamed")))
	b.hangup()
	b.until("the source is renamed", func() bool {
		all, err := client.Sources(t.Context())
		return err == nil && len(all) == 3 && all[2].Name == "renamed" && all[2].State == api.SourceReady
	})
	same(t, first, b.ready(client, "folder", "url", "repo"))

	b.configure(header + "maxPods: 7\n---\n" + listed(b.folderSource("local"), r.source("fleet")))
	b.hangup()
	same(t, map[string]string{"folder": first["folder"]}, b.ready(client, "folder", "repo"))
	b.until("status names what waits", func() bool {
		_, out, _ := b.command("status")
		return strings.Contains(out, "maxPods (--max-pods) takes effect at the next start")
	})
}

func same(t *testing.T, before, now map[string]string) {
	t.Helper()
	for name, id := range before {
		if now[name] != id {
			t.Errorf("%s was restarted", name)
		}
	}
}

func TestAConfigurationThatCannotBeUsedChangesNothing(t *testing.T) {
	b, p := newBench(t), newPage(t, manifest("url", ""))
	b.configure(listed(p.source("page")))
	client, _ := b.start()
	first := b.ready(client, "url")
	for _, broken := range []string{documentHeader + "sorces: []\n", "apiVersion: [\n", ""} {
		b.configure(broken)
		b.until("the fault is told", func() bool {
			s, err := client.Status(t.Context())
			return err == nil && s.Configuration.Error != ""
		})
		if code, out, _ := b.command("status"); code != cli.ExitFailed || !strings.Contains(out, "configuration: its newest version has no effect") {
			t.Errorf("status: %d\n%s", code, out)
		}
		b.configure(listed(p.source("page")) + "# again\n")
		b.until("it is well again", func() bool {
			s, err := client.Status(t.Context())
			return err == nil && s.Configuration.Error == ""
		})
	}
	if err := os.Remove(b.out.reload.loader.Path()); err != nil {
		t.Fatal(err)
	}
	b.until("its absence is told", func() bool {
		s, err := client.Status(t.Context())
		return err == nil && s.Configuration.Error != ""
	})
	same(t, first, b.ready(client, "url"))
	if _, out, _ := b.command("get", "events"); !strings.Contains(out, "ConfigurationFault") || !strings.Contains(out, "ConfigurationTaken") {
		t.Errorf("events:\n%s", out)
	}
}

func TestAPushIsSeenAtOnce(t *testing.T) {
	b, r := newBench(t), newRepository(t)
	r.push("pods/one.yaml", manifest("one", ""))
	secret := write(t, t.TempDir(), "secret", "s3cr3t")
	b.configure(listed(r.source("fleet")) + "webhook: {address: '127.0.0.1:0', secretFile: " + secret + "}\n")
	client, _ := b.start()
	b.ready(client, "one")
	s, err := client.Status(t.Context())
	if err != nil || s.Webhook == nil || s.Webhook.Address == "" {
		t.Fatalf("webhook %+v, %v", s.Webhook, err)
	}
	r.push("pods/two.yaml", manifest("two", ""))
	body := fmt.Sprintf(`{"object_kind":"push","ref":"refs/heads/main","project":{"git_http_url":%q}}`, r.URL)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+s.Webhook.Address+"/", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Gitlab-Event", "Push Hook")
	req.Header.Set("X-Gitlab-Token", "s3cr3t")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	http.DefaultClient.CloseIdleConnections()
	if resp.StatusCode != http.StatusAccepted {
		t.Errorf("answered %s", resp.Status)
	}
	b.ready(client, "one", "two")
}

func TestAWebhookWithoutItsSecretIsAProblem(t *testing.T) {
	b := newBench(t)
	secret := filepath.Join(t.TempDir(), "secret")
	b.configure(listed(b.folderSource("local")) + "webhook: {address: '127.0.0.1:0', secretFile: " + secret + "}\n")
	b.start()
	var code int
	var out string
	b.until("it is told", func() bool {
		code, out, _ = b.command("status")
		return strings.Contains(out, "webhook: pushes that need it are refused: read secret: open "+secret+": no such file or directory")
	})
	if code != cli.ExitFailed || strings.Contains(out, "listens on") {
		t.Errorf("status: %d\n%s", code, out)
	}
	write(t, filepath.Dir(secret), "secret", "s3cr3t")
	if code, out, _ := b.command("status"); code != 0 || !strings.Contains(out, "listens on") {
		t.Errorf("status: %d\n%s", code, out)
	}
}

// A file source takes what it finds: there is nothing that could be let through.
func TestARemovalOfAFolderNeedsNoLeave(t *testing.T) {
	b := newBench(t)
	b.start()
	if code, out, errs := b.command("sync", "--allow-removal", "file"); code != cli.ExitFailed || !strings.Contains(out+errs, "source file holds nothing back") {
		t.Errorf("%d, %s%s", code, out, errs)
	}
}

// What runs no more is told by its place in the repository, and so is a pod in
// the report of run-once.
func TestPlacesInARepository(t *testing.T) {
	b, r := newBench(t), newRepository(t)
	b.drop("one.yaml", manifest("one", ""))
	r.push("pods/one.yaml", "# first\n"+manifest("one", ""))
	commit := r.push("pods/two.yaml", manifest("two", ""))
	b.configure(listed(b.folderSource("local"), r.source("fleet")))
	b.cfg.OnceOutput = "json"
	code, out := b.once()
	for _, part := range []string{`"manifest": "pods/two.yaml:1 at ` + commit[:7] + `"`, `"place": "pods/one.yaml:2 at ` + commit[:7] + `"`, "source local, " + b.manifests() + "/one.yaml:1"} {
		if code != 0 || !strings.Contains(out, part) {
			t.Errorf("%d, lacks %s", code, part)
		}
	}
	if t.Failed() {
		t.Log(out)
	}
}

// A source that is given up says for whom its pods wait.
func TestARetiredSourceSaysForWhomItWaits(t *testing.T) {
	b, p := newBench(t), newPage(t, manifest("url", ""))
	b.configure(listed(p.source("page")))
	client, _ := b.start()
	first := b.ready(client, "url")
	b.configure(listed(b.folderSource("local"), silence(t)))
	b.hangup()
	b.until("it is retired", func() bool {
		_, out, _ := b.command("status")
		return strings.Contains(out, "page: Retired (waits for an answer of silence), 1 pod")
	})
	if _, out, _ := b.command("get", "sources"); !strings.Contains(out, "page: retired: it is configured no more, and its pods stay until these have answered: silence\n") {
		t.Error(out)
	}
	same(t, first, b.ready(client, "url"))
}

func TestARemovalIsHeldUntilItIsAllowed(t *testing.T) {
	b, r := newBench(t), newRepository(t)
	r.push("pods/one.yaml", manifest("one", ""))
	r.push("pods/two.yaml", manifest("two", ""))
	b.configure(listed(r.source("fleet")))
	client, _ := b.start()
	b.ready(client, "one", "two")
	for _, name := range []string{"one", "two"} {
		if err := os.Remove(filepath.Join(r.folder, "pods", name+".yaml")); err != nil {
			t.Fatal(err)
		}
	}
	r.push("pods/README", "nothing here\n")
	if code, out, _ := b.command("sync"); code != cli.ExitFailed || !strings.Contains(out, "would remove 2 of 2 pods") {
		t.Errorf("sync: %d, %s", code, out)
	}
	if code, out, _ := b.command("status"); code != cli.ExitFailed || !strings.Contains(out, "podstead sync --allow-removal fleet") {
		t.Errorf("status: %d\n%s", code, out)
	}
	if _, out, _ := b.command("get", "events", "fleet"); !strings.Contains(out, "RemovalHeld") {
		t.Errorf("events:\n%s", out)
	}
	b.ready(client, "one", "two")
	if code, out, _ := b.command("sync", "--allow-removal", "fleet"); code != 0 {
		t.Errorf("sync: %d, %s", code, out)
	}
	b.ready(client)
}

func TestWhatPodsOfAURLMayDo(t *testing.T) {
	mount := func(path string) string {
		return strings.Replace(manifest("url", "  volumes: [{name: v, hostPath: {path: "+path+"}}]\n"), "image: "+image, "image: "+image+"\n    volumeMounts: [{name: v, mountPath: /v}]", 1)
	}
	privileged := strings.Replace(manifest("url", ""), "image: "+image, "image: "+image+"\n    securityContext: {privileged: true}", 1)
	root := filepath.Join(t.TempDir(), "root")
	cases := []struct {
		name, settings, body string
		want                 string // of the fault; "" for none
	}{
		{"host ports by default", "", strings.Replace(manifest("url", ""), "image: "+image, "image: "+image+"\n    ports: [{containerPort: 80, hostPort: 8080}]", 1), ""},
		{"privileged by default", "", privileged, "privileged"},
		{"privileged when allowed", "policy: privileged, ", privileged, ""},
		{"a host path when privileged", "policy: privileged, ", mount("/srv/data"), ""},
		{"the root-dir when privileged", "policy: privileged, ", mount(root + "/pods"), "podstead's root-dir"},
		{"the engine's socket when privileged", "policy: privileged, ", mount("/var/run/docker.sock"), "the engine's socket"},
		{"a source's folder when privileged", "policy: privileged, ", mount("/etc/kiosk"), "the place of source local"},
		{"the root-dir when it may rule the node", "policy: privileged, allowNodeControl: true, ", mount(root + "/pods"), ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("DOCKER_HOST", "")
			p := newPage(t, c.body)
			cfg, _, err := config.Loader{Etc: t.TempDir(), Flags: config.Flags{RootDir: root, Config: write(t, t.TempDir(), "c.yaml", documentHeader+"sources:\n- {name: local, file: {path: /etc/kiosk/pods}}\n"+
				"- {name: page, "+c.settings+"http: {url: "+p.URL+"}}\n")}}.Load()
			if err != nil {
				t.Fatal(err)
			}
			try := maker{cfg: cfg, node: manifests.Node{Name: "n1"}, log: slog.New(slog.DiscardHandler)}
			s, err := try.source(cfg.Sources()[1])
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			out, ended := make(chan sources.Snapshot), make(chan error, 1)
			go func() { ended <- s.Run(ctx, out) }()
			got := <-out
			for !got.Attempted {
				got = <-out
			}
			cancel()
			<-ended
			text := plightOf(got).fault
			if c.want == "" && (text != "" || len(got.Pods) != 1) || !strings.Contains(text, c.want) {
				t.Errorf("%d pods, fault %q", len(got.Pods), text)
			}
		})
	}
}

func TestPodsOfARepositoryAreHeldToEdge(t *testing.T) {
	b, r := newBench(t), newRepository(t)
	r.push("pods/one.yaml", strings.Replace(manifest("one", "  volumes: [{name: v, hostPath: {path: /}}]\n"), "image: "+image, "image: "+image+"\n    securityContext: {privileged: true}", 1))
	b.configure(listed(r.source("fleet")))
	b.start()
	code, out, _ := b.command("sync", "fleet")
	for _, part := range []string{"privileged", "hostPath"} {
		if code != cli.ExitFailed || !strings.Contains(out, part) {
			t.Errorf("%d, not told: %s\n%s", code, part, out)
		}
	}
	// The event tells what the source itself has logged.
	if _, out, _ := b.command("get", "events", "fleet"); !strings.Contains(out, "SourceFault") || strings.Contains(b.log.String(), "SourceFault") ||
		strings.Count(b.log.String(), "violates policy edge") != 1 {
		t.Errorf("logged:\n%s\nevents:\n%s", b.log.String(), out)
	}
}

func TestHowASourcesPlightIsTold(t *testing.T) {
	fault, held := plight{fault: "refused"}, plight{held: "too much"}
	cases := []struct {
		name        string
		before, now plight
		want        []string
	}{
		{"nothing before, nothing now", plight{}, plight{}, nil},
		{"a fault", plight{}, fault, []string{"SourceFault"}},
		{"the same fault", fault, fault, nil},
		{"another fault", fault, plight{fault: "gone"}, []string{"SourceFault"}},
		{"well again", fault, plight{}, []string{"SourceRecovered"}},
		{"held", plight{}, held, []string{"RemovalHeld"}},
		{"held after a fault", fault, held, []string{"RemovalHeld"}},
		{"both", plight{}, plight{"refused", "too much"}, []string{"SourceFault", "RemovalHeld"}},
		{"the fault goes, the hold stays", plight{"refused", "too much"}, held, nil},
		{"let through", held, plight{}, []string{"SourceRecovered"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, e := range c.now.since(c.before, "abc") {
				got = append(got, e.reason)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}
