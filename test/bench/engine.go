package main

import (
	"context"
	"io"
	"net/http"
	"strings"

	"github.com/podstead/podstead/test/rig"
)

// remove is content with a container that is gone already.
func remove(ctx context.Context, e *rig.Engine, id string) error {
	err := e.Remove(ctx, id)
	if err != nil && (strings.Contains(err.Error(), "404 Not Found") || strings.Contains(err.Error(), "is already in progress")) {
		return nil
	}
	return err
}

// copyImage hands an image of one engine to another one.
func copyImage(ctx context.Context, from, to *rig.Engine, ref string) error {
	tar, err := from.Open(ctx, http.MethodGet, "/images/"+ref+"/get", nil)
	if err != nil {
		return err
	}
	defer tar.Close()
	said, err := to.Open(ctx, http.MethodPost, "/images/load?quiet=1", tar)
	if err != nil {
		return err
	}
	defer said.Close()
	_, err = io.Copy(io.Discard, said)
	return err
}

// network is one line of the engine's networks.
type network struct{ ID, Name string }

func networks(ctx context.Context, e *rig.Engine) ([]network, error) {
	var list []network
	err := e.Call(ctx, http.MethodGet, "/networks", nil, &list)
	return list, err
}
