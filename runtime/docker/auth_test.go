package docker

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/registry"

	"github.com/podstead/podstead/runtime"
)

func encodeUser(name, password string) string {
	return encode(registry.AuthConfig{Username: name, Password: password})
}

func TestServerOf(t *testing.T) {
	for name, want := range map[string]string{
		"docker.io/library/busybox:1":    "https://index.docker.io/v1/",
		"registry.example/a/b:1":         "registry.example",
		"registry.example:5000/a/b@x":    "",
		"registry.example:5000/a/b:edge": "registry.example:5000",
	} {
		if got := serverOf(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestCredentialsOfPullSecretsAndNode(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("DOCKER_CONFIG", dir)
	node := `{"auths":{"registry.example":{"username":"node","password":"n"},"other.example":{"username":"other","password":"o"}}}`
	if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(node), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, image string
		logins      []string
		want        []string
		fault       string
	}{
		{name: "none but the node's", image: "registry.example/shop/app:1", want: []string{encodeUser("node", "n")}},
		{
			name: "the secret's first, then the node's", image: "registry.example/shop/app:1",
			logins: []string{`{"auths":{"registry.example":{"auth":"YTpi"}}}`},
			want:   []string{encodeUser("a", "b"), encodeUser("node", "n")},
		},
		{
			name: "of two secrets the longest match first", image: "registry.example/shop/app:1",
			logins: []string{
				`{"auths":{"registry.example":{"username":"wide","password":"x"}}}`,
				`{"auths":{"https://registry.example/shop":{"username":"close","password":"x"}}}`,
			},
			want: []string{encodeUser("close", "x"), encodeUser("wide", "x"), encodeUser("node", "n")},
		},
		{
			name: "the first secret first where they match alike", image: "registry.example/shop/app:1",
			logins: []string{
				`{"auths":{"registry.example":{"username":"first","password":"x"}}}`,
				`{"auths":{"registry.example":{"username":"second","password":"x"}}}`,
			},
			want: []string{encodeUser("first", "x"), encodeUser("second", "x"), encodeUser("node", "n")},
		},
		{
			name: "a host with a star", image: "eu.cloud.example/app:1",
			logins: []string{`{"auths":{"*.cloud.example":{"username":"a","password":"b"}}}`},
			want:   []string{encodeUser("a", "b")},
		},
		{
			name: "a path that is not the image's", image: "cloud.example/app:1",
			logins: []string{`{"auths":{"cloud.example/shop":{"username":"a","password":"b"}}}`},
			want:   []string{anonymous},
		},
		{
			name: "Docker Hub", image: "docker.io/shop/app:1",
			logins: []string{`{"auths":{"https://index.docker.io/v1/":{"username":"a","password":"b"}}}`},
			want:   []string{encodeUser("a", "b")},
		},
		{
			name: "the same words twice", image: "registry.example/shop/app:1",
			logins: []string{`{"auths":{"registry.example":{"username":"node","password":"n"}}}`},
			want:   []string{encodeUser("node", "n")},
		},
		{
			name: "a secret that is broken", image: "other.example/app:1",
			logins: []string{`{"auths":{"other.example":{"auth":"c2VjcmV0"}}}`, `{"auths":{"other.example":{"username":"a","password":"b"}}}`},
			want:   []string{encodeUser("a", "b"), encodeUser("other", "o")},
			fault:  "pull secret 1 of 2 is not a docker config.json",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			var logins [][]byte
			for _, l := range test.logins {
				logins = append(logins, []byte(l))
			}
			got, err := credentials(t.Context(), test.image, logins)
			if !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if (err != nil) != (test.fault != "") || err != nil && !strings.Contains(err.Error(), test.fault) {
				t.Errorf("err is %v, want %q", err, test.fault)
			}
			if err != nil && strings.Contains(err.Error(), "c2Vj") {
				t.Errorf("the error holds the secret: %v", err)
			}
		})
	}
}

func TestEveryLoginThatFitsIsTriedAndTheLastErrorTold(t *testing.T) {
	noCredentials(t)
	var offered []string
	fake := pulling()
	fake.pullFn = func(_ context.Context, _, auth string) (io.ReadCloser, error) {
		offered = append(offered, auth)
		return nil, refusal{fmt.Sprintf("unauthorized: try %d", len(offered)), cerrdefs.ErrUnauthenticated}
	}
	_, err := newTestManager(t, fake).Pull(t.Context(), runtime.ImageRequest{Ref: pulledRef, Logins: [][]byte{
		[]byte(`{"auths":{"registry.example":{"username":"first","password":"hunter2"}}}`),
		[]byte(`{"auths":{"registry.example":{"username":"second","password":"hunter2"}}}`),
	}})
	if want := []string{encodeUser("first", "hunter2"), encodeUser("second", "hunter2")}; !slices.Equal(offered, want) {
		t.Errorf("offered %q, want %q", offered, want)
	}
	if err == nil || !strings.Contains(err.Error(), "try 2") || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("got %v", err)
	}
}
