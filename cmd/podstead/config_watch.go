package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/podstead/podstead/config"
	"github.com/podstead/podstead/sources"
)

// How a change of the configuration file is found and believed.
const (
	configSettle = 200 * time.Millisecond // without a change: whoever writes it is done
	configUnsure = 2 * time.Second        // the same, where the kernel cannot tell of writers
	configDoubt  = time.Second            // for a version that cannot be read, before it is told
	configShrink = 5 * time.Second        // for a version with less in it than what is in force
	configStuck  = time.Second            // for a writer, before it is told
	configPoll   = 30 * time.Second       // for what the kernel does not tell
)

// errShrinks is a version that gives sources up, or is shorter than what is in
// force: it may be the beginning of a longer one.
var errShrinks = errors.New("has less in it than what is in force")

// configVersion is the configuration file as it was read once.
type configVersion struct {
	data []byte
	sure bool  // the kernel vouches that nobody was writing
	err  error // why it could not be read
}

// readConfigVersion reads the file if nobody writes it. There may be none: "".
func readConfigVersion(path string) configVersion {
	if path == "" {
		return configVersion{sure: true}
	}
	data, sure, err := sources.ReadWhole(path, config.MaxFile)
	return configVersion{data, sure, err}
}

// id tells one version from another.
func (v configVersion) id() string {
	if v.err != nil {
		return v.err.Error()
	}
	return fmt.Sprintf("%x", sha256.Sum256(v.data))
}

// patience is how long the file must have stood as it is.
func (v configVersion) patience() time.Duration {
	if v.err == nil && !v.sure {
		return configUnsure
	}
	return configSettle
}

// configWatch waits for reasons to read the configuration again.
type configWatch struct {
	path  string           // of the configuration file; "" for none
	asked <-chan os.Signal // each asks for it at once
	read  func() configVersion
	// reread puts a version in force. Unless it is sure that the version is meant,
	// one that has less in it than what is in force is errShrinks.
	reread func(ctx context.Context, v configVersion, sure bool) error
	refuse func(err error) // told of a version that stays as it is
	log    *slog.Logger

	seen   string    // version that was judged last, well or badly
	fresh  string    // version that is not judged yet
	since  time.Time // and since when the file has been so
	busy   time.Time // since when it is being written
	urgent bool      // somebody has asked: no patience is needed
}

// Run calls reread whenever the file has another content, or when asked to,
// until ctx ends. A file that somebody has open for writing is waited for, a
// version that reread does not accept is given a moment, since editors leave
// half states, and then refused.
func (w *configWatch) Run(ctx context.Context) error {
	folder := watchFolder(w.path)
	defer folder.close()
	w.seen = w.read().id()
	look, due := time.NewTimer(configPoll), time.Now().Add(configPoll)
	defer look.Stop()
	arm := func(d time.Duration) { due = time.Now().Add(d); look.Reset(d) }
	soon := func() {
		if time.Until(due) > configSettle {
			arm(configSettle)
		}
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-w.asked:
			w.log.Info("reading the configuration again", "reason", "SIGHUP")
			w.urgent = true
			arm(w.look(ctx, time.Now()))
		case <-folder.events:
			soon()
		case <-folder.errors: // events may be lost
			soon()
		case <-look.C:
			folder.again()
			arm(w.look(ctx, time.Now()))
		}
	}
}

// look reads the file, judges a version that is new and has stood for long
// enough, and returns when to look again.
func (w *configWatch) look(ctx context.Context, now time.Time) (again time.Duration) {
	v := w.read()
	if errors.Is(v.err, sources.ErrBeingWritten) {
		return w.waitForWriter(v.err, now)
	}
	w.busy = time.Time{}
	id := v.id()
	switch {
	case id == w.seen && !w.urgent:
		w.fresh = ""
		return configPoll
	case id != w.fresh:
		w.fresh, w.since = id, now
	}
	stood := now.Sub(w.since)
	if wait := v.patience() - stood; wait > 0 && !w.urgent {
		return wait
	}
	err := w.reread(ctx, v, w.urgent || stood >= configShrink)
	switch {
	case errors.Is(err, errShrinks):
		return configShrink - stood
	case err != nil && !w.urgent && stood < configDoubt:
		return configDoubt - stood
	case err != nil:
		w.refuse(err)
	}
	w.seen, w.fresh, w.urgent = id, "", false
	return configPoll
}

// waitForWriter tells of one that takes long; what it leaves is judged anew.
func (w *configWatch) waitForWriter(err error, now time.Time) (again time.Duration) {
	w.fresh = ""
	if w.busy.IsZero() {
		w.busy = now
	}
	if now.Sub(w.busy) < configStuck {
		return configSettle
	}
	w.seen = ""
	w.refuse(err)
	return configStuck
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
