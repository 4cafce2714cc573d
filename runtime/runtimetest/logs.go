package runtimetest

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/podstead/podstead/runtime"
)

// line is one line of a container's log.
type line struct {
	at     time.Time
	text   string
	stderr bool
}

// Print adds a line to a container's stdout.
func (f *Fake) Print(id, text string) { f.print(id, line{text: text}) }

// PrintError adds a line to a container's stderr.
func (f *Fake) PrintError(id, text string) { f.print(id, line{text: text, stderr: true}) }

func (f *Fake) print(id string, l line) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if o := f.objects[id]; o != nil {
		l.at = f.clock()
		o.lines = append(o.lines, l)
		o.notify()
	}
}

// Logs writes a container's log; with Follow until it ends.
func (f *Fake) Logs(ctx context.Context, id string, opts runtime.LogOptions, stdout, stderr io.Writer) error {
	o, err := call(ctx, f, Call{Verb: "Logs", ID: id}, func() (*object, error) {
		if o := f.objects[id]; o != nil {
			return o, nil
		}
		return nil, runtime.ErrNotFound
	})
	if err != nil {
		return err
	}
	w := &logWriter{opts: opts, stdout: stdout, stderr: stderr}
	for first, seen := true, 0; ; first = false {
		lines, changed, over := f.logFrom(o, seen)
		seen += len(lines)
		if first {
			lines = tail(lines, opts)
		}
		full, err := w.write(lines)
		if err != nil || full || !opts.Follow || over {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (f *Fake) logFrom(o *object, n int) ([]line, <-chan struct{}, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return o.lines[n:len(o.lines):len(o.lines)], o.changed, o.state == runtime.StateExited || f.objects[o.id] == nil
}

// tail keeps the newest lines asked for.
func tail(lines []line, opts runtime.LogOptions) []line {
	if opts.Tail != nil && int64(len(lines)) > *opts.Tail {
		return lines[int64(len(lines))-*opts.Tail:]
	}
	return lines
}

type logWriter struct {
	opts           runtime.LogOptions
	stdout, stderr io.Writer
	written        int64
}

// write reports whether the limit is reached.
func (w *logWriter) write(lines []line) (full bool, err error) {
	for _, l := range lines {
		if w.opts.Since != nil && l.at.Before(*w.opts.Since) {
			continue
		}
		text := l.text + "\n"
		if w.opts.Timestamps {
			text = l.at.UTC().Format(time.RFC3339Nano) + " " + text
		}
		if limit := w.opts.LimitBytes; limit != nil {
			text = text[:min(int64(len(text)), *limit-w.written)]
		}
		out := w.stdout
		if l.stderr {
			out = w.stderr
		}
		if _, err := io.WriteString(out, text); err != nil {
			return false, fmt.Errorf("write log: %w", err)
		}
		w.written += int64(len(text))
		if w.opts.LimitBytes != nil && w.written >= *w.opts.LimitBytes {
			return true, nil
		}
	}
	return false, nil
}
