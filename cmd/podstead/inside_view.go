package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/podstead/podstead/agent"
	"github.com/podstead/podstead/agent/api"
)

// asked turns an error that the asker can mend into the local API's.
func asked(err error) error {
	if errors.Is(err, agent.ErrBadRequest) {
		return fmt.Errorf("%w: %w", api.ErrBadRequest, err)
	}
	return err
}

func (n *node) portForward(_ context.Context, namespace, pod string) (api.PortDialer, error) {
	dial, err := n.agent.PortForward(namespace, pod)
	return api.PortDialer(dial), asked(err)
}

func (n *node) filePlace(ctx context.Context, req api.FileRequest) (api.FilePlace, error) {
	place, err := n.agent.FilePlace(ctx, agent.FileRequest(req))
	view := api.FilePlace{Path: place.Path, UID: place.UID, GID: place.GID}
	if place.File != nil {
		file := api.File(*place.File)
		view.File = &file
	}
	return view, asked(err)
}

func (n *node) readFiles(ctx context.Context, req api.FileRequest, out io.Writer) error {
	return asked(n.agent.ReadFiles(ctx, agent.FileRequest(req), out))
}

func (n *node) writeFiles(ctx context.Context, req api.FileRequest, archive io.Reader) error {
	return asked(n.agent.WriteFiles(ctx, agent.FileRequest(req), archive))
}
