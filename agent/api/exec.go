package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	"k8s.io/streaming/pkg/httpstream/wsstream"

	"github.com/podstead/podstead/runtime"
)

// The kubelet's limits of an exec or attach: how long it may carry nothing, unless
// Handlers say otherwise, and how long its streams may take to come.
const (
	streamIdle     = 4 * time.Hour
	streamCreation = remotecommand.DefaultStreamCreationTimeout // 30 s
)

// commandParam is the one query parameter that remotecommand.NewOptions does not read.
const commandParam = "command"

// Target names a container that runs.
type Target struct {
	Namespace string
	Pod       string // full name
	UID       string // "" for whichever pod has the name
	Container string
}

// ExecRequest asks for a command to be run in a container.
type ExecRequest struct {
	Target
	Command []string
}

// Session serves the streams of a command or of a container, closes Stdin, and
// returns when that has ended, or ctx. An exit code other than 0 is a
// runtime.ExitError.
type Session func(ctx context.Context, s runtime.Streams) error

func targetOf(r *http.Request) Target {
	return Target{Namespace: r.PathValue("namespace"), Pod: r.PathValue("pod"), UID: r.PathValue("uid"), Container: r.PathValue("container")}
}

// exec serves the kubelet's path, over SPDY or WebSocket.
func (h Handlers) exec(w http.ResponseWriter, r *http.Request) {
	if h.Exec == nil {
		fail(w, errNotServed)
		return
	}
	session, err := h.Exec(r.Context(), ExecRequest{Target: targetOf(r), Command: r.URL.Query()[commandParam]})
	h.visit(w, r, session, err)
}

// attach serves the kubelet's path as exec does.
func (h Handlers) attach(w http.ResponseWriter, r *http.Request) {
	if h.Attach == nil {
		fail(w, errNotServed)
		return
	}
	session, err := h.Attach(r.Context(), targetOf(r))
	h.visit(w, r, session, err)
}

// visit serves a session by the protocol that the client asks for. What is wrong
// with the question, or with the container, is answered before the upgrade.
//
// The protocols are served here and not by the streaming library's ServeExec, which
// waits its 30 s for the streams of a client that has gone, or of a server that ends,
// does not know the WebSocket protocol in which input can end, and logs as an error
// of the agent whatever a command ends with.
func (h Handlers) visit(w http.ResponseWriter, r *http.Request, session Session, err error) {
	if err != nil {
		fail(w, err)
		return
	}
	opts, err := remotecommand.NewOptions(r)
	if err != nil {
		fail(w, fmt.Errorf("%w: %w", ErrBadRequest, err))
		return
	}
	v := &visit{session: session, opts: opts, idle: cmp.Or(h.StreamIdle, streamIdle)}
	attended(w, r, func(w http.ResponseWriter, r *http.Request) {
		if wsstream.IsWebSocketRequest(r) {
			v.serveWebSocket(w, r)
		} else {
			v.serveSPDY(w, r)
		}
	})
	v.reading.Wait()
}

// run runs the session once the client's streams are there, and returns what the
// client is to be told.
func (v *visit) run(ctx context.Context, from ends) error {
	within, cancel := context.WithCancel(ctx)
	s := v.streams(within, from)
	err := v.session(within, s)
	cancel()
	s.CloseStdin()
	var exit *runtime.ExitError
	if err != nil && ctx.Err() != nil && !errors.As(err, &exit) {
		return context.Cause(ctx)
	}
	return err
}
