package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
)

func (r FileRequest) path(what string) string {
	return "/podstead/v1/containers/" + url.PathEscape(r.Namespace) + "/" + url.PathEscape(r.Pod) + "/" + url.PathEscape(r.Container) + "/" + what
}

func (r FileRequest) query() url.Values { return url.Values{"path": {r.Path}} }

// FilePlace looks at a path in a container.
func (c *Client) FilePlace(ctx context.Context, req FileRequest) (FilePlace, error) {
	var place FilePlace
	err := c.get(ctx, req.path("file"), req.query(), &place)
	return place, err
}

// ReadFiles gives each a tar of what is at a path, named after the last part of
// the path. Each must not dawdle, and need not read to the end. The
// agent's error is known only when all has been read, and comes before its own.
func (c *Client) ReadFiles(ctx context.Context, req FileRequest, each func(archive io.Reader) error) error {
	body, trailer, err := c.open(ctx, http.MethodGet, req.path("archive"), req.query())
	if err != nil {
		return err
	}
	defer body.Close()
	err = each(body)
	rest := io.Reader(body)
	if err != nil {
		rest = io.LimitReader(body, maxRest)
	}
	if _, restErr := io.Copy(io.Discard, rest); err == nil && restErr != nil {
		err = fmt.Errorf("read files: %w", restErr)
	}
	if text, unquoteErr := strconv.Unquote(trailer.Get(errorTrailer)); unquoteErr == nil {
		return errors.New(text) // what was read is cut short by it
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the agent has broken off: it has ended, or its answer was not taken for %s; if that is so, copy to a file", fileStall)
	}
	return err
}

// maxRest is how far an archive that cannot be used is read on, for the agent's
// own error at its end.
const maxRest = 64 << 10

// WriteFiles unpacks the tar that fill writes in a directory of a container. Fill
// runs in a goroutine of its own, which has ended when WriteFiles returns; when the
// agent refuses, what fill writes fails.
func (c *Client) WriteFiles(ctx context.Context, req FileRequest, fill func(archive io.Writer) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	archive, in := io.Pipe()
	filled := make(chan error, 1)
	go func() {
		err := fill(in)
		_ = in.CloseWithError(err) // nil is the end
		filled <- err
	}()
	err := c.send(ctx, req, archive)
	_ = archive.CloseWithError(errNotTaken)
	fillErr := <-filled
	notTaken := errors.Is(fillErr, errNotTaken) || errors.Is(fillErr, io.ErrClosedPipe) // the HTTP client closes it too
	if fillErr != nil && !notTaken {
		return fillErr // the agent's error is that the archive broke off
	}
	return err
}

// errNotTaken is what fill meets when nobody reads any more.
var errNotTaken = errors.New("the agent takes no more")

func (c *Client) send(ctx context.Context, req FileRequest, archive io.Reader) error {
	body, _, err := c.openWith(ctx, http.MethodPut, req.path("archive"), req.query(), archive)
	if err != nil {
		return err
	}
	return body.Close()
}
