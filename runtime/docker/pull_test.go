package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/image"
	"github.com/podstead/podstead/runtime"
)

const pulledRef = "registry.example/shop/app:1"

// pulling is an engine that answers pulls with lines.
func pulling(lines ...string) *fakeAPI {
	return &fakeAPI{
		pullFn: func(context.Context, string, string) (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader(strings.Join(lines, "\n"))), nil
		},
		inspectImageFn: func(string) (image.InspectResponse, error) {
			return image.InspectResponse{ID: "sha256:1", RepoDigests: []string{"registry.example/shop/app@sha256:2"}, Size: 3}, nil
		},
	}
}

// noCredentials makes the node have none.
func noCredentials(t *testing.T) { t.Setenv("DOCKER_CONFIG", t.TempDir()) }

func TestPullTellsProgress(t *testing.T) {
	noCredentials(t)
	m := newTestManager(t, pulling(
		`{"status":"Pulling from shop/app","id":"1"}`,
		`{"status":"Pulling fs layer","progressDetail":{},"id":"a"}`,
		`{"status":"Pulling fs layer","progressDetail":{},"id":"b"}`,
		`{"status":"Downloading","progressDetail":{"current":10,"total":100},"id":"a"}`,
		`{"status":"Downloading","progressDetail":{"current":5,"total":50},"id":"b"}`,
		`{"status":"Download complete","progressDetail":{},"id":"b"}`,
		`{"status":"Extracting","progressDetail":{"current":1,"total":100},"id":"a"}`,
		`{"status":"Status: Downloaded newer image for registry.example/shop/app:1"}`,
	))
	var told []runtime.Progress
	got, err := m.Pull(t.Context(), runtime.ImageRequest{Ref: pulledRef, Progress: func(p runtime.Progress) { told = append(told, p) }})
	if err != nil || got.ID != "docker-pullable://registry.example/shop/app@sha256:2" || got.Ref != pulledRef || got.Size != 3 {
		t.Errorf("got %+v, %v", got, err)
	}
	want := runtime.Progress{Status: "Downloading", Current: 15, Total: 150}
	if len(told) != 8 || told[4] != want {
		t.Errorf("told %+v", told)
	}
	if last := told[7]; last.Current != 60 || last.Total != 150 {
		t.Errorf("at the end: %+v", last)
	}
}

// B143, and what registries and engines say in or before the stream.
func TestPullErrors(t *testing.T) {
	noCredentials(t)
	for _, test := range []struct {
		name string
		line string
		err  error
		want error
		text string
	}{
		{name: "error in the stream", line: `{"errorDetail":{"message":"write /x: no space left on device"},"error":"write /x: no space left on device"}`, want: runtime.ErrNoSpace, text: "no space left"},
		{name: "no manifest for the platform", line: `{"errorDetail":{"message":"no matching manifest for linux/arm/v7 in the manifest list entries"}}`, text: "no matching manifest for linux/arm/v7"},
		{name: "old style of error", line: `{"error":"out of luck"}`, text: "out of luck"},
		{name: "stream cut off", line: `{"status":"Downl`, want: runtime.ErrUnavailable},
		{name: "registry 503", err: refusal{"received unexpected HTTP status: 503 Service Unavailable", cerrdefs.ErrInternal}, want: runtime.ErrRegistryUnavailable},
		{name: "registry refuses", err: refusal{`Get "https://registry.example/v2/": dial tcp 10.0.0.1:443: connect: connection refused`, cerrdefs.ErrInternal}, want: runtime.ErrRegistryUnavailable},
		{name: "no such registry", err: refusal{`Get "https://registry.example/v2/": dial tcp: lookup registry.example: no such host`, cerrdefs.ErrInternal}, want: runtime.ErrRegistryUnavailable},
		{name: "no such tag", err: refusal{"manifest for registry.example/shop/app:1 not found: manifest unknown", cerrdefs.ErrNotFound}, want: runtime.ErrNotFound},
		{name: "engine away", err: refusal{"", cerrdefs.ErrUnavailable}, want: runtime.ErrUnavailable},
		{name: "clock wrong, B166", err: refusal{"tls: failed to verify certificate: x509: certificate has expired or is not yet valid", cerrdefs.ErrInternal}, text: "not yet valid"},
	} {
		t.Run(test.name, func(t *testing.T) {
			fake := pulling(test.line)
			if test.err != nil {
				fake.pullFn = func(context.Context, string, string) (io.ReadCloser, error) { return nil, test.err }
			}
			_, err := newTestManager(t, fake).Pull(t.Context(), runtime.ImageRequest{Ref: pulledRef})
			if err == nil || test.want != nil && !errors.Is(err, test.want) {
				t.Fatalf("got %v, want %v", err, test.want)
			}
			if !strings.HasPrefix(err.Error(), `pull image "registry.example/shop/app:1": `) || !strings.Contains(err.Error(), test.text) {
				t.Errorf("reads %q", err)
			}
		})
	}
	_, err := newTestManager(t, pulling()).Pull(t.Context(), runtime.ImageRequest{Ref: "Shop/App"})
	if !errors.Is(err, runtime.ErrInvalidImageName) {
		t.Errorf("got %v", err)
	}
}

// B148: silence ends a download, not an extraction.
func TestPullThatStandsStill(t *testing.T) {
	noCredentials(t)
	const (
		waiting    = `{"status":"Waiting","id":"b"}`
		extracting = `{"status":"Extracting","progressDetail":{"current":1,"total":100},"id":"a"}`
		complete   = `{"status":"Pull complete","id":"a"}`
		retrying   = `{"status":"Retrying in 5 seconds","id":"a"}`
	)
	downloading := func(n int) string {
		return fmt.Sprintf(`{"status":"Downloading","progressDetail":{"current":%d,"total":100},"id":"a"}`, n)
	}
	for _, test := range []struct {
		name  string
		lines []string // one each 50 s
		ends  time.Duration
	}{
		{name: "the registry never answers", ends: time.Minute},
		{name: "a download stands still", lines: []string{downloading(1)}, ends: time.Minute},
		{name: "a download that only retries", lines: []string{downloading(1), retrying}, ends: time.Minute},
		{name: "a slow download", lines: []string{downloading(1), downloading(2), downloading(3), complete}},
		{name: "extraction, then silence", lines: []string{downloading(1), extracting}},
		{name: "extraction while another layer waits", lines: []string{waiting, extracting}},
		{name: "all downloaded", lines: []string{complete}},
		{name: "a download after an extraction", lines: []string{extracting, complete, waiting}, ends: 100*time.Second + time.Minute},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fake := pulling()
				fake.pullFn = func(ctx context.Context, _, _ string) (io.ReadCloser, error) {
					return slowly(ctx, test.lines), nil
				}
				begin := time.Now()
				_, err := newTestManager(t, fake).Pull(t.Context(), runtime.ImageRequest{Ref: pulledRef})
				took := time.Since(begin)
				if test.ends == 0 && (err != nil || took < 10*time.Minute) {
					t.Errorf("ended after %v with %v", took, err)
				}
				if test.ends != 0 && (!errors.Is(err, runtime.ErrRegistryUnavailable) || took != test.ends) {
					t.Errorf("ended after %v with %v, want it after %v", took, err, test.ends)
				}
			})
		})
	}
}

// slowly is a stream of one line each 50 s, and silence for 10 minutes.
func slowly(ctx context.Context, lines []string) io.ReadCloser {
	r, w := io.Pipe()
	go func() {
		for _, line := range lines {
			_, _ = io.WriteString(w, line)
			if wait(ctx, 50*time.Second) != nil {
				break
			}
		}
		_ = wait(ctx, 10*time.Minute)
		if ctx.Err() != nil {
			w.CloseWithError(ctx.Err())
			return
		}
		w.Close()
	}()
	return r
}

func TestPullEndsWithItsCaller(t *testing.T) {
	noCredentials(t)
	synctest.Test(t, func(t *testing.T) {
		fake := pulling()
		fake.pullFn = func(ctx context.Context, _, _ string) (io.ReadCloser, error) { return slowly(ctx, nil), nil }
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if _, err := newTestManager(t, fake).Pull(ctx, runtime.ImageRequest{Ref: pulledRef}); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}

// B154: the file is read at each pull; what is wrong with it is told by name,
// and public images can be had all the same.
func TestCredentialsOfThePull(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("DOCKER_CONFIG", dir)
	file := filepath.Join(dir, "config.json")
	t.Setenv("PATH", dir)
	write := func(path, text string, mode os.FileMode) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	public := false
	var offered []string
	fake := pulling()
	answer := fake.pullFn
	fake.pullFn = func(ctx context.Context, ref, auth string) (io.ReadCloser, error) {
		offered = append(offered, auth)
		if public || auth == encodeUser("good", "secret") {
			return answer(ctx, ref, auth)
		}
		return nil, refusal{"unauthorized: authentication required", cerrdefs.ErrUnauthenticated}
	}
	m := newTestManager(t, fake)
	pull := func() error {
		offered = nil
		_, err := m.Pull(t.Context(), runtime.ImageRequest{Ref: pulledRef})
		return err
	}

	if err := pull(); err == nil || !slices.Equal(offered, []string{anonymous}) {
		t.Errorf("no file: offered %q, err %v", offered, err)
	}
	write(file, `{"auths":{"registry.example":{"username":"bad","password":"x"},"registry.example/shop":{"username":"worse","password":"x"},"other.example":{"username":"good","password":"secret"}}}`, 0o600)
	if err := pull(); err == nil || !slices.Equal(offered, []string{encodeUser("worse", "x"), encodeUser("bad", "x")}) {
		t.Errorf("wrong ones: offered %q, err %v", offered, err)
	}
	write(file, `{"auths":{"registry.example":{"auth":"Z29vZDpzZWNyZXQ="}}}`, 0o600)
	if err := pull(); err != nil {
		t.Errorf("changed to the right one: %v", err)
	}
	write(file, `{"auths":{"registry.example":{"auth":"Z29vZDpzZWNyZXQ="}`, 0o600)
	if err := pull(); err == nil || !strings.Contains(err.Error(), file) || strings.Contains(err.Error(), "Z29v") {
		t.Errorf("broken file: %v", err)
	}
	public = true
	if err := pull(); err != nil {
		t.Errorf("broken file, public image: %v", err)
	}
	public = false
	write(file, `{"auths":{"registry.example":{}},"credHelpers":{"registry.example":"vault"}}`, 0o600)
	if err := pull(); err == nil || !strings.Contains(err.Error(), "docker-credential-vault") || !strings.Contains(err.Error(), file) {
		t.Errorf("helper not installed: %v", err)
	}
	write(filepath.Join(dir, "docker-credential-vault"), "#!/bin/sh\nread server; [ \"$server\" = registry.example ] && echo '{\"Username\":\"good\",\"Secret\":\"secret\"}'\n", 0o755)
	if err := pull(); err != nil {
		t.Errorf("helper: %v", err)
	}
	write(filepath.Join(dir, "docker-credential-vault"), "#!/bin/sh\necho credentials not found in native keychain; exit 1\n", 0o755)
	if err := pull(); err == nil || strings.Contains(err.Error(), "vault") || !slices.Equal(offered, []string{anonymous}) {
		t.Errorf("helper knows nothing: offered %q, err %v", offered, err)
	}
}
