package api

import (
	"context"
	"encoding/json"
	"io"
	"sync"
	"time"

	"k8s.io/cri-streaming/pkg/streaming/remotecommand"

	"github.com/podstead/podstead/runtime"
)

// visit is one client's session. What reads from its connection ends when that is
// closed, which is after the session.
type visit struct {
	session Session
	opts    *remotecommand.Options
	idle    time.Duration
	reading sync.WaitGroup
}

// ends are the streams of a client's connection, by remotecommand's types. Those
// that the client did not ask for are not read or written.
type ends map[string]io.ReadWriteCloser

// streams makes of a client's streams those of a session. What it starts ends with
// ctx or the connection.
func (v *visit) streams(ctx context.Context, from ends) runtime.Streams {
	s := runtime.Streams{TTY: v.opts.TTY}
	if v.opts.Stdin {
		s.Stdin = v.read(from[remotecommand.StreamTypeStdin])
	}
	if v.opts.Stdout {
		s.Stdout = from[remotecommand.StreamTypeStdout]
	}
	if v.opts.Stderr {
		s.Stderr = from[remotecommand.StreamTypeStderr]
	}
	if resize := from[remotecommand.StreamTypeResize]; v.opts.TTY && resize != nil {
		sizes := make(chan runtime.TerminalSize)
		s.Sizes = sizes
		v.reading.Go(func() { readSizes(ctx, resize, sizes) })
	}
	return s
}

// read gives a session what the client sends. The reader can be closed while it
// waits, which a connection's streams cannot.
func (v *visit) read(in io.Reader) io.ReadCloser {
	reader, writer := io.Pipe()
	v.reading.Go(func() {
		_, err := io.Copy(writer, in)
		_ = writer.CloseWithError(err) // always nil
	})
	return reader
}

// readSizes decodes the terminal's sizes until the stream ends, or ctx.
func readSizes(ctx context.Context, from io.Reader, to chan<- runtime.TerminalSize) {
	defer close(to)
	decoder := json.NewDecoder(from)
	for {
		var size remotecommand.TerminalSize
		if decoder.Decode(&size) != nil {
			return
		}
		select {
		case to <- runtime.TerminalSize(size):
		case <-ctx.Done():
			return
		}
	}
}
