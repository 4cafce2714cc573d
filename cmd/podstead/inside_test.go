package main

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/podstead/podstead/agent/api"
	"github.com/podstead/podstead/cli"
	"github.com/podstead/podstead/runtime/runtimetest"
)

// forwarding is a port-forward under way.
type forwarding struct {
	*bench
	out, errs transcript
	end       func()
	code      chan int
}

// forward runs `podstead port-forward` until it listens.
func (b *bench) forward(args ...string) *forwarding {
	b.t.Helper()
	b.t.Setenv("PODSTEAD_ROOT_DIR", b.cfg.RootDir)
	ctx, cancel := context.WithCancel(b.t.Context())
	f := &forwarding{bench: b, code: make(chan int, 1), end: cancel}
	go func() {
		f.code <- execute(ctx, cli.Terminal{Out: &f.out, Err: &f.errs}, append([]string{"port-forward"}, args...))
		close(f.code)
	}()
	b.t.Cleanup(func() {
		cancel()
		<-f.code
		if b.t.Failed() {
			b.t.Logf("it said\n%s%s", f.out.String(), f.errs.String())
		}
	})
	b.until("it listens or gives up", func() bool {
		return strings.Contains(f.out.String(), "Forwarding from") || f.errs.String() != ""
	})
	return f
}

// local is the local port that is carried to the pod's.
func (f *forwarding) local(remote int) string {
	f.t.Helper()
	found := regexp.MustCompile(fmt.Sprintf(`Forwarding from 127\.0\.0\.1:(\d+) -> %d\n`, remote)).FindStringSubmatch(f.out.String())
	if found == nil {
		f.t.Fatalf("nothing is carried to %d:\n%s%s", remote, f.out.String(), f.errs.String())
	}
	return found[1]
}

// ask sends a text to a local port, ends its side, and returns the answer.
func (f *forwarding) ask(port, text string) string {
	f.t.Helper()
	conn, err := net.Dial("tcp", "127.0.0.1:"+port)
	if err != nil {
		f.t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, text); err != nil {
		f.t.Fatal(err)
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		f.t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil && text != "" {
		f.t.Error(err)
	}
	return string(answer)
}

// shouter is the address of a server that answers with all that it was told, in
// capitals, once it has heard it all.
func shouter(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			text, _ := io.ReadAll(conn)
			_, _ = conn.Write(bytes.ToUpper(text))
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-ended
	})
	return l.Addr().String()
}

func TestPortsAreForwarded(t *testing.T) {
	b := newBench(t)
	b.engine.Listen("web-n1", 80, shouter(t))
	b.drop("web.yaml", manifest("web", ""))
	client, _ := b.start()
	b.podsWith(client, "web is ready", isReady)
	f := b.forward("web", ":80", ":81")
	big := strings.Repeat("hello", 200_000)
	for _, text := range []string{"hello", big} {
		if got := f.ask(f.local(80), text); got != strings.ToUpper(text) {
			t.Errorf("%d bytes came back of %d", len(got), len(text))
		}
	}
	// One that is refused is told, and ends nothing else.
	if got := f.ask(f.local(81), ""); got != "" {
		t.Errorf("nobody answered %q", got)
	}
	want := "81: connection refused in pod default/web-n1 on port 81"
	b.until("the refusal is told", func() bool { return strings.Contains(f.errs.String(), want) })
	if got := f.ask(f.local(80), "again"); got != "AGAIN" {
		t.Errorf("then %q", got)
	}
	if got := strings.Count(f.out.String(), "Handling connection for "+f.local(80)+"\n"); got != 3 {
		t.Errorf("%d connections are told:\n%s", got, f.out.String())
	}
	f.end()
	if code := <-f.code; code != 0 {
		t.Errorf("code %d\n%s", code, f.errs.String())
	}
	if text := b.log.String(); strings.Contains(text, "Unhandled Error") {
		t.Errorf("the agent takes a refused port for its own error:\n%s", text)
	}
}

// kubectl stays when the pod is gone, and every connection then fails.
func TestForwardingEndsWithItsPod(t *testing.T) {
	for _, c := range []struct {
		name   string
		policy string
		do     func(b *bench)
		want   []string
	}{
		{"removed", "Always", func(b *bench) { b.must(os.Remove(filepath.Join(b.manifests(), "web.yaml"))) },
			[]string{"pod web-n1 is gone: Stopping container main", "its manifest was removed", "podstead get events web-n1"}},
		{"replaced", "Always", func(b *bench) { b.drop("web.yaml", manifest("web", "  hostname: edited\n")) },
			[]string{"pod web-n1 has been replaced: Stopping container main", "run the command again"}},
		{"ended", "Never", func(b *bench) { b.engine.Kill(b.container("main"), 3) },
			[]string{"pod web-n1 has ended (Failed)", "podstead get events web-n1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			b.drop("web.yaml", manifest("web", "  restartPolicy: "+c.policy+"\n"))
			client, _ := b.start()
			b.podsWith(client, "web is ready", isReady)
			f := b.forward("web", ":80")
			c.do(b)
			if code := <-f.code; code != cli.ExitFailed {
				t.Errorf("code %d", code)
			}
			for _, want := range c.want {
				if !strings.Contains(f.errs.String(), want) {
					t.Errorf("it does not say %q:\n%s", want, f.errs.String())
				}
			}
		})
	}
}

func TestForwardingEndsWithTheAgent(t *testing.T) {
	b := newBench(t)
	b.drop("web.yaml", manifest("web", ""))
	client, stop := b.start()
	b.podsWith(client, "web is ready", isReady)
	f := b.forward("web", ":80")
	b.must(stop())
	// It may have been asking just then.
	if code := <-f.code; code != cli.ExitNotRunning && code != cli.ExitFailed || !strings.Contains(f.errs.String(), "agent") {
		t.Errorf("code %d\n%s", code, f.errs.String())
	}
}

func (b *bench) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// container is the ID of the newest container of a name.
func (b *bench) container(name string) string {
	b.t.Helper()
	for _, p := range b.engine.PeekAll() {
		if c, ok := p.Newest(name); ok {
			return c.ID
		}
	}
	b.t.Fatalf("no container %s", name)
	return ""
}

func TestFilesAreCopied(t *testing.T) {
	b := newBench(t)
	b.drop("web.yaml", manifest("web", ""))
	client, _ := b.start()
	b.podsWith(client, "web is ready", isReady)
	id := b.container("main")
	b.engine.RunAs(id, 7, 8, "/srv")
	b.engine.PutFile(id, "/srv/a", 0o640, "text")
	b.engine.PutFile(id, "/srv/d/b", 0o600, "deep")
	b.engine.PutFile(id, "/srv/link", os.ModeSymlink, "d")
	t.Chdir(t.TempDir())
	for _, c := range []struct {
		args string
		want map[string]string // local files that are there then
	}{
		{"cp web:a .", map[string]string{"a": "text"}},
		{"cp web:/srv/a other", map[string]string{"other": "text"}},
		{"cp default/web-n1:/srv/d d", map[string]string{"d/b": "deep"}},
		{"cp web:/srv/d d", map[string]string{"d/d/b": "deep"}},
		{"cp web:/srv/d/. content", map[string]string{"content/b": "deep"}},
		{"cp web:/srv/link linked -c main", map[string]string{"linked/b": "deep"}},
	} {
		if code, out, errs := b.command(strings.Fields(c.args)...); code != 0 || out+errs != "" {
			t.Errorf("%s: code %d\n%s%s", c.args, code, out, errs)
		}
		for name, text := range c.want {
			if got, err := os.ReadFile(name); string(got) != text {
				t.Errorf("%s: %s holds %q, %v", c.args, name, got, err)
			}
		}
	}
	if info, err := os.Stat("a"); err != nil || info.Mode() != 0o640 {
		t.Errorf("%v, %v", info, err)
	}

	for _, c := range []struct{ args, at, text string }{
		{"cp a web:/tmp", "/tmp/a", "text"},
		{"cp a web:new", "/srv/new", "text"},
		{"cp d web:/tmp", "/tmp/d/b", "deep"},
		{"cp d web:/tmp/e", "/tmp/e/d/b", "deep"},
		{"cp d/. web:/tmp", "/tmp/b", "deep"},
		{"cp d web:link", "/srv/d/d/b", "deep"},
	} {
		if code, out, errs := b.command(strings.Fields(c.args)...); code != 0 || out+errs != "" {
			t.Errorf("%s: code %d\n%s%s", c.args, code, out, errs)
		}
		header, text, ok := b.engine.ReadFile(id, c.at)
		if !ok || text != c.text || header.Uid != 7 || header.Gid != 8 {
			t.Errorf("%s: %s holds %q, of %d:%d", c.args, c.at, text, header.Uid, header.Gid)
		}
	}
}

func TestATarIsCopied(t *testing.T) {
	b := newBench(t)
	b.drop("web.yaml", manifest("web", ""))
	client, _ := b.start()
	b.podsWith(client, "web is ready", isReady)
	id := b.container("main")
	b.engine.PutFile(id, "/srv/a", 0o640, "text")
	code, out, errs := b.command("cp", "web:/srv", "-")
	if code != 0 || errs != "" {
		t.Fatalf("code %d\n%s", code, errs)
	}
	var names []string
	for archive := tar.NewReader(strings.NewReader(out)); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		b.must(err)
		names = append(names, header.Name)
	}
	if strings.Join(names, " ") != "srv/ srv/a" {
		t.Errorf("the archive holds %v", names)
	}
	var failed bytes.Buffer
	if code := execute(t.Context(), cli.Terminal{In: strings.NewReader(out), Out: io.Discard, Err: &failed}, []string{"cp", "-", "web:/tmp"}); code != 0 {
		t.Errorf("code %d\n%s", code, &failed)
	}
	if _, text, _ := b.engine.ReadFile(id, "/tmp/srv/a"); text != "text" {
		t.Errorf("the file holds %q", text)
	}
}

func TestACopyThatCannotBeSaysWhatHelps(t *testing.T) {
	b := newBench(t)
	b.drop("web.yaml", manifest("web", ""))
	client, _ := b.start()
	b.podsWith(client, "web is ready", isReady)
	id := b.container("main")
	b.engine.PutFile(id, "/srv/a", 0o640, "text")
	t.Chdir(t.TempDir())
	b.must(os.Mkdir("dir", 0o700))
	b.must(os.Mkdir("a", 0o700))
	b.must(os.WriteFile("file", nil, 0o600))
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"cp file other", cli.ExitConfig, "must be in a pod, as in web:/etc/hostname"},
		{"cp web:/a web:/b", cli.ExitConfig, "must be local"},
		{"cp web: b", cli.ExitConfig, "names no path in the pod"},
		{"cp wbe:/a b", cli.ExitFailed, "did you mean web?"},
		{"cp web:/nope b", cli.ExitFailed, "no /nope in container main of pod web-n1"},
		{"cp web:/srv/a nodir/", cli.ExitFailed, "no folder nodir/ here"},
		{"cp web:/srv/a .", cli.ExitFailed, "a is a folder, and a file does not replace one"},
		{"cp web:/srv file", cli.ExitFailed, "file is no folder, and a folder does not replace it"},
		{"cp nope web:/tmp", cli.ExitFailed, "nope: no such file"},
		{"cp file web:/no/dir/x", cli.ExitFailed, "no folder /no/dir in container main of pod web-n1; make it first: podstead exec web-n1 -n default -c main -- mkdir -p /no/dir"},
		{"cp file web:/no/", cli.ExitFailed, "no folder /no in"},
		{"cp dir web:/srv/a", cli.ExitFailed, "/srv/a in container main of pod web-n1 is no folder"},
		{"cp - web:/srv/a", cli.ExitFailed, "no folder /srv/a in"},
		{"cp file web:/a -c side", cli.ExitFailed, `no container "side"`},
	} {
		code, out, errs := b.command(strings.Fields(c.args)...)
		if code != c.code || out != "" || !strings.Contains(errs, c.want) {
			t.Errorf("%s: code %d\n%s%s", c.args, code, out, errs)
		}
	}
}

func TestTopShowsWhatIsUsed(t *testing.T) {
	b := newBench(t)
	b.engine.Consume("web-n1/main", 250e6, 64<<20)
	b.engine.Behave("done-n1/main", runtimetest.Exits(0, 0))
	b.drop("web.yaml", manifest("web", ""))
	client, _ := b.start()
	b.podsWith(client, "web is ready", isReady)
	code, out, errs := b.command("top", "pods")
	if code != 0 || errs != "" || !regexp.MustCompile(`^NAME +CPU\(cores\) +MEMORY\(bytes\)\nweb-n1 +2\d\dm +48Mi\n$`).MatchString(out) {
		t.Errorf("code %d\n%s%s", code, out, errs)
	}
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"top pod web -A --containers --no-headers", 0, "default   web-n1   main"},
		{"top po -n other", 0, "No pod runs in namespace other (-A looks in all namespaces)."},
		{"top pods nope", cli.ExitFailed, `no pod "nope"`},
		{"top pods --sort-by name", cli.ExitConfig, "is not one of cpu, memory"},
	} {
		if code, out, errs := b.command(strings.Fields(c.args)...); code != c.code || !strings.Contains(out+errs, c.want) {
			t.Errorf("%s: code %d\n%s%s", c.args, code, out, errs)
		}
	}
	b.engine.Down()
	if code, _, errs := b.command("top", "pods"); code != cli.ExitFailed || !strings.Contains(errs, "engine unavailable") {
		t.Errorf("without an engine: code %d\n%s", code, errs)
	}
	b.engine.Up()
	b.until("the kubelet's endpoint tells it too", func() bool {
		s, err := api.NewClient(b.cfg.Socket).Stats(t.Context())
		return err == nil && len(s.Pods) == 1 && s.Node.NodeName == "n1"
	})
}
