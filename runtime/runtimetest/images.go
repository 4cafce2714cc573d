package runtimetest

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"github.com/distribution/reference"

	"github.com/podstead/podstead/runtime"
)

// Remote is an image that can be pulled.
type Remote struct {
	Image runtime.Image // ID and Ref are filled in
	Takes time.Duration // a pull's duration
	Errs  []error       // of the first pulls, in turn; then they work
	Login string        // one of a pull's logins must be this; "" for a public image
}

// AddImage makes an image present.
func (f *Fake) AddImage(ref string) { f.SetImage(runtime.Image{Ref: ref}) }

// SetImage makes an image present as described; an empty ID is made up.
func (f *Fake) SetImage(image runtime.Image) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.keep(image)
}

func (f *Fake) keep(image runtime.Image) runtime.Image {
	name := normalName(image.Ref)
	if image.ID == "" {
		image.ID = fmt.Sprintf("docker://sha256:%x", sha256.Sum256([]byte(name)))
	}
	f.images[name] = image
	return image
}

// RemoveImage takes an image away; its containers stay.
func (f *Fake) RemoveImage(ref string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.images, normalName(ref))
}

// Serve lets an image be pulled.
func (f *Fake) Serve(ref string, r Remote) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r.Image.Ref = ref
	f.remotes[normalName(ref)] = &r
}

// Image returns a local image.
func (f *Fake) Image(ctx context.Context, ref string) (runtime.Image, error) {
	return call(ctx, f, Call{Verb: "Image", Detail: ref}, func() (runtime.Image, error) { return f.image(ref) })
}

func (f *Fake) image(ref string) (runtime.Image, error) {
	if _, err := reference.ParseAnyReference(ref); err != nil {
		return runtime.Image{}, fmt.Errorf("%w: %w", runtime.ErrInvalidImageName, err)
	}
	for name, image := range f.images {
		if name == normalName(ref) || image.ID == ref || image.ID == "docker://"+ref {
			return image, nil
		}
	}
	return runtime.Image{}, fmt.Errorf("%w: image %s", runtime.ErrNotFound, ref)
}

// Pull brings an image that is served.
func (f *Fake) Pull(ctx context.Context, req runtime.ImageRequest) (runtime.Image, error) {
	remote, err := call(ctx, f, Call{Verb: "Pull", Detail: req.Ref}, func() (Remote, error) { return f.remote(req) })
	if err != nil {
		return runtime.Image{}, err
	}
	if err := download(ctx, req, remote); err != nil {
		return runtime.Image{}, fmt.Errorf("pull image %q: %w", req.Ref, err)
	}
	return apply(f, func() (runtime.Image, error) { return f.keep(remote.Image), nil })
}

func (f *Fake) remote(req runtime.ImageRequest) (Remote, error) {
	ref := req.Ref
	if _, err := reference.ParseAnyReference(ref); err != nil {
		return Remote{}, fmt.Errorf("%w: %w", runtime.ErrInvalidImageName, err)
	}
	r, ok := f.remotes[normalName(ref)]
	if !ok {
		return Remote{}, fmt.Errorf("pull access denied for %s: repository does not exist", ref)
	}
	if r.Login != "" && !slices.ContainsFunc(req.Logins, func(l []byte) bool { return string(l) == r.Login }) {
		return Remote{}, fmt.Errorf("pull access denied for %s: unauthorized", ref)
	}
	if len(r.Errs) > 0 {
		err := r.Errs[0]
		r.Errs = r.Errs[1:]
		return Remote{}, err
	}
	return *r, nil
}

// download takes its time, in four pieces that are told.
func download(ctx context.Context, req runtime.ImageRequest, r Remote) error {
	const pieces = 4
	for i := range int64(pieces) {
		if r.Takes > 0 {
			select {
			case <-time.After(r.Takes / pieces):
			case <-ctx.Done():
				return unanswered(ctx)
			}
		}
		if req.Progress != nil {
			req.Progress(runtime.Progress{Status: "Downloading", Current: r.Image.Size * (i + 1) / pieces, Total: r.Image.Size})
		}
	}
	return nil
}

// normalName is what two spellings of one reference have in common.
func normalName(ref string) string {
	named, err := reference.ParseNormalizedNamed(ref)
	if err != nil {
		return ref
	}
	return reference.TagNameOnly(named).String()
}
