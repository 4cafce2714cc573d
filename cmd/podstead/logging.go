package main

import (
	"io"
	"log/slog"
	"os"

	"golang.org/x/term"
	"k8s.io/klog/v2"
)

// newLogger writes structured lines: text where a person reads along, else JSON,
// unless the format is given.
func newLogger(out io.Writer, level slog.Level, format string) *slog.Logger {
	opts := &slog.HandlerOptions{Level: level}
	if format == "text" || format == "" && isTerminal(out) {
		return slog.New(slog.NewTextHandler(out, opts))
	}
	return slog.New(slog.NewJSONHandler(out, opts))
}

// bridgeKlog sends what Kubernetes' libraries log to our logger. It is the
// process's: call it once, from main.
func bridgeKlog(logger *slog.Logger) {
	klog.SetSlogLogger(logger.With("from", "klog"))
}

func isTerminal(out any) bool {
	file, ok := out.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
