package sources

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/podstead/podstead/manifests"
)

// DefaultRescan is how often a file source reads everything, whatever the
// kernel told it: the kubelet's fileCheckFrequency.
const DefaultRescan = 20 * time.Second

// FileConfig is what a file source needs.
type FileConfig struct {
	// Name is unique among the sources.
	Name string
	// Path is a folder of manifests, or one manifest. It need not exist yet.
	Path string
	Node manifests.Node
	// Rescan is how often everything is read; 0 for DefaultRescan.
	Rescan time.Duration
	// Dir keeps the last good set: root-dir/sources/<name>. "" keeps none.
	Dir string
	// Limits bound one file; zero for manifests.DefaultLimits.
	Limits manifests.Limits
	// UnsupportedKinds is UnsupportedWarn when empty.
	UnsupportedKinds UnsupportedKinds
	// Warn makes unknown fields warnings instead of faults.
	Warn bool
	// Policy is what pods may ask for; "" for PolicyPrivileged.
	Policy Policy
	// NodePaths are those that no pod may mount; nil for none.
	NodePaths *NodePaths
	Logger    *slog.Logger

	writers func(*os.File) written       // replaced in tests
	watch   func() (*folderWatch, error) // replaced in tests
	asks    chan syncAsk
}

// File is a Source that reads a folder of manifests, or one manifest file, and
// follows every change of it.
//
// The file is what fails as a whole: one that can't be read, that is being
// written or in which anything is wrong keeps its last good version. A folder
// that is gone, that can't be read, or that is empty and not the one it was,
// keeps everything. Only a file that is removed removes its pods.
type File struct {
	cfg FileConfig
}

// NewFile returns a file source that does nothing until Run. An error lists all
// that is wrong with the configuration.
func NewFile(cfg FileConfig) (*File, error) {
	var errs []error
	if cfg.Name == "" {
		errs = append(errs, errors.New("a name is needed"))
	}
	if cfg.Path == "" {
		errs = append(errs, errors.New("a path is needed"))
	}
	if cfg.Rescan < 0 {
		errs = append(errs, fmt.Errorf("rescan %v is negative", cfg.Rescan))
	}
	errs = append(errs, cfg.UnsupportedKinds.check(), cfg.Policy.check())
	cfg.UnsupportedKinds = cmp.Or(cfg.UnsupportedKinds, UnsupportedWarn)
	path, err := filepath.Abs(cfg.Path)
	if errs = append(errs, err); errors.Join(errs...) != nil {
		return nil, fmt.Errorf("configure file source %s: %w", cfg.Name, errors.Join(errs...))
	}
	cfg.Path = path
	if cfg.Rescan == 0 {
		cfg.Rescan = DefaultRescan
	}
	if cfg.Limits == (manifests.Limits{}) {
		cfg.Limits = manifests.DefaultLimits()
	}
	if cfg.writers == nil {
		cfg.writers = writers
	}
	if cfg.watch == nil {
		cfg.watch = newFolderWatch
	}
	cfg.Logger = cfg.Logger.With("source", cfg.Name)
	cfg.asks = make(chan syncAsk)
	return &File{cfg: cfg}, nil
}

// Name implements Source.
func (f *File) Name() string { return f.cfg.Name }

// Kind implements Source.
func (f *File) Kind() Kind { return KindFile }

// Sync implements Source: every file is read again. A file that is being written
// is waited for until it is shown as a fault. Nothing of a folder is ever held,
// so there is no removal to allow.
func (f *File) Sync(ctx context.Context, req SyncRequest) error {
	return askSync(ctx, f.cfg.asks, req)
}

// Recall implements Source.
func (f *File) Recall() Snapshot {
	var stored goodSet
	var errs []error
	if f.cfg.Dir != "" {
		stored, errs = newGoodStore(f.cfg.Dir).load()
	}
	c := newCatalog(f.cfg.reader(), f.cfg.Path, defaultSetLimits(), stored)
	c.lost = lossOf(errs)
	c.recall()
	return c.snapshot(time.Now())
}

// Run implements Source. It owns the kernel's watch and the goroutine that
// writes last good sets, and ends both before it returns; a save under way gets
// half a second to end.
func (f *File) Run(ctx context.Context, out chan<- Snapshot) error {
	loop := newFileLoop(f.cfg)
	defer loop.close()
	return loop.run(ctx, out)
}

func (cfg FileConfig) reader() unitReader {
	return unitReader{
		source: cfg.Name, kind: KindFile, node: cfg.Node, limits: cfg.Limits,
		unsupported: cfg.UnsupportedKinds, warn: cfg.Warn, policy: cfg.Policy, paths: cfg.NodePaths,
	}
}
