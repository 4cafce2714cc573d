package docker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/podstead/podstead/runtime"
)

// stallLimit is how long a download may stand still, as with cri-dockerd.
// Extraction may: on a slow disk it tells nothing for minutes.
const stallLimit = time.Minute

var errStalled = fmt.Errorf("no progress for %v", stallLimit)

// Pull fetches an image with each of the request's and of the node's credentials
// that fit its name, one after another, or with none, and returns what the engine
// then has. It takes no slot and ends with its context. An error that the engine tells in mid-stream
// is an error. Errors: runtime.ErrInvalidImageName,
// runtime.ErrRegistryUnavailable, runtime.ErrNotFound, runtime.ErrNoSpace,
// runtime.ErrUnavailable; a credentials file that can't be used is named.
func (m *Manager) Pull(ctx context.Context, req runtime.ImageRequest) (runtime.Image, error) {
	name, err := normalize(req.Ref)
	if err != nil {
		return runtime.Image{}, err
	}
	if strings.HasPrefix(name, "sha256:") {
		return runtime.Image{}, fmt.Errorf("%w %q: an id names no registry to pull from", runtime.ErrInvalidImageName, req.Ref)
	}
	auths, authErr := credentials(ctx, name, req.Logins)
	for _, auth := range auths {
		if err = m.pullOnce(ctx, name, auth, req.Progress); err == nil || !credentialsRefused(err) {
			break
		}
	}
	if err != nil {
		return runtime.Image{}, fmt.Errorf("pull image %q: %w", req.Ref, errors.Join(err, authErr))
	}
	if authErr != nil {
		m.log.Warn("pulled an image without some of the credentials that were meant for it", "image", req.Ref, "err", authErr)
	}
	return m.Image(ctx, req.Ref)
}

func (m *Manager) pullOnce(ctx context.Context, name, auth string, tell func(runtime.Progress)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := time.AfterFunc(stallLimit, func() { cancel(errStalled) })
	defer watch.Stop()

	stream, err := m.engine.pullImage(ctx, name, auth)
	if err == nil {
		defer stream.Close()
		layers := layers{}
		err = readMessages(stream, func(msg message) {
			layers.note(msg)
			if layers.mayStandStill() {
				watch.Stop()
			} else if msg.moved() {
				watch.Reset(stallLimit)
			}
			if tell != nil {
				tell(layers.progress(msg.Status))
			}
		})
	}
	if err != nil && errors.Is(context.Cause(ctx), errStalled) {
		return engineError{runtime.ErrRegistryUnavailable, errStalled}
	}
	return pullError(ctx, err)
}

// message is one line of the engine's answer to a pull or a load.
type message struct {
	ID             string `json:"id"`
	Status         string `json:"status"`
	ProgressDetail struct {
		Current int64 `json:"current"`
		Total   int64 `json:"total"`
	} `json:"progressDetail"`
	Error       string `json:"error"`
	ErrorDetail *struct {
		Message string `json:"message"`
	} `json:"errorDetail"`
}

// moved reports whether a message is a sign of life from the registry: a retry
// of a download is none.
func (m message) moved() bool { return !strings.HasPrefix(m.Status, "Retrying") }

func (m message) err() error {
	switch {
	case m.ErrorDetail != nil && m.ErrorDetail.Message != "":
		return errors.New(m.ErrorDetail.Message)
	case m.Error != "":
		return errors.New(m.Error)
	}
	return nil
}

// readMessages reads an answer to its end, or to the error in it.
func readMessages(r io.Reader, each func(message)) error {
	decoder := json.NewDecoder(r)
	for {
		var msg message
		err := decoder.Decode(&msg)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read the engine's answer: %w", err)
		case msg.err() != nil:
			return msg.err()
		}
		each(msg)
	}
}

// drain reads an answer of which only the error matters.
func drain(r io.Reader) error { return readMessages(r, func(message) {}) }

// pullError gives a pull's failure its meaning. The engine answers 500 for
// most of them and quotes the registry.
func pullError(ctx context.Context, err error) error {
	switch {
	case err == nil, errors.Is(err, runtime.ErrUnavailable):
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, io.ErrUnexpectedEOF):
		return engineError{runtime.ErrUnavailable, err}
	}
	text := strings.ToLower(err.Error())
	for _, phrase := range []string{
		"502 bad gateway", "503 service unavailable", "504 gateway timeout",
		"unexpected http status: 502", "unexpected http status: 503", "unexpected http status: 504",
		"connection refused", "connection reset", "no such host", "i/o timeout", "tls handshake timeout",
		"client.timeout exceeded", "network is unreachable", "no route to host", "server misbehaving",
	} {
		if strings.Contains(text, phrase) {
			return engineError{runtime.ErrRegistryUnavailable, err}
		}
	}
	for phrase, kind := range map[string]error{
		"no space left on device": runtime.ErrNoSpace,
		"manifest unknown":        runtime.ErrNotFound,
		"not found":               runtime.ErrNotFound,
	} {
		if strings.Contains(text, phrase) {
			return engineError{kind, err}
		}
	}
	return err
}

// credentialsRefused reports whether other credentials might do better. Some
// registries say "not found" for what they don't want to show.
func credentialsRefused(err error) bool {
	text := strings.ToLower(err.Error())
	for _, phrase := range []string{"unauthorized", "denied", "authentication required", "forbidden", "no basic auth", "not found"} {
		if strings.Contains(text, phrase) {
			return true
		}
	}
	return false
}
