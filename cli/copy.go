package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"

	"github.com/podstead/podstead/agent/api"
)

// CopyCmd is `podstead cp`.
type CopyCmd struct {
	connection
	Namespace string `short:"n" default:"default" placeholder:"NAMESPACE" help:"Namespace of the pod, when it is not named with it."`
	Container string `short:"c" placeholder:"NAME" help:"Container, when the pod has more than one."`
	Source    string `arg:"" name:"SRC" help:"What to copy: a local path, POD:PATH, NAMESPACE/POD:PATH, or - for a tar from the input."`
	Target    string `arg:"" name:"DST" help:"Where to: the same, or - for a tar to the output."`
}

// Help says what differs from kubectl's.
func (*CopyCmd) Help() string {
	return `Copies files and folders between this machine and a container. The image needs no tar, and a container that has ended still gives and takes files.

As with cp, what is copied to a folder that is there keeps its name in it; otherwise DST is its new name. A SRC that ends in /. is the folder's content. A relative PATH is one from the container's working directory. A local path with a colon in it begins with / or ./

Permissions and times are kept; what comes belongs to you, what goes to the container's user. Links are copied as links, but on this machine none that leads out of the folder that is copied.`
}

// Examples are shown below the help.
func (*CopyCmd) Examples() []Example {
	return []Example{
		{"a file out of a pod", "podstead cp web:/etc/hostname web-hostname"},
		{"a folder into a container of a pod", "podstead cp . web:/tmp/files -c main"},
		{"a folder as a tar", "podstead cp web:/etc -"},
	}
}

// spec is SRC or DST.
type spec struct {
	pod       string // "" for a local one
	namespace string
	path      string // "-" for the input or output, when it is local
}

func (s spec) remote() bool { return s.pod != "" }

func (s spec) stream() bool { return !s.remote() && s.path == "-" }

// parseSpec reads kubectl's form of a path in a container.
func parseSpec(text, namespace string) (spec, error) {
	pod, file, remote := strings.Cut(text, ":")
	switch {
	case text == "":
		return spec{}, errors.New("a path may not be empty")
	case !remote, strings.HasPrefix(text, "/"), strings.HasPrefix(text, "."):
		return spec{path: text}, nil
	case file == "":
		return spec{}, fmt.Errorf("%q names no path in the pod; the root is %s/", text, text)
	}
	if first, rest, both := strings.Cut(pod, "/"); both {
		namespace, pod = first, rest
	}
	if pod == "" || namespace == "" || strings.Contains(pod, "/") {
		return spec{}, fmt.Errorf("%q: want POD:PATH or NAMESPACE/POD:PATH; a local path with a colon begins with ./", text)
	}
	return spec{pod: pod, namespace: namespace, path: file}, nil
}

// Run copies.
func (c *CopyCmd) Run(ctx context.Context, t Terminal) error {
	from, fromErr := parseSpec(c.Source, c.Namespace)
	to, toErr := parseSpec(c.Target, c.Namespace)
	err := errors.Join(fromErr, toErr)
	switch {
	case err != nil:
	case from.remote() && to.remote():
		err = errors.New("one of SRC and DST must be local; copy to this machine first")
	case !from.remote() && !to.remote():
		err = errors.New("one of SRC and DST must be in a pod, as in web:/etc/hostname")
	}
	if err != nil {
		return &Exit{Code: ExitConfig, Err: err}
	}
	if from.remote() {
		in, err := c.container(ctx, t, from)
		if err != nil {
			return err
		}
		return in.download(ctx, from.path, to)
	}
	in, err := c.container(ctx, t, to)
	if err != nil {
		return err
	}
	return in.upload(ctx, from, to.path)
}

// copying is a copy from or to one container.
type copying struct {
	client *api.Client
	t      Terminal
	of     api.FileRequest // without a path
	named  string          // the pod as the user named it, with the container
}

// container finds the pod and chooses the container.
func (c *CopyCmd) container(ctx context.Context, t Terminal, s spec) (copying, error) {
	client := c.client(t)
	all, err := client.Pods(ctx)
	if err != nil {
		return copying{}, err
	}
	pods, err := selectPods(all, s.namespace, []string{s.pod})
	if err != nil {
		return copying{}, err
	}
	pod := serving(pods)
	container, chosen, err := containerOf(pod, c.Container)
	if err != nil {
		return copying{}, err
	}
	if chosen != "" {
		t.Say("%s", chosen)
	}
	return copying{
		client: client, t: t, named: fmt.Sprintf("container %s of pod %s", container, pod.Name),
		of: api.FileRequest{Namespace: pod.Namespace, Pod: pod.Name, Container: container},
	}, nil
}

// at is the request for a path.
func (c copying) at(name string) api.FileRequest {
	req := c.of
	req.Path = name
	return req
}

// place looks at a path in the container. Of a link it is the place that the link
// leads to; nothing is there when it leads nowhere.
func (c copying) place(ctx context.Context, name string) (api.FilePlace, error) {
	place, err := c.client.FilePlace(ctx, c.at(name))
	if err == nil && place.File != nil && place.File.Mode&os.ModeSymlink != 0 {
		place, err = c.client.FilePlace(ctx, c.at(place.File.Target))
	}
	return place, err
}

// lastPart is the name that a copy of a path gets in a folder; "" when only its
// content is copied.
func lastPart(name string) string {
	base := path.Base(name)
	if base == "." || base == ".." || base == "/" || strings.HasSuffix(name, "/.") {
		return ""
	}
	return base
}
