package docker

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/distribution/reference"
	"github.com/docker/docker/api/types/image"
	"github.com/podstead/podstead/runtime"
)

// imageKey is what Container.ImageID depends on.
type imageKey struct{ id, ref string }

// Image looks an image up on the engine, never at a registry. A reference
// without tag means latest; "sha256:…" is an image's own id. Errors:
// runtime.ErrNotFound, runtime.ErrInvalidImageName, runtime.ErrUnavailable.
func (m *Manager) Image(ctx context.Context, ref string) (runtime.Image, error) {
	name, err := normalize(ref)
	if err != nil {
		return runtime.Image{}, err
	}
	found, err := m.engine.inspectImage(ctx, name)
	if err != nil {
		return runtime.Image{}, fmt.Errorf("inspect image %q: %w", ref, err)
	}
	id := shownID(found, ref)
	m.imageIDs.Store(imageKey{found.ID, ref}, id)
	return imageFrom(found, ref, id), nil
}

// normalize writes a reference in full, with docker.io and latest where they
// are meant; an id stays as it is.
func normalize(ref string) (string, error) {
	if hex, ok := strings.CutPrefix(ref, "sha256:"); ok && len(hex) == 64 {
		return ref, nil
	}
	named, err := reference.ParseNormalizedNamed(ref)
	if err != nil {
		return "", fmt.Errorf("%w %q: %w", runtime.ErrInvalidImageName, ref, err)
	}
	return reference.TagNameOnly(named).String(), nil
}

func imageFrom(found image.InspectResponse, ref, id string) runtime.Image {
	out := runtime.Image{ID: id, Ref: ref, Size: found.Size}
	if found.Config != nil {
		out.User = found.Config.User
		out.Volumes = slices.Sorted(maps.Keys(found.Config.Volumes))
		out.Claims = claims(found.Config.Labels)
	}
	return out
}

// claims are labels by which another program knows its containers, and which an
// image brings along: Compose puts its project on the images that it builds, and
// removes with a project whatever bears its label.
func claims(labels map[string]string) []string {
	if labels[labelCompose] == "" {
		return nil
	}
	return []string{labelCompose}
}

// imageID is what the kubelet shows for a container's image. The image may be
// gone, or its name be another image's by now.
func (m *Manager) imageID(ctx context.Context, id, ref string) string {
	if known, ok := m.imageIDs.Load(imageKey{id, ref}); ok {
		return known.(string)
	}
	found, err := m.engine.inspectImage(ctx, id)
	if err != nil {
		return "docker://" + id
	}
	shown := shownID(found, ref)
	m.imageIDs.Store(imageKey{id, ref}, shown)
	return shown
}

// shownID is the digest under which a registry has the image, preferably the
// registry of the reference, or the engine's own id.
func shownID(found image.InspectResponse, ref string) string {
	if len(found.RepoDigests) == 0 {
		return "docker://" + found.ID
	}
	shown := found.RepoDigests[0]
	if named, err := reference.ParseNormalizedNamed(ref); err == nil {
		for _, candidate := range found.RepoDigests {
			if other, err := reference.ParseNormalizedNamed(candidate); err == nil && other.Name() == named.Name() {
				shown = candidate
				break
			}
		}
	}
	return "docker-pullable://" + shown
}
