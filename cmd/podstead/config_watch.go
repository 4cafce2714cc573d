package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// How a change of the configuration file is found and believed.
const (
	configSettle = 200 * time.Millisecond // without a change: whoever writes it is done
	configDoubt  = time.Second            // for a version that cannot be read, before it is told
	configPoll   = 30 * time.Second       // for what the kernel does not tell
)

// configWatch waits for reasons to read the configuration again.
type configWatch struct {
	path   string           // of the configuration file; "" for none
	asked  <-chan os.Signal // each asks for it at once
	reread func(ctx context.Context) error
	refuse func(err error) // told of a version that stays as it is
	log    *slog.Logger

	seen    string // version that was read last, well or badly
	doubted string // version that could not be read, and is given a moment
}

// Run calls reread whenever the file has another content, or when asked to,
// until ctx ends. A version that reread does not accept is read once more a
// moment later, since editors leave half states, and then refused.
func (w *configWatch) Run(ctx context.Context) error {
	folder := watchFolder(w.path)
	defer folder.close()
	w.seen = w.version()
	settle := time.NewTimer(configSettle)
	settle.Stop()
	defer settle.Stop()
	poll := time.NewTicker(configPoll)
	defer poll.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-w.asked:
			w.log.Info("reading the configuration again", "reason", "SIGHUP")
			w.seen, w.doubted = w.version(), ""
			if err := w.reread(ctx); err != nil {
				w.refuse(err)
			}
		case <-folder.events:
			settle.Reset(configSettle)
		case <-folder.errors: // events may be lost
			settle.Reset(configSettle)
		case <-poll.C:
			folder.again()
			if w.version() != w.seen {
				settle.Reset(configSettle)
			}
		case <-settle.C:
			if w.settled(ctx) {
				settle.Reset(configDoubt)
			}
		}
	}
}

// settled reads a version that is new, and reports whether it is to be looked at
// once more.
func (w *configWatch) settled(ctx context.Context) (doubtful bool) {
	version := w.version()
	if version == w.seen {
		return false
	}
	err := w.reread(ctx)
	if err != nil && w.doubted != version {
		w.doubted = version
		return true
	}
	w.seen, w.doubted = version, ""
	if err != nil {
		w.refuse(err)
	}
	return false
}

// version tells one content of the file from another.
func (w *configWatch) version() string {
	if w.path == "" {
		return ""
	}
	file, err := os.Open(w.path)
	if err != nil {
		return err.Error()
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, io.LimitReader(file, maxConfigFile+1)); err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%x", sum.Sum(nil))
}

// hints are the kernel's events of the folder that holds a file: careful editors
// replace the file itself. Where the kernel cannot watch there are none, and
// polling alone finds changes.
type hints struct {
	kernel *fsnotify.Watcher
	folder string
	events <-chan fsnotify.Event
	errors <-chan error
}

func watchFolder(path string) hints {
	if path == "" {
		return hints{}
	}
	kernel, err := fsnotify.NewWatcher()
	if err != nil {
		return hints{}
	}
	h := hints{kernel: kernel, folder: filepath.Dir(path), events: kernel.Events, errors: kernel.Errors}
	h.again()
	return h
}

// again makes sure of the watch: the folder may have come, or been exchanged.
func (h hints) again() {
	if h.kernel != nil {
		_ = h.kernel.Add(h.folder) // one that is not there yet is polled for
	}
}

func (h hints) close() {
	if h.kernel != nil {
		_ = h.kernel.Close()
	}
}
