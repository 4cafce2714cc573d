package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	v1 "k8s.io/api/core/v1"

	"github.com/podstead/podstead/runtime"
)

// Dialer connects to ports of one pod.
type Dialer func(ctx context.Context, port int) (net.Conn, error)

// PortForward returns what connects to ports of a pod, in whichever of its
// sandboxes runs by then, and in no other pod's that has its name later.
// Errors: runtime.ErrNotFound, ErrBadRequest for a pod that has ended.
func (a *Agent) PortForward(namespace, name string) (Dialer, error) {
	pod, err := a.find(namespace, name)
	if err != nil {
		return nil, err
	}
	if ended := pod.Status.Phase; ended == v1.PodSucceeded || ended == v1.PodFailed {
		return nil, fmt.Errorf("forward ports of pod %s/%s: it has ended (%s): %w", namespace, name, ended, ErrBadRequest)
	}
	uid := string(pod.UID)
	return func(ctx context.Context, port int) (net.Conn, error) {
		conn, err := a.dial(ctx, uid, port)
		if errors.Is(err, runtime.ErrRefused) {
			return nil, fmt.Errorf("%w in pod %s/%s on port %d; does anything listen there?", runtime.ErrRefused, namespace, name, port)
		}
		if err != nil {
			return nil, fmt.Errorf("connect to port %d of pod %s/%s: %w", port, namespace, name, err)
		}
		return conn, nil
	}, nil
}

// dial connects to a port of the pod's running sandbox.
func (a *Agent) dial(ctx context.Context, uid string, port int) (net.Conn, error) {
	observed, err := a.deps.Runtime.Pod(ctx, uid)
	if err != nil {
		return nil, err
	}
	for _, sandbox := range observed.Sandboxes {
		if sandbox.State == runtime.StateRunning {
			return a.deps.Runtime.Dial(ctx, sandbox.ID, port)
		}
	}
	return nil, runtime.ErrSandboxGone
}

// FileRequest names a path in a container of a pod.
type FileRequest struct {
	Namespace string
	Pod       string // full name
	Container string // "" for the only one
	Path      string
}

// FilePlace looks at a path in a container's newest instance, running or not.
func (a *Agent) FilePlace(ctx context.Context, req FileRequest) (runtime.FilePlace, error) {
	return inside(ctx, a, req, func(id string) (runtime.FilePlace, error) {
		return a.deps.Runtime.FilePlace(ctx, id, req.Path)
	})
}

// ReadFiles writes a tar of what is at the path to out, which must not dawdle: the
// engine lets nothing else be done with the container meanwhile.
func (a *Agent) ReadFiles(ctx context.Context, req FileRequest, out io.Writer) error {
	_, err := inside(ctx, a, req, func(id string) (struct{}, error) {
		return struct{}{}, a.deps.Runtime.ReadFiles(ctx, id, req.Path, out)
	})
	return err
}

// WriteFiles unpacks a tar in the directory at the path. As with ReadFiles,
// archive must not dawdle.
func (a *Agent) WriteFiles(ctx context.Context, req FileRequest, archive io.Reader) error {
	_, err := inside(ctx, a, req, func(id string) (struct{}, error) {
		return struct{}{}, a.deps.Runtime.WriteFiles(ctx, id, req.Path, archive)
	})
	return err
}

// inside does something with the newest instance of a container, and names the
// container in the error.
func inside[T any](ctx context.Context, a *Agent, req FileRequest, do func(id string) (T, error)) (T, error) {
	var none T
	pod, err := a.find(req.Namespace, req.Pod)
	if err != nil {
		return none, err
	}
	name, err := containerFor(pod, req.Container)
	if err != nil {
		return none, err
	}
	observed, err := a.deps.Runtime.Pod(ctx, string(pod.UID))
	if err != nil {
		return none, fmt.Errorf("look up containers of pod %s/%s: %w", req.Namespace, req.Pod, err)
	}
	instance, ok := observed.Newest(name)
	if !ok {
		return none, fmt.Errorf("container %q in pod %q has no files yet: %s: %w", name, pod.Name, waitingReason(pod, name), ErrBadRequest)
	}
	result, err := do(instance.ID)
	if err != nil {
		return none, fmt.Errorf("files of container %s in pod %s/%s: %w", name, req.Namespace, req.Pod, err)
	}
	return result, nil
}
