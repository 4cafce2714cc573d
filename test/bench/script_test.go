package main

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/podstead/podstead/test/rig"
)

// fakeEngine answers on a unix socket and keeps the bodies it was sent.
func fakeEngine(t *testing.T) (*rig.Engine, func() []string) {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "docker.sock")
	var lc net.ListenConfig
	ln, err := lc.Listen(t.Context(), "unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	seen := make(chan string, 100) // more than any test sends
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body any
		if r.ContentLength > 0 {
			if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
				w.WriteHeader(http.StatusBadRequest)
			}
		}
		text, _ := json.Marshal(body)
		seen <- r.Method + " " + r.URL.Path + " " + string(text)
		switch {
		case r.URL.Path == "/networks":
			w.Write([]byte(`[{"Id":"here","Name":"podstead"}]`))
		case strings.HasSuffix(r.URL.Path, "/create"):
			w.Write([]byte(`{"Id":"made"}`))
		}
	})}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(ln) // ends with the test
	}()
	t.Cleanup(func() {
		server.Close()
		<-done
	})
	e := rig.NewEngine(socket)
	t.Cleanup(e.Transport.CloseIdleConnections)
	return e, func() []string {
		var all []string
		for len(seen) > 0 {
			all = append(all, <-seen)
		}
		return all
	}
}

func recorded(t *testing.T, root string) *script {
	t.Helper()
	sc, err := parseScript([]json.RawMessage{
		json.RawMessage(`{"Image":"pause","Labels":{"podstead.node-id":"n1","a":"b"},"HostConfig":{"NetworkMode":"net","PortBindings":{"80/tcp":[{"HostIp":"","HostPort":"8080"}]}},"NetworkingConfig":{"EndpointsConfig":{"net":{"Aliases":["x"]}}}}`),
		json.RawMessage(`{"Image":"busybox","HostConfig":{"NetworkMode":"container:old","IpcMode":"container:old","PidMode":"","Binds":["` + root + `/pods/1/data:/data:rw","/etc/hosts:/x:ro"],"Mounts":[{"Source":"` + root + `/pods/1/message","Target":"/dev/termination-log"}]}}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	return sc
}

func TestScriptSendsTheRecordedPodAgain(t *testing.T) {
	e, seen := fakeEngine(t)
	if _, err := recorded(t, "/root").run(t.Context(), e, "web"); err != nil {
		t.Fatal(err)
	}
	calls := seen()
	var paths []string
	for _, c := range calls {
		parts := strings.SplitN(c, " ", 3)
		paths = append(paths, parts[0]+" "+parts[1])
	}
	want := []string{"POST /containers/create", "POST /containers/made/start", "POST /containers/create", "POST /containers/made/start"}
	if !slices.Equal(paths, want) {
		t.Errorf("calls %v, want %v", paths, want)
	}
	for i, part := range map[int]string{
		0: `"podstead.node-id":"bench-bare"`,
		2: `"NetworkMode":"container:made"`,
	} {
		if !strings.Contains(calls[i], part) {
			t.Errorf("call %d has no %s: %s", i, part, calls[i])
		}
	}
	if !strings.Contains(calls[0], `"HostPort":"9080"`) {
		t.Errorf("the host port is not shifted: %s", calls[0])
	}
}

func TestScriptOnAnotherEngineJoinsItsBridge(t *testing.T) {
	e, _ := fakeEngine(t)
	here, err := recorded(t, "/root").on(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(here.sandboxBody())
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`"NetworkMode":"here"`, `"EndpointsConfig":{"here":{"Aliases":["x"]}}`} {
		if !strings.Contains(string(body), part) {
			t.Errorf("no %s in %s", part, body)
		}
	}
}

func TestKeepMountsCopiesWhatGoesWithThePod(t *testing.T) {
	root, dir := t.TempDir(), filepath.Join(t.TempDir(), "kept")
	if err := os.MkdirAll(filepath.Join(root, "pods/1/data"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "pods/1/message"), []byte("m"), 0o600); err != nil {
		t.Fatal(err)
	}
	sc := recorded(t, root)
	if err := sc.keepMounts(root, dir); err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(sc.container)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{dir + "/pods/1/data:/data:rw", "/etc/hosts:/x:ro", `"Source":"` + dir + `/pods/1/message"`} {
		if !strings.Contains(string(body), part) {
			t.Errorf("no %s in %s", part, body)
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, "pods/1/message")); err != nil || string(text) != "m" {
		t.Errorf("the copy holds %q: %v", text, err)
	}
}

func TestProxyCountsAndKeepsCreations(t *testing.T) {
	e, _ := fakeEngine(t)
	p, err := openProxy(filepath.Join(t.TempDir(), "p.sock"), e)
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	through := rig.NewEngine(p.socket)
	defer through.Transport.CloseIdleConnections()
	ctx := context.WithoutCancel(t.Context())
	if _, err := through.Create(ctx, "x", map[string]string{"Image": "busybox"}); err != nil {
		t.Fatal(err)
	}
	if err := through.Ping(ctx); err != nil {
		t.Fatal(err)
	}
	calls, creates := p.take()
	if calls["POST /containers/create"] != 1 || calls["GET /_ping"] != 1 || writes(calls) != 1 {
		t.Errorf("counted %v", calls)
	}
	if len(creates) != 1 || !strings.Contains(string(creates[0]), "busybox") {
		t.Errorf("kept %s", creates)
	}
}
