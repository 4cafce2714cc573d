package docker

import (
	"errors"
	"strings"
	"testing"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/image"
	"github.com/podstead/podstead/runtime"
)

func noImage(ref string) error { return refusal{"No such image: " + ref, cerrdefs.ErrNotFound} }

func TestNormalize(t *testing.T) {
	hex := strings.Repeat("0123456789abcdef", 4)
	for _, test := range []struct{ ref, want string }{
		{ref: "busybox", want: "docker.io/library/busybox:latest"},
		{ref: "busybox:1", want: "docker.io/library/busybox:1"},
		{ref: "shop/app", want: "docker.io/shop/app:latest"},
		{ref: "registry.example:5000/app", want: "registry.example:5000/app:latest"},
		{ref: "app@sha256:" + hex, want: "docker.io/library/app@sha256:" + hex},
		{ref: "app:1@sha256:" + hex, want: "docker.io/library/app:1@sha256:" + hex},
		{ref: "sha256:" + hex, want: "sha256:" + hex},
		{ref: ""},
		{ref: "App"},
		{ref: "app:"},
		{ref: "https://registry.example/app"},
	} {
		got, err := normalize(test.ref)
		if got != test.want || errors.Is(err, runtime.ErrInvalidImageName) != (test.want == "") {
			t.Errorf("%q: got %q, %v", test.ref, got, err)
		}
	}
}

func TestShownID(t *testing.T) {
	hash := "@sha256:" + strings.Repeat("0123456789abcdef", 4)
	digests := []string{"docker.io/shop/app" + hash, "registry.example/app" + hash}
	for _, test := range []struct {
		name, ref, want string
		digests         []string
	}{
		{name: "built here", ref: "app:1", want: "docker://sha256:1"},
		{name: "of its own registry", ref: "registry.example/app:1", digests: digests, want: "docker-pullable://registry.example/app" + hash},
		{name: "of another", ref: "app:1", digests: digests, want: "docker-pullable://docker.io/shop/app" + hash},
	} {
		if got := shownID(image.InspectResponse{ID: "sha256:1", RepoDigests: test.digests}, test.ref); got != test.want {
			t.Errorf("%s: got %s", test.name, got)
		}
	}
}
