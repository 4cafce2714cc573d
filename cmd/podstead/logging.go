package main

import (
	"context"
	"io"
	"log/slog"
	"strings"

	"github.com/podstead/podstead/cli"
	"k8s.io/klog/v2"
)

// newLogger writes structured lines: text where a person reads along, else JSON,
// unless the format is given. Durations are written as people read them (58ms) in
// both, and texts that say nothing are left out.
func newLogger(out io.Writer, level slog.Level, format string) *slog.Logger {
	opts := &slog.HandlerOptions{Level: level, ReplaceAttr: readable}
	if format == "text" || format == "" && cli.IsTerminal(out) {
		return slog.New(slog.NewTextHandler(out, opts))
	}
	return slog.New(slog.NewJSONHandler(out, opts))
}

// readable puts a duration into words, which JSON would count in nanoseconds, and
// drops an empty text: an act on a sandbox has no container, for one.
func readable(_ []string, a slog.Attr) slog.Attr {
	switch {
	case a.Value.Kind() == slog.KindDuration:
		return slog.String(a.Key, a.Value.Duration().String())
	case a.Value.Kind() == slog.KindString && a.Value.String() == "" && a.Key != slog.MessageKey:
		return slog.Attr{}
	}
	return a
}

// bridgeKlog sends what Kubernetes' libraries log to our logger. It is the
// process's: call it once, from main.
func bridgeKlog(logger *slog.Logger) {
	klog.SetSlogLogger(slog.New(told{logger.Handler()}).With("from", "klog"))
}

// told makes debug lines of what the streaming library calls unhandled: its client
// has been told, and nobody else need mind that a port refused.
type told struct{ slog.Handler }

// Handle writes the record, as a debug line if it is such.
func (t told) Handle(ctx context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if strings.HasPrefix(a.Value.String(), "error forwarding port ") {
			r.Level = slog.LevelDebug
		}
		return true
	})
	if !t.Handler.Enabled(ctx, r.Level) {
		return nil
	}
	return t.Handler.Handle(ctx, r)
}

// WithAttrs keeps the handler what it is.
func (t told) WithAttrs(attrs []slog.Attr) slog.Handler { return told{t.Handler.WithAttrs(attrs)} }

// WithGroup keeps the handler what it is.
func (t told) WithGroup(name string) slog.Handler { return told{t.Handler.WithGroup(name)} }
