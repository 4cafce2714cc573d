package sources

import (
	"fmt"

	"github.com/fsnotify/fsnotify"
)

// folderWatch turns the kernel's events of one folder into hints. Its channels
// are nil, and nothing comes, when the kernel gave us no watch: the owner then
// has to look by itself.
type folderWatch struct {
	kernel *fsnotify.Watcher
	folder string
	id     identity
	active bool
	events <-chan fsnotify.Event
	errors <-chan error
}

// newFolderWatch watches nothing yet. It is usable, as one that gives no hints,
// also when it returns an error.
func newFolderWatch() (*folderWatch, error) {
	kernel, err := fsnotify.NewWatcher()
	if err != nil {
		return &folderWatch{}, fmt.Errorf("set up inotify: %w", err)
	}
	return &folderWatch{kernel: kernel, events: kernel.Events, errors: kernel.Errors}, nil
}

// follow watches the folder, which has this identity now. Called again for the
// same folder it makes sure that the kernel still watches it: an unmount ends a
// watch without a word.
func (w *folderWatch) follow(folder string, id identity) error {
	if w.kernel == nil {
		return nil
	}
	if w.active && (folder != w.folder || id != w.id) {
		w.forget()
	}
	if err := w.kernel.Add(folder); err != nil {
		w.active = false
		return fmt.Errorf("watch %s: %w", folder, err)
	}
	w.folder, w.id, w.active = folder, id, true
	return nil
}

// forget ends the watch, which may be gone already with its folder.
func (w *folderWatch) forget() {
	if w.kernel != nil && w.active {
		_ = w.kernel.Remove(w.folder)
	}
	w.active = false
}

// close ends all; it waits for the goroutine that reads the kernel's events.
func (w *folderWatch) close() {
	if w.kernel != nil {
		_ = w.kernel.Close()
	}
}
