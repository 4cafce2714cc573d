package docker

import (
	"testing"

	"github.com/docker/docker/api/types/registry"
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
